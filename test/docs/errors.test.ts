// docs/errors.md against core/errors.ts: every error class with its status, and no other.
import { expect } from "chai";
import { BatchFailed } from "../../lib/index.js";
import * as errors from "../../lib/core/errors.js";
import { codes, readPage, tableRows } from "./pages.js";

/** One of each, as the service makes it; null where the class is only a base or has no status of its own. */
const made: Readonly<Record<string, errors.ServiceError | null>> = {
  ServiceError: null,
  HookRejected: null,
  ValidationFailed: new errors.ValidationFailed([{ field: "title", message: "is required" }]),
  BadRequest: new errors.BadRequest("wrong"),
  Unauthorized: new errors.Unauthorized(),
  CredentialRejected: new errors.CredentialRejected("expired"),
  Forbidden: new errors.Forbidden(),
  NotFound: new errors.NotFound(),
  MethodNotAllowed: new errors.MethodNotAllowed(["GET"]),
  Conflict: new errors.Conflict("held"),
  PreconditionFailed: new errors.PreconditionFailed(),
  PayloadTooLarge: new errors.PayloadTooLarge(),
  UnsupportedMediaType: new errors.UnsupportedMediaType("wrong"),
  RangeNotSatisfiable: new errors.RangeNotSatisfiable(1),
  TooManyRequests: new errors.TooManyRequests(),
  HookFailed: new errors.HookFailed(),
  StorageUnavailable: new errors.StorageUnavailable(),
  ShuttingDown: new errors.ShuttingDown(),
  InsufficientStorage: new errors.InsufficientStorage(),
  SortTooLarge: new errors.SortTooLarge("title"),
};

describe("docs: errors.md", () => {
  const page = readPage("docs/errors.md");
  const rows = tableRows(page).filter((row) => /^`[A-Z]\w+`/.test(row[0] ?? ""));
  const documented = new Map(rows.flatMap((row) => codes(row[0]!).map((name) => [name, row] as const)));
  const classes = Object.entries(errors as Record<string, unknown>).filter(([, value]) => typeof value === "function").map(([name]) => name);

  it("this test knows every error class", () => {
    expect(Object.keys(made).sort()).to.deep.equal([...classes].sort());
  });

  it("names every error class of core/errors.ts, and no other", () => {
    expect([...documented.keys()].filter((name) => name !== BatchFailed.name).sort()).to.deep.equal([...classes].sort());
  });

  it("gives each its status", () => {
    const wrong = Object.entries(made).filter(([name, error]) => error !== null && !(documented.get(name)?.[1] ?? "").includes(String(error.status)));
    expect(wrong.map(([name]) => name)).to.deep.equal([]);
  });

  it("gives each fixed message in the words of the code", () => {
    const fixed = ["Unauthorized", "Forbidden", "NotFound", "MethodNotAllowed", "PreconditionFailed", "PayloadTooLarge", "RangeNotSatisfiable", "TooManyRequests", "HookFailed", "StorageUnavailable", "ShuttingDown", "InsufficientStorage"];
    expect(fixed.filter((name) => !page.text.includes(made[name]!.message))).to.deep.equal([]);
  });

  it("names every status that the service answers errors with", () => {
    const statuses = [408, 500, ...Object.values(made).flatMap((error) => (error === null ? [] : [error.status]))];
    const table = tableRows(page).map((row) => row[0]);
    expect([...new Set(statuses)].filter((status) => !table.includes(String(status)))).to.deep.equal([]);
  });
});
