// Import: every row checked first, and only where all hold, every row written through the pipeline of records, with
// its hooks, as if each had been posted.
import type { Readable } from "node:stream";
import { newId } from "../core/ids.js";
import type { Clock } from "../core/clock.js";
import type { Call } from "../core/call.js";
import { ServiceError, ValidationFailed, type FieldError } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Records } from "../records/records.js";
import type { TenantContext } from "../tenants/context.js";
import { createRowChecker, type CheckDeps, type CheckedRow } from "./check-rows.js";
import type { TransferFormat } from "./formats.js";
import { readRows, type InputRow } from "./read-rows.js";

/** What is wrong with one member of one row. */
export interface RowFault extends FieldError {
  /** From 1; the header of a CSV is not counted. */
  readonly row: number;
  /** Of the text, from 1; null in JSON. */
  readonly line: number | null;
}

export interface ImportReport {
  readonly dryRun: boolean;
  /** Rows read. */
  readonly rows: number;
  /** Rows in which nothing is wrong. */
  readonly valid: number;
  /** Records made; 0 in a dry run. */
  readonly imported: number;
  /** The first hundred faults, in the order of rows. */
  readonly errors: readonly RowFault[];
  /** Faults beyond those. */
  readonly moreErrors: number;
}

export interface ImportInput {
  readonly format: TransferFormat;
  /** Gives the text from its beginning; called twice. */
  readonly open: () => Readable | Promise<Readable>;
  /** Only check, and write nothing. */
  readonly dryRun: boolean;
  /** Between the cells of CSV. @default "," */
  readonly delimiter?: string | undefined;
  /** Told how many rows are checked, then how many are written. */
  readonly onProgress?: ((step: "check" | "write", rows: number) => void) | undefined;
}

export interface ImportDeps extends CheckDeps {
  readonly records: Records;
  readonly clock: Clock;
}

const chunk = 200;
/** Writes under way at a time: enough that they share commits. */
const atOnce = 64;
const mostFaults = 100;

/** Throws ValidationFailed with every bad row (`row 3, price`), and then nothing was written; BadRequest where the text cannot be read. */
export async function importRecords(deps: ImportDeps, context: TenantContext, call: Call, collection: Collection, input: ImportInput): Promise<ImportReport> {
  const checked = await checkAll(deps, context, collection, input);
  if (input.dryRun) return { dryRun: true, imported: 0, ...checked };
  if (checked.errors.length > 0) throw refused(checked);
  const written = await writeAll(deps, context, call, collection, input);
  return { dryRun: false, rows: checked.rows, valid: checked.valid, ...written };
}

type Checked = Pick<ImportReport, "rows" | "valid" | "errors" | "moreErrors">;

async function checkAll(deps: ImportDeps, context: TenantContext, collection: Collection, input: ImportInput): Promise<Checked> {
  const checker = createRowChecker(deps, context, collection);
  const faults = createFaults();
  let rows = 0;
  let valid = 0;
  for await (const some of chunks(readRows(await sourceOf(input), collection))) {
    for (const row of await checker.check(some)) {
      rows += 1;
      if (row.faults.length === 0) valid += 1;
      faults.add(row, row.faults);
    }
    input.onProgress?.("check", rows);
  }
  return { rows, valid, ...faults.result() };
}

async function writeAll({ records, clock }: ImportDeps, context: TenantContext, call: Call, collection: Collection, input: ImportInput): Promise<Pick<ImportReport, "imported" | "errors" | "moreErrors">> {
  const faults = createFaults();
  // A row that refers to one before it must find it written; passwords wait for the slots of hashing.
  const width = collection.isUsers || collection.relations.some((field) => field.collection === collection.name) ? 1 : atOnce;
  const underWay = new Set<Promise<void>>();
  let imported = 0;
  let done = 0;
  let broken: { readonly error: unknown } | undefined;
  const write = async (row: InputRow, id: string): Promise<void> => {
    try {
      await records.create(context, call, collection.name, { id, body: withoutId(row.body) });
      imported += 1;
    } catch (error) {
      // A hook that fails is one row's trouble; a store that fails is everybody's.
      if (!(error instanceof ServiceError) || (error.status >= 500 && error.status !== 502)) broken ??= { error };
      else faults.add(row, error instanceof ValidationFailed ? error.entries : [{ field: "", message: error.message }]);
    }
    done += 1;
    input.onProgress?.("write", done);
  };
  for await (const row of readRows(await sourceOf(input), collection)) {
    if (broken !== undefined) break;
    const { id } = row.body;
    // Ids are given in the order of the rows, whichever is written first.
    const task: Promise<void> = write(row, typeof id === "string" ? id : newId(clock.now())).finally(() => underWay.delete(task));
    underWay.add(task);
    if (underWay.size >= width) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  if (broken !== undefined) throw broken.error;
  return { imported, ...faults.result() };
}

async function sourceOf({ format, open, delimiter = "," }: ImportInput) {
  return { format, stream: await open(), delimiter };
}

function withoutId({ id: _id, ...body }: JsonObject): JsonObject {
  return body;
}

async function* chunks(rows: AsyncIterable<InputRow>): AsyncGenerator<InputRow[]> {
  let some: InputRow[] = [];
  for await (const row of rows) {
    some.push(row);
    if (some.length < chunk) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

function createFaults() {
  const kept: RowFault[] = [];
  let more = 0;
  return {
    add({ row, line }: Pick<CheckedRow, "row" | "line">, entries: readonly FieldError[]): void {
      for (const { field, message } of entries) {
        if (kept.length < mostFaults) kept.push({ row, line, field, message });
        else more += 1;
      }
    },
    result: () => ({ errors: [...kept].sort((a, b) => a.row - b.row), moreErrors: more }),
  };
}

function refused({ errors, moreErrors }: Checked): ValidationFailed {
  const entries = errors.map(({ row, field, message }) => ({ field: field === "" ? `row ${row}` : `row ${row}, ${field}`, message }));
  return new ValidationFailed(moreErrors === 0 ? entries : [...entries, { field: "rows", message: `and ${moreErrors} more` }]);
}
