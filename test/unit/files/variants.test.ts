// Image variants, made by the real image process.
import { expect } from "chai";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import type { BlobStore } from "../../../lib/blobs/blobs.js";
import { ImageProcessDied, ImageUnreadable, createImageProcess, type ImageProcess } from "../../../lib/files/image-process.js";
import { always } from "../../../lib/storage/filter.js";
import { fileField, photo, recordId, startScene, type Scene } from "./scene.js";

const field = fileField({ name: "photo", maxSize: 4_194_304, widths: [50, 100, 300] });
const manyField = fileField({ name: "photos", multiple: true, maxFiles: 50, widths: [50, 100, 300] });

/** A PNG of one colour, told to be so large, of hardly any bytes. */
function pngBomb(width: number, height: number): Buffer {
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header), chunk("IDAT", deflateSync(Buffer.alloc(height * (1 + Math.ceil(width / 8))))), chunk("IEND", Buffer.alloc(0)),
  ]);
}

function crc32(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

async function animation(): Promise<Buffer> {
  const frames = await Promise.all(["red", "green", "blue"].map((background) => sharp({ create: { width: 200, height: 100, channels: 3, background } }).png().toBuffer()));
  return sharp(frames, { join: { animated: true } }).gif({ delay: [100, 100, 100] }).toBuffer();
}

/** The process's handles keep no test alive, so something else must. */
async function awake<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 100);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  return awake(work.then(() => { throw new Error("it should have failed"); }, (error: unknown) => error as Error));
}

