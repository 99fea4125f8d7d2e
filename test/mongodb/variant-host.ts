// A node to be killed over an image: takes the job of the image that it stores, and never comes to its bytes.
import { join } from "node:path";
import { Readable } from "node:stream";
import sharp from "sharp";
import { createDiskBlobs } from "../../lib/blobs/disk.js";
import { createRecordsService } from "../../lib/index.js";
import { cheapHasher, storageOf } from "../support/service.js";

const folder = process.argv[2]!;
const quiet = (): void => undefined;
const service = createRecordsService({
  ...storageOf(folder), hasher: cheapHasher, logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  files: {
    ...createDiskBlobs({ folder: join(folder, "files") }),
    readWhole() {
      process.stdout.write(`${id}\n`);
      return new Promise(() => undefined);
    },
  },
});
await service.ready();
const acme = service.tenant("acme").as("system");
const { id } = await acme.collection("docs").create({});
const image = await sharp({ create: { width: 200, height: 100, channels: 3, background: "#446688" } }).jpeg().toBuffer();
await acme.files.upload("docs", id, "photo", { name: "photo.jpg", stream: Readable.from([image]) });
setInterval(quiet, 1000);
