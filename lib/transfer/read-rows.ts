// From bytes to rows: one body for each row of a CSV, NDJSON or JSON text, with what is wrong with it already.
import type { Readable } from "node:stream";
import { BadRequest, type FieldError } from "../core/errors.js";
import { systemFields, type Json, type JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { convertText } from "../schema/convert.js";
import type { Field } from "../schema/collection.js";
import { jsonProblem } from "../schema/json-guard.js";
import { readCsv } from "./csv.js";
import type { TransferFormat } from "./formats.js";
import { readLines, readText } from "./text.js";

/** One record to be. */
export interface InputRow {
  /** From 1; the header of a CSV is not counted. */
  readonly row: number;
  /** Of the text, from 1; null in JSON. */
  readonly line: number | null;
  readonly body: JsonObject;
  readonly faults: readonly FieldError[];
}

export interface RowSource {
  readonly format: TransferFormat;
  readonly stream: Readable;
  /** Of CSV. */
  readonly delimiter: string;
}

/** Throws BadRequest where the text as a whole cannot be read. */
export function readRows(source: RowSource, collection: Collection): AsyncGenerator<InputRow> {
  switch (source.format) {
    case "csv": return readCsvRows(source, collection);
    case "ndjson": return readNdjsonRows(source);
    case "json": return readJsonRows(source);
  }
}

async function* readCsvRows({ stream, delimiter }: RowSource, collection: Collection): AsyncGenerator<InputRow> {
  let header: readonly string[] | undefined;
  let row = 0;
  for await (const { line, cells } of readCsv(stream, delimiter)) {
    if (header === undefined) {
      header = readHeader(cells, collection);
      continue;
    }
    row += 1;
    yield readCells({ row, line }, header, cells, collection);
  }
  if (header === undefined) throw new BadRequest("This CSV is empty: its first line must name the fields");
}

function readHeader(cells: readonly (string | null)[], collection: Collection): string[] {
  const names = cells.map((cell) => (cell ?? "").trim());
  const known = new Set([...systemFields, ...collection.fields.keys(), ...(collection.isUsers ? ["password"] : [])]);
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const shown = unknown.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 60))).join(", ");
    throw new BadRequest(`The first line must name fields of ${collection.name}, and ${shown} ${unknown.length === 1 ? "is none" : "are none"}; there are ${[...collection.fields.keys()].join(", ")}`);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new BadRequest(`The first line names ${twice} twice`);
  return names;
}

function readCells(place: Pick<InputRow, "row" | "line">, header: readonly string[], cells: readonly (string | null)[], collection: Collection): InputRow {
  const body: Record<string, Json> = {};
  const faults: FieldError[] = [];
  if (cells.length !== header.length) faults.push({ field: "", message: `has ${cells.length} cells, and the first line has ${header.length}` });
  header.forEach((name, index) => {
    const cell = cells[index];
    if (cell === null || cell === undefined) return;
    const field = collection.fields.get(name);
    if (cell === "" && field !== undefined && !isText(field)) return;
    const converted = field === undefined ? { value: cell } : field.type === "FILE" ? readFileCell(cell) : convertText(field, cell);
    if ("error" in converted) faults.push({ field: name, message: converted.error });
    else body[name] = converted.value;
  });
  return { ...place, body, faults };
}

function isText({ type }: Field): boolean {
  return type === "TEXT" || type === "EMAIL" || type === "URL" || type === "SELECT";
}

/** An exported reference, so that the fault which it is can be told in one place. */
function readFileCell(cell: string): { readonly value: Json } {
  return cell === "[]" ? { value: [] } : { value: cell };
}

async function* readNdjsonRows({ stream }: RowSource): AsyncGenerator<InputRow> {
  let row = 0;
  for await (const { line, text } of readLines(stream)) {
    if (text.trim() === "") continue;
    row += 1;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      yield { row, line, body: {}, faults: [{ field: "", message: "is not valid JSON" }] };
      continue;
    }
    yield toRow(row, line, value);
  }
}

async function* readJsonRows({ stream }: RowSource): AsyncGenerator<InputRow> {
  let values: unknown;
  try {
    values = JSON.parse(await readText(stream));
  } catch (error) {
    if (error instanceof BadRequest) throw error;
    throw new BadRequest("This is not valid JSON");
  }
  const list = Array.isArray(values) ? values : (values as { items?: unknown } | null)?.items;
  if (!Array.isArray(list)) throw new BadRequest("The JSON must be a list of records, or an object with such a list as items");
  for (const [index, value] of list.entries()) yield toRow(index + 1, null, value);
}

function toRow(row: number, line: number | null, value: unknown): InputRow {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { row, line, body: {}, faults: [{ field: "", message: "must be an object" }] };
  const problem = jsonProblem(value);
  return problem === null ? { row, line, body: value as JsonObject, faults: [] } : { row, line, body: {}, faults: [{ field: "", message: problem }] };
}
