// Record routes: bodies and parameters in, replies out.
import { BadRequest, UnsupportedMediaType } from "../core/errors.js";
import { newId } from "../core/ids.js";
import type { Clock } from "../core/clock.js";
import type { JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { PendingFile } from "../files/files.js";
import { noneMatches } from "../records/if-match.js";
import type { ListParameters } from "../records/list-query.js";
import type { RecordAnswer } from "../records/operation.js";
import type { Records } from "../records/records.js";
import type { TenantContext } from "../tenants/context.js";
import { noContent, type Exchange, type Handler, type Reply, type TenantCall } from "./exchange.js";

export interface RecordRoutesDeps {
  readonly records: Records;
  readonly clock: Clock;
  /** Reads a multipart body: text parts converted to the fields' types, files stored. */
  readonly readForm: (exchange: Exchange, context: TenantContext, collection: Collection, recordId: string) => Promise<{ readonly body: JsonObject; readonly files: readonly PendingFile[] }>;
}

export interface RecordRoutes {
  readonly list: Handler;
  readonly create: Handler;
  readonly view: Handler;
  readonly update: Handler;
  readonly remove: Handler;
  readonly batch: Handler;
}

export function createRecordRoutes({ records, clock, readForm }: RecordRoutesDeps): RecordRoutes {
  /** JSON, or a form where the collection has FILE fields: there the denial that needs no body comes before the files do. */
  async function readInput(exchange: Exchange, rule: "createRule" | "updateRule", recordId: string) {
    const name = exchange.params["collection"]!;
    if (isForm(exchange)) {
      const target = await exchange.call();
      const collection = records.collection(target.context, name);
      if (collection.files.length === 0) throw new UnsupportedMediaType(`${name} has no FILE fields: send application/json`);
      records.demandWritable(target.context, target.call, collection, rule);
      if (rule === "updateRule") await records.demandReachable(target.context, target.call, collection, recordId);
      const { body, files } = await readForm(exchange, target.context, collection, recordId);
      return { ...target, name, body, files };
    }
    const body = await exchange.json();
    const target = await exchange.call();
    return { ...target, name, body, files: undefined };
  }

  return {
    async list(exchange) {
      const { call, context } = await exchange.call();
      records.collection(context, exchange.params["collection"]!);
      const answer = await records.list(context, call, exchange.params["collection"]!, listParameters(exchange));
      return { status: 200, text: answer.text };
    },

    async create(exchange) {
      const id = newId(clock.now());
      const { call, context, name, body, files } = await readInput(exchange, "createRule", id);
      return recordReply(201, await records.create(context, call, name, { body, files, id }));
    },

    async view(exchange) {
      const { call, context } = await exchange.call();
      const answer = await records.view(context, call, exchange.params["collection"]!, exchange.params["id"]!);
      if (noneMatches(exchange.req.headers["if-none-match"], answer.etag)) return { status: 304, headers: { ETag: answer.etag } };
      return recordReply(200, answer);
    },

    async update(exchange) {
      const recordId = exchange.params["id"]!;
      const { call, context, name, body, files } = await readInput(exchange, "updateRule", recordId);
      return recordReply(200, await records.update(context, call, name, { recordId, body, files, ifMatch: ifMatch(exchange) }));
    },

    async remove(exchange) {
      const { call, context } = await exchange.call();
      await records.remove(context, call, exchange.params["collection"]!, { recordId: exchange.params["id"]!, ifMatch: ifMatch(exchange) });
      return noContent;
    },

    async batch(exchange) {
      const body = await exchange.json();
      const { call, context }: TenantCall = await exchange.call({ bodyTenant: body["tenant"] });
      const unknown = Object.keys(body).find((name) => name !== "requests" && name !== "tenant");
      if (unknown !== undefined) throw new BadRequest(`${JSON.stringify(unknown.slice(0, 60))} is not known here: a batch has requests`);
      return { status: 200, json: { results: await records.batch(context, call, body) } };
    },
  };
}

function isForm({ req }: Exchange): boolean {
  return (req.headers["content-type"] ?? "").toLowerCase().startsWith("multipart/form-data");
}

function recordReply(status: number, answer: RecordAnswer): Reply {
  return { status, text: answer.text, headers: { ETag: answer.etag } };
}

function ifMatch({ req }: Exchange): string | undefined {
  return req.headers["if-match"];
}

/** Everything but the tenant's name, which every route understands. */
function listParameters(exchange: Exchange): ListParameters {
  const given = exchange.query() as Record<string, string>;
  if (!("tenant" in given)) return given;
  const { tenant: _tenant, ...parameters } = given;
  return parameters;
}