describe("the image process", () => {
  let images: ImageProcess;
  before(() => { images = createImageProcess(); });
  after(() => awake(images.close()));
  const scale = (image: Buffer, ...widths: number[]) => awake(images.scale(image, widths));

  for (const format of ["jpeg", "png", "gif"] as const) {
    it(`makes a smaller ${format} of each width, and never a larger one`, async () => {
      const variants = await scale(await photo(400, 200)[format]().toBuffer(), 50, 300, 399, 400, 1000);
      expect(variants.map((one) => one.width).sort((a, b) => a - b)).to.deep.equal([50, 300, 399]);
      for (const { width, bytes } of variants) {
        const found = await sharp(bytes).metadata();
        expect([found.format, found.width, found.height]).to.deep.equal([format, width, Math.round(width / 2)]);
      }
    });
  }

  it("applies the EXIF orientation", async () => {
    for (const orientation of [1, 3, 6, 8]) {
      const image = await sharp({ create: { width: 400, height: 200, channels: 3, background: "white" } })
        .composite([{ input: await sharp({ create: { width: 100, height: 100, channels: 3, background: "red" } }).png().toBuffer(), left: 0, top: 0 }])
        .withMetadata({ orientation }).jpeg().toBuffer();
      const [variant] = await scale(image, 100);
      const { data, info } = await sharp(variant!.bytes).raw().toBuffer({ resolveWithObject: true });
      expect(info.width).to.equal(100);
      expect(info.height).to.equal(orientation >= 5 ? 200 : 50);
      // The red corner is where the camera says that it is.
      const [x, y] = ({ 1: [4, 4], 3: [95, info.height - 5], 6: [95, 4], 8: [4, info.height - 5] } as Record<number, [number, number]>)[orientation]!;
      const at = (y * info.width + x) * info.channels;
      expect(data[at]).to.be.greaterThan(200);
      expect(data[at + 1]).to.be.lessThan(80);
    }
  });

  it("drops metadata", async () => {
    const image = await photo(200, 100).withExif({ IFD0: { Copyright: "secret-place" } }).withIccProfile("p3").jpeg().toBuffer();
    expect(image.includes("secret-place")).to.equal(true);
    const [variant] = await scale(image, 100);
    expect(variant!.bytes.includes("secret-place")).to.equal(false);
    const found = await sharp(variant!.bytes).metadata();
    expect([found.exif, found.icc, found.xmp, found.iptc]).to.deep.equal([undefined, undefined, undefined, undefined]);
  });

  it("keeps an animated GIF animated", async () => {
    const [variant] = await scale(await animation(), 100);
    const found = await sharp(variant!.bytes, { animated: true }).metadata();
    expect([found.pages, found.width, found.pageHeight]).to.deep.equal([3, 100, 50]);
  });

  it("scales transparent, grey, 16-bit and CMYK images", async () => {
    const inputs = [
      await photo(200, 100).ensureAlpha(0.5).png().toBuffer(),
      await photo(200, 100).greyscale().jpeg().toBuffer(),
      await photo(200, 100).toColourspace("rgb16").png().toBuffer(),
      await photo(200, 100).png({ palette: true }).toBuffer(),
      await photo(200, 100).toColourspace("cmyk").jpeg().toBuffer(),
      await photo(200, 100).jpeg({ progressive: true }).toBuffer(),
      await photo(200, 100).png({ progressive: true }).toBuffer(),
    ];
    for (const [index, input] of inputs.entries()) {
      const variants = await scale(input, 100, 50);
      expect(variants.map((one) => one.width), `input ${index}`).to.deep.equal([100, 50]);
      expect((await sharp(variants[0]!.bytes).metadata()).hasAlpha).to.equal(index === 0);
    }
  });

  const unreadable: readonly [what: string, make: () => Promise<Buffer> | Buffer][] = [
    ["text", () => Buffer.from("no image")],
    ["nothing", () => Buffer.alloc(0)],
    ["SVG", () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="500" height="500"/>')],
    ["WebP", () => photo(200, 100).webp().toBuffer()],
    ["TIFF", () => photo(200, 100).tiff().toBuffer()],
    ["half a JPEG", async () => (await photo(600, 600).jpeg().toBuffer()).subarray(0, 20_000)],
    ["half a PNG", async () => (await photo(300, 300).png().toBuffer()).subarray(0, 20_000)],
    ["half a GIF", async () => (await photo(300, 300).gif().toBuffer()).subarray(0, 10_000)],
    ["a PNG with a wrong byte", async () => { const image = await photo(300, 300).png().toBuffer(); image[5000] = image[5000]! ^ 0xff; return image; }],
    ["a polyglot", () => Buffer.from("GIF89a/*<script>alert(1)</script>")],
    ["a PNG of 256 megapixels in few bytes", () => pngBomb(16_000, 16_000)],
  ];
  for (const [what, make] of unreadable) {
    it(`refuses ${what}, and lives`, async () => {
      const image = await make();
      const before = images.pid();
      expect(await failureOf(images.scale(image, [50]))).to.be.instanceOf(ImageUnreadable);
      if (before !== undefined) expect(images.pid()).to.equal(before);
      expect(await scale(await photo(100, 100).jpeg().toBuffer(), 50)).to.have.length(1);
    });
  }

  it("a hundred damaged images in a row do no harm", async () => {
    const image = await photo(200, 200).jpeg().toBuffer();
    for (let round = 0; round < 100; round += 1) {
      const damaged = Buffer.from(image);
      for (let index = 0; index < 10; index += 1) damaged[(round * 7919 + index * 104_729) % damaged.length] = (round * 31 + index) & 0xff;
      await awake(images.scale(damaged, [50]).catch((error: unknown) => expect(error).to.be.instanceOf(ImageUnreadable)));
    }
    expect(await scale(image, 50)).to.have.length(1);
  });

  it("is started anew where it was killed over an image", async () => {
    const image = await photo(3000, 3000).jpeg().toBuffer();
    await scale(await photo(100, 100).jpeg().toBuffer(), 50);
    const before = images.pid()!;
    const work = images.scale(image, [2000]);
    setImmediate(() => process.kill(before, "SIGKILL"));
    expect(await failureOf(work)).to.be.instanceOf(ImageProcessDied);
    expect(await scale(image, 50)).to.have.length(1);
    expect(images.pid()).not.to.equal(before);
  });

  it("is ended where an image takes too long, and the next one is done", async () => {
    const impatient = createImageProcess({ timeout: 400 });
    const slow = await photo(6000, 6000).png({ compressionLevel: 0 }).toBuffer();
    expect(await failureOf(impatient.scale(slow, [4000, 3000, 2000]))).to.be.instanceOf(ImageProcessDied);
    await awake(impatient.close());
  });

  it("ends itself where it needs more memory than it may", async () => {
    const small = createImageProcess({ maxMemory: 1_000_000 });
    expect((await failureOf(small.scale(await photo(2000, 2000).png().toBuffer(), [1000]))).message).to.match(/status 3/);
    await awake(small.close());
  });

  it("ends when it has been idle, and comes back", async () => {
    const shy = createImageProcess({ idle: 1 });
    const image = await photo(100, 100).jpeg().toBuffer();
    await awake(shy.scale(image, [50]));
    await awake((async () => { while (shy.pid() !== undefined) await new Promise((resolve) => setImmediate(resolve)); })());
    expect(await awake(shy.scale(image, [50]))).to.have.length(1);
    await awake(shy.close());
    expect(await failureOf(shy.scale(image, [50]))).to.be.instanceOf(ImageProcessDied);
  });

  it("does one image at a time, in order", async () => {
    const image = await photo(500, 500).jpeg().toBuffer();
    const order: number[] = [];
    await awake(Promise.all([0, 1, 2, 3].map((index) => images.scale(image, [400]).then(() => order.push(index)))));
    expect(order).to.deep.equal([0, 1, 2, 3]);
  });
});

describe("variants in the background", () => {
  let scene: Scene;
  afterEach(() => scene.close());
  const jobs = async () => scene.context.store.table("image_jobs").list({ filter: always, limit: 100 });
  const widthsOf = async (): Promise<string[]> => (await scene.keys()).map((key) => /\.w(\d+)$/.exec(key)?.[1]).filter((one) => one !== undefined).sort();

  it("one downscaled copy per width, and the job is done with", async () => {
    scene = await startScene([field]);
    await scene.create(await scene.receive("photo", await photo(600, 300).jpeg().toBuffer()));
    await scene.files.idle();
    expect(await widthsOf()).to.deep.equal(["100", "300", "50"]);
    expect(await jobs()).to.deep.equal([]);
  });

  it("a service that starts goes on where another one stopped", async () => {
    scene = await startScene([manyField]);
    const pending = [];
    for (let index = 0; index < 5; index += 1) pending.push(await scene.receive("photos", await photo(200, 100).jpeg().toBuffer()));
    await scene.files.close();
    await scene.create(...pending);
    expect(await jobs()).to.have.length(5);
    const next = scene.another();
    next.start();
    await next.idle();
    expect(await jobs()).to.deep.equal([]);
    expect(await widthsOf()).to.have.length(10);
  });

  it("a job that another process took and died over is taken again when its lease has ended", async () => {
    scene = await startScene([field]);
    const pending = await scene.receive("photo", await photo(200, 100).jpeg().toBuffer());
    await scene.files.close();
    await scene.create(pending);
    const [row] = await jobs();
    await scene.context.store.write({ operations: [{ type: "update", table: "image_jobs", id: row!.id, set: { attempts: 1, dueAt: new Date(Date.now() + 100_000).toISOString() } }] });
    const early = scene.another();
    early.start();
    await early.idle();
    expect(await jobs()).to.have.length(1);
    scene.wait(200_000);
    const late = scene.another();
    late.start();
    await late.idle();
    expect(await jobs()).to.deep.equal([]);
    expect(await widthsOf()).to.have.length(2);
  });

  it("a service that lives takes a job over by itself when the lease of a dead one has ended", async () => {
    scene = await startScene([field]);
    const pending = await scene.receive("photo", await photo(200, 100).jpeg().toBuffer());
    await scene.files.close();
    await scene.create(pending);
    const [row] = await jobs();
    await scene.context.store.write({ operations: [{ type: "update", table: "image_jobs", id: row!.id, set: { attempts: 1, dueAt: new Date(scene.clock.now() + 2000).toISOString() } }] });
    const living = scene.another();
    living.start();
    await awake((async () => { while ((await jobs()).length > 0) await new Promise((resolve) => setImmediate(resolve)); })());
    expect(await widthsOf()).to.have.length(2);
  });

  it("two services on one store make each variant once", async () => {
    const written: string[] = [];
    scene = await startScene([manyField], { blobs: (disk): BlobStore => ({ ...disk, write: (key, content) => { written.push(key); return disk.write(key, content); } }) });
    const other = scene.another();
    const pending = [];
    for (let index = 0; index < 8; index += 1) pending.push(await scene.receive("photos", await photo(120, 100).jpeg().toBuffer()));
    await scene.create(...pending);
    other.committed(scene.context, scene.collection, recordId, []);
    await Promise.all([scene.files.idle(), other.idle()]);
    expect(await widthsOf()).to.have.length(16);
    expect(new Set(written).size).to.equal(written.length);
  });

  it("the process dies over an image once: the image is tried again", async () => {
    scene = await startScene([field]);
    const image = await photo(3000, 2000).jpeg().toBuffer();
    await scene.create(await scene.receive("photo", image));
    await awake((async () => { while (scene.files.imageProcessId() === undefined) await new Promise((resolve) => setImmediate(resolve)); })());
    process.kill(scene.files.imageProcessId()!, "SIGKILL");
    await scene.files.idle();
    expect(await widthsOf()).to.deep.equal(["100", "300", "50"]);
    expect(scene.log.filter((entry) => entry.level === "warn")).to.have.length(1);
  });

  it("an image that kills the process twice is left as it is, and the next one is done", async () => {
    scene = await startScene([manyField], { images: { maxMemory: 200_000_000 } });
    const bomb = await sharp({ create: { width: 7000, height: 7000, channels: 4, background: "red" } }).png({ progressive: true }).toBuffer();
    await scene.create(await scene.receive("photos", bomb), await scene.receive("photos", await photo(200, 100).jpeg().toBuffer()));
    await scene.files.idle();
    expect(await jobs()).to.deep.equal([]);
    expect(await widthsOf()).to.deep.equal(["100", "50"]);
    expect(scene.log.filter((entry) => entry.level === "warn")).to.have.length(2);
  });

  it("a damaged image keeps its original", async () => {
    scene = await startScene([field]);
    const whole = await photo(800, 600).jpeg().toBuffer();
    await scene.create(await scene.receive("photo", whole.subarray(0, whole.length / 2)));
    await scene.files.idle();
    expect(await widthsOf()).to.deep.equal([]);
    expect(await scene.keys()).to.have.length(1);
    expect(await jobs()).to.deep.equal([]);
  });

  it("a file that is removed while its variants are made leaves none of them", async () => {
    scene = await startScene([field]);
    const row = await scene.create(await scene.receive("photo", await photo(2000, 1000).jpeg().toBuffer()));
    const removed = [row.record["photo"] as never];
    await scene.context.store.write({ operations: [{ type: "update", table: scene.collection.table, id: row.id, set: { photo: null } }] });
    scene.files.committed(scene.context, scene.collection, row.id, removed);
    await scene.files.idle();
    expect(await scene.keys()).to.deep.equal([]);
    expect(await jobs()).to.deep.equal([]);
  });

  it("where a variant cannot be written the job is tried again and given up, and the original stays", async () => {
    const refused: string[] = [];
    scene = await startScene([field], {
      blobs: (disk): BlobStore => ({
        ...disk,
        write: (key, content) => (key.includes(".w") ? (refused.push(key), content.destroy(), Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" }))) : disk.write(key, content)),
      }),
    });
    await scene.create(await scene.receive("photo", await photo(200, 100).jpeg().toBuffer()));
    await scene.files.idle();
    expect(refused.length).to.equal(2 * new Set(refused).size).and.greaterThan(0);
    expect(await scene.keys()).to.have.length(1);
    expect(await jobs()).to.deep.equal([]);
  });
});
