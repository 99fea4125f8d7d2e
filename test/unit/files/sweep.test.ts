// The sweep: orphans go, what a record holds stays.
import { expect } from "chai";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileField, photo, startScene, type Scene } from "./scene.js";

const hour = 3_600_000;

describe("the sweep of files", () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await startScene([fileField({ name: "photo", widths: [50] }), fileField({ name: "more", multiple: true })]);
  });
  afterEach(() => scene.close());
  const put = (key: string) => scene.blobs.write(key, Readable.from([Buffer.from("x")]));

  it("removes what no record holds, and never what one does, variants included", async () => {
    await scene.create(
      await scene.receive("photo", await photo(200, 100).jpeg().toBuffer()),
      await scene.receive("more", Buffer.from("1")), await scene.receive("more", Buffer.from("2")),
    );
    await scene.files.idle();
    const held = await scene.keys();
    expect(held).to.have.length(4);
    await scene.receive("photo", Buffer.from("taken by no record"));
    const { tenant } = scene.context;
    await put(`${tenant.id}/${scene.collection.definition.id}/no-such-record/f`);
    await put(`${tenant.id}/${scene.collection.definition.id}/no-such-record/f.w300`);
    await put(`${tenant.id}/no-such-collection/r/f`);
    await put("no-such-tenant/c/r/f");
    scene.wait(hour + 60_000);
    expect(await scene.files.sweep()).to.equal(5);
    expect(await scene.keys()).to.deep.equal(held);
    expect(await scene.files.sweep()).to.equal(0);
  });

  it("removes nothing that is younger than an hour", async () => {
    await scene.receive("photo", Buffer.from("an upload under way"));
    expect(await scene.files.sweep()).to.equal(0);
    expect(await scene.keys()).to.have.length(1);
  });

  it("leaves alone what is none of the service's", async () => {
    await put("notes/readme.txt");
    scene.wait(2 * hour);
    expect(await scene.files.sweep()).to.equal(0);
    expect(await scene.keys()).to.deep.equal(["notes/readme.txt"]);
  });

  it("removes unfinished writes", async () => {
    const temporary = join(scene.folder, "files", "temp");
    await writeFile(join(temporary, "old"), "x");
    await mkdir(join(temporary, "old-folder"));
    const longAgo = new Date(Date.now() - 2 * hour);
    await utimes(join(temporary, "old"), longAgo, longAgo);
    await utimes(join(temporary, "old-folder"), longAgo, longAgo);
    await scene.files.sweep();
    expect(await readdir(temporary)).to.deep.equal([]);
  });

  it("runs at start", async () => {
    await put("no-such-tenant/c/r/f");
    scene.wait(2 * hour);
    scene.files.start();
    await scene.files.idle();
    expect(await scene.keys()).to.deep.equal([]);
  });

  it("is done by one process at a time, and by another one when that one has died", async () => {
    const held = new Date(scene.clock.now() + 60_000).toISOString();
    await scene.storage.system.write({ operations: [{ type: "insert", table: "leases", record: { id: "sweep-files", createdAt: held, updatedAt: held, until: held } }] });
    expect(await scene.files.sweep()).to.equal(undefined);
    scene.wait(61_000);
    expect(await scene.files.sweep()).to.equal(0);
    const results = await Promise.all([scene.files.sweep(), scene.another().sweep(), scene.another().sweep()]);
    expect(results).to.include(0);
  });
});
