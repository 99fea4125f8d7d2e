// Meta routes of import and export: the records of one collection as CSV, NDJSON or JSON.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BadRequest } from "../core/errors.js";
import { delimiterOf, formatOf, mediaTypes, readFormat } from "../transfer/formats.js";
import type { Transfer } from "../transfer/transfer.js";
import { readRaw } from "./body.js";
import { ok, type Exchange, type Handler } from "./exchange.js";
import { callOf, inTenant } from "./meta.js";

export type TransferRoutes = Readonly<Record<"export" | "import", Handler>>;

const importTypes = ["text/csv", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json", "text/plain", "application/octet-stream"];
export function createTransferRoutes({ transfer }: { readonly transfer: Transfer }): TransferRoutes {
  return {
    export: inTenant(async (exchange, context) => {
      const name = exchange.params["name"]!;
      const format = readFormat(exchange.query()["format"], "ndjson");
      const stream = transfer.export(context, name, { format });
      await download(exchange, stream, { type: mediaTypes[format], name: `${context.tenant.slug}-${name}.${format}` });
      return undefined;
    }),

    import: inTenant(async (exchange, context) => {
      const query = exchange.query();
      const format = readFormat(query["format"], formatOf(exchange.req.headers["content-type"]) ?? "json");
      const delimiter = delimiterOf(query["delimiter"]);
      if (delimiter === undefined) throw new BadRequest("delimiter must be one of , ; | tab");
      const dryRun = readFlag("dryRun", query["dryRun"]);
      const bytes = await readRaw(exchange.req, importTypes);
      return ok(await transfer.import(context, callOf(exchange, context), exchange.params["name"]!, { format, delimiter, dryRun, open: () => Readable.from([bytes], { objectMode: false }) }));
    }),
  };
}

function readFlag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === "false") return false;
  if (value === "true" || value === "") return true;
  throw new BadRequest(`${name} must be true or false`);
}

/** Sends the stream as a file to keep; a stream that breaks cuts the response, so that nobody takes it for whole. */
export async function download({ req, res, facts }: Exchange, stream: Readable, file: { readonly type: string; readonly name: string }): Promise<void> {
  if (req.method === "HEAD") stream.destroy();
  res.writeHead(200, {
    "X-Request-Id": facts.requestId,
    "Content-Type": file.type,
    "Content-Disposition": `attachment; filename="${file.name}"`,
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
  });
  if (req.method === "HEAD") {
    res.end();
    return;
  }
  try {
    await pipeline(stream, res);
  } catch (error) {
    res.destroy();
    // The client who left is nobody's fault.
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}
