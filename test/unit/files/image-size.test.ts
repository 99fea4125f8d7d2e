import { expect } from "chai";
import sharp from "sharp";
import { createImageProbe, type ImageSize } from "../../../lib/files/image-size.js";

function probe(type: string, content: Buffer, step: number): ImageSize | undefined {
  const found = createImageProbe(type);
  for (let offset = 0; offset < content.length; offset += step) found?.feed(content.subarray(offset, offset + step));
  return found?.size();
}

describe("sizes of images, read from the header", () => {
  const picture = sharp({ create: { width: 37, height: 21, channels: 3, background: "blue" } });
  const formats: readonly [name: string, type: string, make: () => Promise<Buffer>, size: ImageSize][] = [
    ["JPEG", "image/jpeg", () => picture.clone().jpeg().toBuffer(), { width: 37, height: 21 }],
    ["progressive JPEG", "image/jpeg", () => picture.clone().jpeg({ progressive: true }).toBuffer(), { width: 37, height: 21 }],
    ["JPEG lying on its side", "image/jpeg", () => picture.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer(), { width: 21, height: 37 }],
    ["JPEG upside down", "image/jpeg", () => picture.clone().withMetadata({ orientation: 3 }).jpeg().toBuffer(), { width: 37, height: 21 }],
    ["JPEG with a profile", "image/jpeg", () => picture.clone().withIccProfile("p3").jpeg().toBuffer(), { width: 37, height: 21 }],
    ["PNG", "image/png", () => picture.clone().png().toBuffer(), { width: 37, height: 21 }],
    ["PNG lying on its side", "image/png", () => picture.clone().withMetadata({ orientation: 8 }).png().toBuffer(), { width: 21, height: 37 }],
    ["GIF", "image/gif", () => picture.clone().gif().toBuffer(), { width: 37, height: 21 }],
    ["lossy WebP", "image/webp", () => picture.clone().webp().toBuffer(), { width: 37, height: 21 }],
    ["lossless WebP", "image/webp", () => picture.clone().webp({ lossless: true }).toBuffer(), { width: 37, height: 21 }],
    ["WebP with transparency", "image/webp", () => picture.clone().ensureAlpha(0.5).webp().toBuffer(), { width: 37, height: 21 }],
  ];
  for (const [name, type, make, size] of formats) {
    it(`${name}, in pieces of any length`, async () => {
      const content = await make();
      for (const step of [1, 2, 3, 7, 64, content.length]) expect(probe(type, content, step), `pieces of ${step}`).to.deep.equal(size);
    });

    it(`${name}, cut off anywhere, gives nothing or the right size`, async () => {
      const content = await make();
      for (let length = 0; length < content.length; length += 5) {
        const found = probe(type, content.subarray(0, length), 16);
        if (found !== undefined && !name.includes("side")) expect(found).to.deep.equal(size);
      }
    });

    it(`${name}, with any byte of its header wrong, never throws`, async () => {
      const content = await make();
      for (let index = 0; index < Math.min(content.length, 700); index += 1) {
        for (const value of [0x00, 0xff]) {
          const damaged = Buffer.from(content);
          damaged[index] = value;
          const found = probe(type, damaged, 4096);
          if (found !== undefined) expect(Math.min(found.width, found.height)).to.be.greaterThan(0);
        }
      }
    });
  }

  it("has no probe for other types", () => {
    for (const type of ["text/plain", "application/pdf", "constructor", "image/svg+xml"]) expect(createImageProbe(type)).to.equal(undefined);
  });
});
