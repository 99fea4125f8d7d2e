// The front door of records/: operations on the records of a collection, for HTTP and for host code alike.
import { NotFound } from "../core/errors.js";
import type { Call } from "../core/call.js";
import type { JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { HookSubject } from "../hooks/hooks.js";
import { StampChanged, type Row } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { runBatch, type BatchResult } from "./batch.js";
import { commit } from "./commit.js";
import { prepareCreate } from "./create.js";
import { listRecords, type ListAnswer } from "./list.js";
import type { ListParameters } from "./list-query.js";
import type { RecordAnswer, RecordDeps, Target, WriteInput } from "./operation.js";
import { prepareRemove, type RemoveInput } from "./remove.js";
import { prepareUpdate, type UpdateInput } from "./update.js";
import { viewRecord } from "./view.js";

export interface Records {
  /** The collection, or NotFound. */
  collection(context: TenantContext, name: string): Collection;
  list(context: TenantContext, call: Call, collection: string, parameters: ListParameters): Promise<ListAnswer>;
  view(context: TenantContext, call: Call, collection: string, recordId: string): Promise<RecordAnswer>;
  create(context: TenantContext, call: Call, collection: string, input: WriteInput): Promise<RecordAnswer>;
  update(context: TenantContext, call: Call, collection: string, input: UpdateInput): Promise<RecordAnswer>;
  remove(context: TenantContext, call: Call, collection: string, input: RemoveInput): Promise<void>;
  batch(context: TenantContext, call: Call, input: unknown): Promise<BatchResult[]>;
  /** Global beforeRequest hooks alone, for a request whose body is read in parts: the body to go on with. */
  beforeRequest(context: TenantContext, call: Call, subject: HookSubject): Promise<JsonObject | null>;
  /** The denial that needs no record and no body, before a body of files is read. Throws Unauthorized, Forbidden. */
  demandWritable(context: TenantContext, call: Call, collection: Collection, rule: "createRule" | "updateRule"): void;
  /** For the file routes: the row where the viewRule holds. No event hook runs. */
  loadForView(context: TenantContext, call: Call, collection: Collection, recordId: string): Promise<Row>;
  /** For the file routes: the row where the updateRule holds for a change of these fields. No event hook runs. */
  loadForUpdate(context: TenantContext, call: Call, collection: Collection, recordId: string, changed: ReadonlySet<string>): Promise<Row>;
  /** Before a body of files is read: denies what no body could make good. */
  demandReachable(context: TenantContext, call: Call, collection: Collection, recordId: string): Promise<void>;
}

/** Times an operation is run anew because definitions changed under it: as many as a script may make in a burst. */
const restarts = 100;

export function createRecords(deps: RecordDeps & { readonly tenants: TenantRegistry }): Records {
  const { access, hooks, files, tenants } = deps;

  function collection(context: TenantContext, name: string): Collection {
    const found = context.collections.get(name);
    if (found === undefined) throw new NotFound();
    return found;
  }

  /** Runs the operation; where a collection was changed meanwhile, again under the definitions of now. */
  async function underDefinitions<T>(context: TenantContext, call: Call, name: string, operation: (target: Target) => Promise<T>): Promise<T> {
    let current = context;
    for (let round = 1; ; round += 1) {
      try {
        return await operation({ call, context: current, collection: collection(current, name) });
      } catch (error) {
        if (!(error instanceof StampChanged) || round === restarts) throw error;
        current = await tenants.get(context.tenant.id);
      }
    }
  }

  async function beforeRequest(context: TenantContext, call: Call, subject: HookSubject): Promise<JsonObject | null> {
    return (await hooks.beforeRequest(context, call, subject)).body;
  }

  /** What hooks see of a body of `users`: no secrets. What the operation goes on with: the hook's body and the client's secrets. */
  async function asked(target: Target, recordId: string | null, body: JsonObject | null): Promise<JsonObject> {
    const { call, context } = target;
    const visible = body !== null && target.collection.isUsers ? deps.users.split(body).body : body;
    const answered = await beforeRequest(context, call, { collection: target.collection.name, recordId, body: visible, record: null });
    if (body === null || answered === null) return {};
    if (answered === visible) return body;
    if (!target.collection.isUsers) return answered;
    const { secrets } = deps.users.split(body);
    return { ...deps.users.split(answered).body, ...(secrets as JsonObject) };
  }

  async function keeping<T>(input: WriteInput, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (input.files !== undefined && input.files.length > 0) await files.drop(input.files);
      throw error;
    }
  }

  return {
    collection,
    beforeRequest,

    list: (context, call, name, parameters) =>
      underDefinitions(context, call, name, async (target) => {
        await asked(target, null, null);
        return await listRecords(deps, target, parameters);
      }),

    view: (context, call, name, recordId) =>
      underDefinitions(context, call, name, async (target) => {
        await asked(target, recordId, null);
        return await viewRecord(deps, target, recordId);
      }),

    create: (context, call, name, input) =>
      keeping(input, () => underDefinitions(context, call, name, async (target) => {
        const body = input.system === undefined ? await asked(target, null, input.body) : input.body;
        return await commit(target.context, await prepareCreate(deps, target, { ...input, body }));
      })),

    update: (context, call, name, input) =>
      keeping(input, () => underDefinitions(context, call, name, async (target) => {
        const body = input.system === undefined ? await asked(target, input.recordId, input.body) : input.body;
        return await commit(target.context, await prepareUpdate(deps, target, { ...input, body }));
      })),

    remove: async (context, call, name, input) => {
      await underDefinitions(context, call, name, async (target) => {
        if (input.byEditor !== true) await asked(target, input.recordId, null);
        return await commit(target.context, await prepareRemove(deps, target, input));
      });
    },

    async batch(context, call, input) {
      let current = context;
      for (let round = 1; ; round += 1) {
        try {
          return await runBatch(deps, current, call, input, asked);
        } catch (error) {
          if (!(error instanceof StampChanged) || round === restarts) throw error;
          current = await tenants.get(context.tenant.id);
        }
      }
    },

    demandWritable(_context, call, target, rule) {
      access.demandPossible(call, target, rule);
    },

    async loadForView(context, call, target, recordId) {
      access.demandPossible(call, target, "viewRule");
      return access.demandView(call, target, await context.store.table(target.table).find(recordId));
    },

    async demandReachable(context, call, target, recordId) {
      access.demandPossible(call, target, "updateRule");
      access.demandChange(call, target, "updateRule", await context.store.table(target.table).find(recordId), "early");
    },

    async loadForUpdate(context, call, target, recordId, changed) {
      access.demandPossible(call, target, "updateRule");
      const row = await context.store.table(target.table).find(recordId);
      return access.demandChange(call, target, "updateRule", row, { body: {}, changed });
    },
  };
}
