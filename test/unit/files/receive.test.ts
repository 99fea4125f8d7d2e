// Uploads into a real folder: what is kept, what is refused, and that nothing is left of what was refused.
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { BlobStore } from "../../../lib/blobs/blobs.js";
import { InsufficientStorage, ValidationFailed } from "../../../lib/core/errors.js";
import { fileField, photo, startScene, type Scene } from "./scene.js";

async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it should have failed");
}

describe("receiving files", () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene([
      fileField({ name: "any", maxSize: 100_000 }),
      fileField({ name: "images", mimeTypes: ["image/*"], widths: [100, 300, 600] }),
    ]);
  });
  after(() => scene.close());
  afterEach(async () => {
    expect(await readdir(join(scene.folder, "files", "temp"))).to.deep.equal([]);
  });

  async function nothingLeft(): Promise<void> {
    expect(await scene.keys()).to.deep.equal([]);
  }

  it("keeps name, size, sniffed type, and width and height of images", async () => {
    const content = await photo(640, 480).jpeg().toBuffer();
    const file = await scene.receive("images", content, "Urlaub Köln.html");
    expect(file.reference).to.deep.equal({ id: file.reference.id, name: "Urlaub Köln.html", size: content.length, type: "image/jpeg", width: 640, height: 480, variants: [100, 300, 600] });
    expect((await scene.blobs.readWhole(file.key))?.equals(content)).to.equal(true);
    expect(file.key).to.equal(`${scene.context.tenant.id}/${scene.collection.definition.id}/0190aaaa-0000-7000-8000-000000000001/${file.reference.id}`);
    await scene.files.drop([file]);
    await nothingLeft();
  });

  it("each stored file gets a new file id", async () => {
    const files = await Promise.all(Array.from({ length: 5 }, () => scene.receive("any", Buffer.from("same"))));
    expect(new Set(files.map((file) => file.reference.id)).size).to.equal(5);
    await scene.files.drop(files);
  });

  it("plans no variant that is as wide as the image or wider, and none for what is no image", async () => {
    const small = await scene.receive("images", await photo(300, 500).png().toBuffer());
    expect(small.reference.variants).to.deep.equal([100]);
    const text = await scene.receive("any", Buffer.from("hello"));
    expect(text.reference).not.to.have.property("variants");
    await scene.files.drop([small, text]);
  });

  it("takes an empty file", async () => {
    const file = await scene.receive("any", Buffer.alloc(0), "empty");
    expect(file.reference).to.deep.equal({ id: file.reference.id, name: "empty", size: 0, type: "application/octet-stream" });
    await scene.files.drop([file]);
  });

  it("takes exactly maxSize, and refuses one byte more with the field's name", async () => {
    const exact = await scene.receive("any", randomBytes(100_000));
    expect(exact.reference.size).to.equal(100_000);
    await scene.files.drop([exact]);
    const failure = await failureOf(scene.receive("any", randomBytes(100_001)));
    expect(failure).to.be.instanceOf(ValidationFailed);
    expect((failure as ValidationFailed).entries).to.deep.equal([{ field: "any", message: "must be at most 100000 bytes" }]);
    await nothingLeft();
  });

  it("stops reading an endless upload at its limit", async () => {
    let sent = 0;
    const endless = new Readable({ read() { sent += 16_384; this.push(Buffer.alloc(16_384, 1)); } });
    expect(await failureOf(scene.receive("any", endless))).to.be.instanceOf(ValidationFailed);
    expect(endless.destroyed).to.equal(true);
    expect(sent).to.be.lessThan(400_000);
    await nothingLeft();
  });

  for (const [what, content] of [["text", Buffer.from("I am a picture")], ["HTML", Buffer.from("<html>")], ["SVG", Buffer.from("<svg xmlns='x'/>")], ["long text", Buffer.alloc(90_000, "x")]] as const) {
    it(`refuses ${what} where only images are taken, whatever its name`, async () => {
      const failure = await failureOf(scene.receive("images", content, "photo.png"));
      expect(failure).to.be.instanceOf(ValidationFailed);
      expect((failure as ValidationFailed).entries[0]?.message).to.match(/must be of type image\/\*, and the content given is /);
      await nothingLeft();
    });
  }

  it("leaves nothing of an upload that is cut off at any point", async () => {
    const content = randomBytes(90_000);
    for (const length of [0, 1, 1_000, 32_767, 32_768, 32_769, 65_536, 89_999]) {
      const stream = new PassThrough();
      const work = scene.receive("any", stream);
      if (length > 0) stream.write(content.subarray(0, length));
      setImmediate(() => stream.destroy());
      await failureOf(work);
      await nothingLeft();
    }
  });

  it("tells a full disk as such, drops the stream, and works again once there is room", async () => {
    let full = true;
    const full507: BlobStore = { ...scene.blobs, write: (key, stream) => (full ? failing(stream) : scene.blobs.write(key, stream)) };
    const other = scene.another({ blobs: full507 });
    const field = scene.collection.files[0]!;
    const upload = () => ({ name: "a", stream: Readable.from([Buffer.from("hello")]) });
    const stream = upload();
    expect(await failureOf(other.receive(scene.context, scene.collection, "r", field, stream))).to.be.instanceOf(InsufficientStorage);
    expect(stream.stream.destroyed).to.equal(true);
    await nothingLeft();
    full = false;
    const file = await other.receive(scene.context, scene.collection, "r", field, upload());
    await other.drop([file]);
  });
});

async function failing(stream: Readable): Promise<never> {
  for await (const _chunk of stream) break;
  throw new InsufficientStorage();
}
