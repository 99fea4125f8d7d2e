import { expect } from "chai";
import sharp from "sharp";
import { dispositionOf, isShown } from "../../../lib/files/disposition.js";
import { isAllowedType, sniffType } from "../../../lib/files/sniff.js";

describe("types of files", () => {
  const image = (format: "png" | "jpeg" | "gif" | "webp"): Promise<Buffer> =>
    sharp({ create: { width: 4, height: 4, channels: 3, background: "red" } })[format]().toBuffer();

  for (const format of ["png", "jpeg", "gif", "webp"] as const) {
    it(`knows ${format} by its content`, async () => expect(await sniffType(await image(format))).to.equal(`image/${format}`));
  }

  const cases: readonly [content: string | Buffer, type: string][] = [
    ["%PDF-1.4\n%âãÏÓ\n", "application/pdf"],
    ["Hello, Wörld\n", "text/plain"],
    ["alert(1)", "text/plain"],
    ["<svg onload=alert(1)>", "application/octet-stream"],
    ["<!doctype html><script>alert(1)</script>", "application/octet-stream"],
    ["\n\t <html>", "application/octet-stream"],
    ["\ufeff<html>", "application/octet-stream"],
    ['<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "application/xml"],
    ["GIF89a/*<script>", "image/gif"],
    [Buffer.alloc(0), "application/octet-stream"],
    [Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]), "application/octet-stream"],
    [Buffer.from([0xc3, 0x28]), "application/octet-stream"],
    [Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(20)]), "image/png"],
    ["ID3\u0003\u0000\u0000", "audio/mpeg"],
  ];
  for (const [content, type] of cases) {
    it(`${JSON.stringify(content.toString().slice(0, 40))} is ${type}`, async () => expect(await sniffType(Buffer.from(content))).to.equal(type));
  }

  it("takes text whose last character is cut in two", async () => {
    const text = Buffer.from("a".repeat(100) + "ü");
    expect(await sniffType(text.subarray(0, -1))).to.equal("text/plain");
  });

  it("compares with the allowed list, wildcards included", () => {
    expect(isAllowedType("image/png", [])).to.equal(true);
    expect(isAllowedType("image/png", ["image/*"])).to.equal(true);
    expect(isAllowedType("image/png", ["IMAGE/PNG"])).to.equal(true);
    expect(isAllowedType("imagefoo/png", ["image/*"])).to.equal(false);
    expect(isAllowedType("text/plain", ["image/*", "application/pdf"])).to.equal(false);
    expect(isAllowedType("text/plain", ["*/*"])).to.equal(true);
  });
});

describe("Content-Disposition", () => {
  for (const type of ["image/png", "image/jpeg", "image/gif", "image/webp", "audio/mpeg", "video/mp4", "application/pdf", "text/plain"]) {
    it(`${type} is shown in place`, () => expect(isShown({ type, name: "a.txt" })).to.equal(true));
  }
  for (const type of ["application/octet-stream", "application/xml", "image/svg+xml", "text/html", "application/zip", "text/calendar", "image/tiff"]) {
    it(`${type} is saved`, () => expect(isShown({ type, name: "a.txt" })).to.equal(false));
  }
  for (const name of ["a.js", "a.HTML", "a.svg.", "a.svg ", "x.xhtml"]) {
    it(`text named ${JSON.stringify(name)} is saved`, () => expect(isShown({ type: "text/plain", name })).to.equal(false));
  }

  it("carries names of every alphabet, and quotes", () => {
    expect(dispositionOf({ type: "image/png", name: 'Grüße "日本".png' })).to.match(/^inline; filename="[ -~]*"; filename\*=UTF-8''Gr%C3%BC%C3%9Fe%20%22%E6%97%A5%E6%9C%AC%22\.png$/);
    expect(dispositionOf({ type: "application/zip", name: "a.zip" })).to.equal("attachment; filename=a.zip");
  });
});
