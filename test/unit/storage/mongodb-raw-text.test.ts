// Texts of rows out of the bytes that the server sends.
import { expect } from "chai";
import { BSON } from "mongodb";
import { joinTexts } from "../../../lib/storage/mongodb/raw-text.js";

describe("texts of MongoDB's rows", () => {
  it("are taken out of the bytes as they are", () => {
    const texts = ['{"id":"a","t":"plain"}', '{"id":"b","t":"ünd 漢字 😀 \\u0000"}', "{}"];
    const { bytes, count } = joinTexts(texts.map((d) => BSON.serialize({ d })));
    expect(Buffer.from(bytes).toString()).to.equal(texts.join(",\n"));
    expect(count).to.equal(3);
  });

  it("are found behind other members that are texts", () => {
    const { bytes } = joinTexts([BSON.serialize({ _id: "an id", dd: "other", d: '{"id":"an id"}' })]);
    expect(Buffer.from(bytes).toString()).to.equal('{"id":"an id"}');
  });

  it("are nothing where there are no rows", () => {
    const { bytes, count } = joinTexts([]);
    expect([bytes.length, count]).to.deep.equal([0, 0]);
  });

  it("a row without its text is a fault", () => {
    expect(() => joinTexts([BSON.serialize({ r: 1 })])).to.throw("without its text");
    expect(() => joinTexts([BSON.serialize({})])).to.throw("without its text");
  });
});
