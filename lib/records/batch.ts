// Batch: several writes, all or nothing, each under its own rule and hooks (contract 5 and 11).
import { BadRequest, NotFound, ServiceError, ValidationFailed } from "../core/errors.js";
import type { Json, JsonObject } from "../core/record.js";
import type { Call, RequestFacts } from "../core/call.js";
import { StampChanged } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import { commitAll, WriteFailed, type Prepared } from "./commit.js";
import { prepareCreate } from "./create.js";
import { foreseeing } from "./foreseen.js";
import type { RecordAnswer, RecordDeps, Target } from "./operation.js";
import { prepareRemove } from "./remove.js";
import { prepareUpdate } from "./update.js";

export interface BatchRequest {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly collection: string;
  readonly id?: string | undefined;
  readonly body?: JsonObject | undefined;
}

export interface BatchResult {
  readonly status: 200 | 201 | 204;
  readonly body: Json;
}

/** Which request of the batch failed; answers with that one's status. */
export class BatchFailed extends ServiceError {
  constructor(readonly index: number, error: ServiceError) {
    super(error.status, error.message, {
      body: { error: error instanceof ValidationFailed ? error.body : error.message, index },
      headers: { ...error.headers },
      cause: error,
    });
  }
}

const maxRequests = 100;

/** Runs the global beforeRequest hooks for one request of the batch; gives the body to go on with. */
export type BeforeRequest = (target: Target, recordId: string | null, body: JsonObject | null) => Promise<JsonObject>;

/** Throws BatchFailed, or BadRequest where the input is no batch. */
export async function runBatch(deps: RecordDeps, context: TenantContext, call: Call, input: unknown, beforeRequest: BeforeRequest): Promise<BatchResult[]> {
  const requests = readRequests(input);
  const foreseen = foreseeing(context.store);
  const own: TenantContext = { ...context, store: foreseen.store };
  const writes: Prepared<RecordAnswer | null>[] = [];
  for (const [index, request] of requests.entries()) {
    try {
      writes.push(await prepare(deps, own, call, request, beforeRequest));
    } catch (error) {
      throw failure(index, error);
    }
  }
  try {
    const answers = await commitAll(context, writes, foreseen);
    return answers.map((answer, index) => {
      const method = requests[index]!.method;
      return { status: method === "POST" ? 201 : method === "PATCH" ? 200 : 204, body: answer === null ? null : answer.value };
    });
  } catch (error) {
    throw error instanceof WriteFailed ? failure(error.index, error.reason) : error;
  }
}

async function prepare(deps: RecordDeps, context: TenantContext, call: Call, request: BatchRequest, beforeRequest: BeforeRequest): Promise<Prepared<RecordAnswer | null>> {
  const collection = context.collections.get(request.collection);
  if (collection === undefined) throw new NotFound();
  const recordId = request.id ?? null;
  // Each request of a batch is to hooks what it would be alone.
  const own: Call = { ...call, request: factsOf(call.request, request) };
  const target: Target = { call: own, context, collection };
  const body = await beforeRequest(target, recordId, request.method === "DELETE" ? null : (request.body ?? {}));
  switch (request.method) {
    case "POST": return await prepareCreate(deps, target, { body });
    case "PATCH": return await prepareUpdate(deps, target, { recordId: request.id!, body });
    case "DELETE": return await prepareRemove(deps, target, { recordId: request.id! });
  }
}

function factsOf(whole: RequestFacts, { method, collection, id }: BatchRequest): RequestFacts {
  const { requestId, mountPath } = whole;
  const path = `/api/collections/${collection}${id === undefined ? "" : `/${id}`}`;
  // Headers are collected when they are asked for: a spread would lose them.
  return { requestId, mountPath, method, path, get headers() { return whole.headers; } };
}

function readRequests(input: unknown): BatchRequest[] {
  const requests = typeof input === "object" && input !== null ? (input as { requests?: unknown }).requests : undefined;
  if (!Array.isArray(requests)) throw new BadRequest(`requests must be a list of at most ${maxRequests} requests`);
  if (requests.length > maxRequests) throw new BadRequest(`a batch has at most ${maxRequests} requests, this one has ${requests.length}`);
  return requests.map((request: unknown, index) => {
    const problem = faultOf(request);
    if (problem !== undefined) throw new BatchFailed(index, new BadRequest(problem));
    return request as BatchRequest;
  });
}

function faultOf(request: unknown): string | undefined {
  if (typeof request !== "object" || request === null || Array.isArray(request)) return "a request must be an object";
  const { method, collection, id, body, ...others } = request as Record<string, unknown>;
  if (method !== "POST" && method !== "PATCH" && method !== "DELETE") return "method must be POST, PATCH or DELETE";
  if (typeof collection !== "string") return "collection must be a collection's name";
  if (method === "POST" ? id !== undefined : typeof id !== "string") return method === "POST" ? "id is given by the service, not by a POST" : `id must be the id of the record to ${method === "PATCH" ? "change" : "remove"}`;
  if (method === "DELETE" ? body !== undefined && body !== null : body !== undefined && (typeof body !== "object" || body === null || Array.isArray(body))) return method === "DELETE" ? "a DELETE has no body" : "body must be an object";
  const [unknown] = Object.keys(others);
  return unknown === undefined ? undefined : `${JSON.stringify(unknown.slice(0, 60))} is not known here`;
}

function failure(index: number, error: unknown): unknown {
  if (error instanceof StampChanged) return error;
  return error instanceof ServiceError ? new BatchFailed(index, error) : error;
}
