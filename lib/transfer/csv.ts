// CSV as of RFC 4180: records to lines, and text to rows of cells. An empty cell without quotes is no value, "" in
// quotes is an empty text, so that what was exported comes back as it was. The only user of csv-parse.
import { Readable } from "node:stream";
import type { CsvError } from "csv-parse";
import { BadRequest } from "../core/errors.js";
import type { Json } from "../core/record.js";
import { decoded } from "./text.js";

/** A line of text for these values, with its line end. */
export function csvLine(values: readonly (Json | undefined)[]): string {
  return `${values.map(csvCell).join(",")}\r\n`;
}

function csvCell(value: Json | undefined): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text === "" || /[",\r\n]|^\s|\s$|^\ufeff/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One line of cells: null where a cell is empty and has no quotes. */
export interface CsvLine {
  /** The line of the text where it ends, from 1. */
  readonly line: number;
  readonly cells: readonly (string | null)[];
}

/** Characters of one row. */
const longestRow = 4 * 1024 * 1024;

/** Throws BadRequest with the line where the text is no CSV, and for a delimiter that cannot be one. */
export async function* readCsv(source: Readable, delimiter: string): AsyncGenerator<CsvLine> {
  if (!/^[^"\r\n]$/u.test(delimiter)) {
    source.destroy();
    throw new BadRequest("delimiter must be one sign, and neither a quote nor the end of a line");
  }
  const { parse } = await import("csv-parse");
  const parser = parse({
    delimiter,
    info: true,
    max_record_size: longestRow,
    relax_column_count: true,
    skip_empty_lines: true,
    cast: (value, { quoting }) => (value === "" && !quoting ? null : value),
  });
  const text = Readable.from(decoded(source));
  text.once("error", (error) => parser.destroy(error));
  text.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: (string | null)[]; info: { lines: number } }>) {
      yield { line: info.lines, cells: record };
    }
  } catch (error) {
    const { code, lines } = error as CsvError & { lines?: number };
    if (typeof code !== "string" || !code.startsWith("CSV_")) throw error;
    throw new BadRequest(`This is no CSV: line ${lines ?? "?"} ${faults[code] ?? "cannot be read"}`);
  } finally {
    text.destroy();
    source.destroy();
  }
}

const faults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "opens a quote that is never closed",
  CSV_INVALID_CLOSING_QUOTE: "has text behind a closing quote",
  INVALID_OPENING_QUOTE: "has a quote inside a cell without quotes: double it and put the cell in quotes",
  CSV_MAX_RECORD_SIZE: "is longer than 4 MiB",
};
