// The formats of import and export, and what they are called.
import { BadRequest } from "../core/errors.js";

export const transferFormats = ["csv", "ndjson", "json"] as const;
export type TransferFormat = (typeof transferFormats)[number];

export const mediaTypes: Readonly<Record<TransferFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** The format of this name; `otherwise` where there is none. Throws BadRequest. */
export function readFormat(name: string | undefined, otherwise: TransferFormat): TransferFormat {
  if (name === undefined || name === "") return otherwise;
  const format = transferFormats.find((one) => one === name);
  if (format === undefined) throw new BadRequest(`format must be one of ${transferFormats.join(", ")}`);
  return format;
}

/** The format that a media type or a file's name stands for. */
export function formatOf(typeOrName: string | undefined): TransferFormat | undefined {
  const name = (typeOrName ?? "").toLowerCase().split(";", 1)[0]!.trim();
  if (name === "text/csv" || name.endsWith(".csv")) return "csv";
  if (/^application\/(?:x-)?(?:ndjson|jsonl)$/.test(name) || name.endsWith(".ndjson") || name.endsWith(".jsonl")) return "ndjson";
  if (name === "application/json" || name.endsWith(".json")) return "json";
  return undefined;
}

const delimiters: ReadonlyMap<string, string> = new Map([[",", ","], [";", ";"], ["|", "|"], ["tab", "\t"], ["\t", "\t"]]);

/** The sign between the cells of CSV that is called this; a comma where nothing is said, undefined where it is none. */
export function delimiterOf(name: string | undefined): string | undefined {
  return delimiters.get(name ?? ",");
}
