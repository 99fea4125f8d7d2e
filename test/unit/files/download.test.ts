// Downloads of what was really stored: conditions, ranges, widths, headers.
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { BadRequest, NotFound, RangeNotSatisfiable, type ServiceError } from "../../../lib/core/errors.js";
import type { FileReference } from "../../../lib/core/record.js";
import type { Download, DownloadRequest, PendingFile } from "../../../lib/files/files.js";
import type { Row } from "../../../lib/storage/storage.js";
import { bytesOf, fileField, photo, startScene, type Scene } from "./scene.js";

const request: DownloadRequest = { field: "photo", fileId: null, width: null, method: "GET", ifNoneMatch: null, range: null, ifRange: null };

describe("downloads", () => {
  let scene: Scene;
  let row: Row;
  let jpeg: Buffer;
  let photoFile: FileReference;
  const large = randomBytes(1_500_000);
  let texts: PendingFile[];
  const get = (changes: Partial<DownloadRequest> = {}): Promise<Download> => scene.files.download(scene.context, scene.collection, row.record, { ...request, ...changes });

  before(async () => {
    scene = await startScene([
      fileField({ name: "photo", widths: [100, 300, 600] }),
      fileField({ name: "large" }),
      fileField({ name: "texts", multiple: true, widths: [100] }),
      fileField({ name: "empty" }),
    ]);
    jpeg = await photo(500, 400).jpeg().toBuffer();
    const picture = await scene.receive("photo", jpeg, "Straße.jpg");
    texts = [await scene.receive("texts", Buffer.from("one"), "one.txt"), await scene.receive("texts", Buffer.from("two"), "two.html")];
    photoFile = picture.reference;
    row = await scene.create(picture, await scene.receive("large", large, "large.bin"), ...texts);
    await scene.files.idle();
  });
  after(() => scene.close());

  async function refused<T extends ServiceError>(type: abstract new (...args: never[]) => T, changes: Partial<DownloadRequest>): Promise<T> {
    try {
      await get(changes);
    } catch (error) {
      expect(error).to.be.instanceOf(type);
      return error as T;
    }
    throw new Error("it should have been refused");
  }

  it("gives the bytes with every header of interface and contract", async () => {
    const { status, headers, body } = await get();
    expect(status).to.equal(200);
    expect(headers).to.deep.equal({
      "Content-Type": "image/jpeg",
      "Content-Length": String(jpeg.length),
      "Content-Disposition": "inline; filename=\"Stra?e.jpg\"; filename*=UTF-8''Stra%C3%9Fe.jpg",
      ETag: `"${photoFile.id}-original"`,
      "Cache-Control": "private, max-age=300, immutable",
      "Accept-Ranges": "bytes",
      "X-Image-Width": "original",
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
      "Cross-Origin-Resource-Policy": "cross-origin",
      Vary: "Authorization",
    });
    expect((await bytesOf(body)).equals(jpeg)).to.equal(true);
  });

  it("streams a large file", async () => {
    const { body, headers } = await get({ field: "large" });
    expect(Buffer.isBuffer(body)).to.equal(false);
    expect((await bytesOf(body)).equals(large)).to.equal(true);
    expect(headers["Content-Disposition"]).to.match(/^attachment;/);
  });

  it("a matching If-None-Match gets 304 with no body, and touches no file", async () => {
    const { status, headers, body } = await get({ ifNoneMatch: `"${photoFile.id}-original"` });
    expect([status, body]).to.deep.equal([304, null]);
    expect(headers).to.include({ ETag: `"${photoFile.id}-original"`, "Cache-Control": "private, max-age=300, immutable", "X-Image-Width": "original" });
    expect(headers).not.to.have.property("Content-Length");
    expect((await get({ ifNoneMatch: `"${photoFile.id}-300"` })).status).to.equal(200);
  });

  it("gives a range as 206, of small and of large files", async () => {
    for (const [field, content] of [["photo", jpeg], ["large", large]] as const) {
      const { status, headers, body } = await get({ field, range: "bytes=100-299" });
      expect(status).to.equal(206);
      expect(headers).to.include({ "Content-Range": `bytes 100-299/${content.length}`, "Content-Length": "200" });
      expect((await bytesOf(body)).equals(content.subarray(100, 300))).to.equal(true);
      const rest = await get({ field, range: "bytes=-50" });
      expect((await bytesOf(rest.body)).equals(content.subarray(-50))).to.equal(true);
    }
  });

  it("a range that cannot be satisfied is 416 and tells the size", async () => {
    const error = await refused(RangeNotSatisfiable, { range: `bytes=${jpeg.length}-` });
    expect(error.headers).to.deep.equal({ "Content-Range": `bytes */${jpeg.length}` });
  });

  it("If-Range with another entity tag gives the whole file", async () => {
    expect((await get({ range: "bytes=0-9", ifRange: `"${photoFile.id}-original"` })).status).to.equal(206);
    expect((await get({ range: "bytes=0-9", ifRange: '"other"' })).status).to.equal(200);
  });

  it("HEAD gives the same headers and no bytes, and knows no range", async () => {
    const whole = await get();
    const head = await get({ method: "HEAD", range: "bytes=0-9" });
    expect(head).to.deep.equal({ status: 200, headers: whole.headers, body: null });
    expect((await get({ method: "HEAD", ifNoneMatch: "*" })).status).to.equal(304);
  });

  const choices: readonly [asked: string, delivered: string][] = [["100", "100"], ["300", "300"], ["50", "100"], ["101", "300"], ["0300", "300"], ["301", "original"], ["600", "original"], ["99999999999999999999", "original"]];
  for (const [asked, delivered] of choices) {
    it(`width=${asked} delivers ${delivered}`, async () => {
      const { headers, body } = await get({ width: asked });
      expect(headers["X-Image-Width"]).to.equal(delivered);
      expect(headers["ETag"]).to.equal(`"${photoFile.id}-${delivered}"`);
      const bytes = await bytesOf(body);
      expect(headers["Content-Length"]).to.equal(String(bytes.length));
      if (delivered === "original") expect(bytes.equals(jpeg)).to.equal(true);
      else expect(bytes.length).to.be.lessThan(jpeg.length);
    });
  }

  for (const width of ["0", "-1", "abc", "1.5", "", "1e2", " 5"]) {
    it(`width=${JSON.stringify(width)} is 400`, () => refused(BadRequest, { width }));
  }

  it("of what is no image the original is delivered", async () => {
    const { headers } = await get({ field: "texts", fileId: texts[0]!.reference.id, width: "100" });
    expect(headers).to.include({ "X-Image-Width": "original", "Content-Type": "text/plain; charset=utf-8", "Content-Disposition": "inline; filename=one.txt" });
  });

  it("a multiple field is addressed with the file's id", async () => {
    expect((await bytesOf((await get({ field: "texts", fileId: texts[1]!.reference.id })).body)).toString()).to.equal("two");
    await refused(NotFound, { field: "texts" });
  });

  it("a single field may be addressed with its file's id too", async () => {
    expect((await get({ fileId: photoFile.id })).status).to.equal(200);
  });

  const unknown: readonly [what: string, changes: Partial<DownloadRequest>][] = [
    ["no such field", { field: "nope" }],
    ["a field name of the prototype", { field: "constructor" }],
    ["an empty field", { field: "empty" }],
    ["no such file", { fileId: "0190aaaa-0000-7000-8000-00000000ffff" }],
    ["a variant's name", { fileId: "PHOTO.w300" }],
    ["a path", { fileId: "../../x" }],
    ["a zero byte", { fileId: "\0" }],
  ];
  for (const [what, changes] of unknown) it(`${what} is 404`, () => refused(NotFound, changes));

  it("another field's file is 404", () => refused(NotFound, { fileId: texts[0]!.reference.id }));

  it("a file whose bytes are gone is a clean 404", async () => {
    const lost = { ...photoFile, id: "0190aaaa-0000-7000-8000-00000000eeee" };
    const record = { ...row.record, photo: lost as unknown as string };
    for (const method of ["GET", "HEAD"] as const) {
      const failure = await scene.files.download(scene.context, scene.collection, record, { ...request, method }).then(() => undefined, (error: unknown) => error);
      expect(failure).to.be.instanceOf(NotFound);
    }
  });
});
