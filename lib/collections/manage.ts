// Collections made, changed in place and removed (contract 3 and 7).
import { timestamp, type Clock } from "../core/clock.js";
import { BadRequest, Conflict, NotFound, ValidationFailed } from "../core/errors.js";
import { newId } from "../core/ids.js";
import { createTurns } from "../core/turns.js";
import type { FileReference, Json, RecordValue } from "../core/record.js";
import { initialUserRules } from "../rules/presets.js";
import type { CollectionDefinition } from "../schema/collection.js";
import { initialUsers, parseCollection } from "../schema/definition.js";
import { indexDefinitions } from "../schema/fields.js";
import { is, text } from "../storage/filter.js";
import { HeadMoved, StampChanged, UniqueViolation, type Operation } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import type { Collection } from "./collection.js";
import { compileCollection, tableOf } from "./compile.js";
import { examineChange } from "./examine-change.js";

export interface CollectionsDeps {
  readonly tenants: TenantRegistry;
  readonly clock: Clock;
  readonly removeFiles: (tenantId: string, collectionId: string) => Promise<void>;
  /** Removes the bytes of files that left a record. */
  readonly filesLeft: (context: TenantContext, collection: Collection, recordId: string, removed: readonly FileReference[]) => void;
}

export interface Collections {
  /** Oldest first. */
  list(context: TenantContext): CollectionDefinition[];
  /** Throws NotFound. */
  get(context: TenantContext, name: string): CollectionDefinition;
  create(context: TenantContext, input: unknown): Promise<CollectionDefinition>;
  /** Any part of a collection. What stored records cannot satisfy is refused, and nothing is written. */
  update(context: TenantContext, name: string, input: unknown): Promise<CollectionDefinition>;
  remove(context: TenantContext, name: string): Promise<void>;
}

/** Times a change is examined anew because records or definitions changed meanwhile. */
const rounds = 50;
const nameTaken = new ValidationFailed([{ field: "name", message: "is taken by another collection" }]);

export function createCollections({ tenants, clock, removeFiles, filesLeft }: CollectionsDeps): Collections {
  function find(context: TenantContext, name: string): Collection {
    const found = context.collections.get(name);
    if (found === undefined) throw new NotFound();
    return found;
  }

  const turns = createTurns();

  /** One change of a tenant at a time, and tries until nobody else comes in between: definitions and records are both as they were looked at. */
  function settle<T>(context: TenantContext, run: (current: TenantContext) => Promise<T>): Promise<T> {
    return turns(context.tenant.id, () => attempt(context, run));
  }

  async function attempt<T>(context: TenantContext, run: (current: TenantContext) => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      const current = await tenants.get(context.tenant.id);
      try {
        return await run(current);
      } catch (error) {
        if (error instanceof UniqueViolation) throw error.fields.includes("name") ? nameTaken : error;
        if (!(error instanceof StampChanged || error instanceof HeadMoved)) throw error;
        if (round === rounds) throw new Conflict("The collection's records or the tenant's definitions are changing all the time; try again");
      }
    }
  }

  return {
    list: (context) => [...context.collections.values()].map(({ definition }) => definition),
    get: (context, name) => find(context, name).definition,

    create: (context, input) =>
      settle(context, async (current) => {
        const content = parseCollection(input);
        if (current.collections.has(content.name)) throw nameTaken;
        const now = timestamp(clock);
        const definition: CollectionDefinition = { id: newId(clock.now()), system: false, createdAt: now, updatedAt: now, ...content };
        demandSound(current, definition);
        await current.store.write({
          stamp: current.stamp,
          bump: true,
          operations: [
            { type: "define", table: tableOf(definition), indexes: indexDefinitions(definition) },
            { type: "insert", table: "collections", record: stored(definition) },
          ],
        });
        return presented(definition);
      }),

    update: (context, name, input) =>
      settle(context, async (current) => {
        const before = find(current, name);
        const content = parseCollection(input, { existing: before.definition });
        const after: CollectionDefinition = { ...before.definition, ...content, updatedAt: timestamp(clock) };
        if (after.name !== name && current.collections.has(after.name)) throw nameTaken;
        demandSound(current, after, before);
        const head = await current.store.changes.head();
        const examined = await examineChange(current, before, after);
        const operations: Operation[] = [
          ...(examined.define === null ? [] : [examined.define]),
          // A new name is told to the log: before it, the history has another collection under this name, or none.
          { type: "update", table: "collections", id: after.id, set: { ...stored(after) }, ...(after.name === name ? {} : { log: { collection: "$collections", content: "id" as const } }) },
          ...(after.name === name ? [] : await renameOperations(current, before, after)),
        ];
        try {
          await current.store.write({ stamp: current.stamp, bump: true, ...(examined.readsRecords ? { head } : {}), operations });
        } catch (error) {
          if (!(error instanceof UniqueViolation) || error.operation !== 0 || examined.define === null) throw error;
          throw new ValidationFailed([{ field: uniquePath(after, error.fields), message: `records hold the same ${error.fields.join(", ")} more than once: make them differ first` }]);
        }
        for (const { recordId, references } of examined.filesLeft) filesLeft(current, before, recordId, references);
        return presented(after);
      }),

    remove: (context, name) =>
      settle(context, async (current) => {
        const collection = find(current, name);
        if (collection.isUsers) throw new BadRequest("users is a system collection, which cannot be removed");
        const holders = [...current.collections.values()].flatMap((other) =>
          other === collection ? [] : other.relations.filter((field) => field.collection === name).map((field) => `${other.name}.${field.name}`));
        if (holders.length > 0) throw new BadRequest(`${name} cannot be removed while ${holders.join(", ")} refers to it: remove that field first`);
        const hooks = await current.store.table("hooks").list({ filter: is(text("collection"), name), limit: 100_000 });
        await current.store.write({
          stamp: current.stamp,
          bump: true,
          operations: [
            { type: "drop", table: collection.table },
            { type: "remove", table: "collections", id: collection.definition.id },
            ...hooks.map((row) => ({ type: "remove" as const, table: "hooks", id: row.id, optional: true })),
          ],
        });
        await removeFiles(current.tenant.id, collection.definition.id);
      }),
  };
}

/** What a new tenant starts with. */
export function initialUsersOperations(id: string, now: string): Operation[] {
  const definition: CollectionDefinition = { id, system: true, createdAt: now, updatedAt: now, ...initialUsers, ...initialUserRules };
  return [
    { type: "define", table: tableOf(definition), indexes: indexDefinitions(definition) },
    { type: "insert", table: "collections", record: stored(definition) },
  ];
}

/** Rules of all collections hold under the new definition, and relations name collections that are there. */
function demandSound(context: TenantContext, after: CollectionDefinition, before?: Collection): void {
  const names = new Set([...context.collections.keys()].filter((name) => name !== before?.name));
  names.add(after.name);
  const errors = after.fields.flatMap((field, index) =>
    field.type !== "RELATION" || names.has(field.collection) || field.collection === before?.name ? []
      : [{ field: `fields[${index}].collection`, message: `${JSON.stringify(field.collection)} is no collection of this tenant` }]);
  const userFields = after.system ? after.fields : context.collections.get("users")?.definition.fields ?? [];
  errors.push(...compileCollection(after, userFields).errors);
  if (after.system) {
    // What `@auth` reads has changed: every other collection's rules are looked at again.
    for (const other of context.collections.values()) {
      if (other.isUsers) continue;
      for (const fault of compileCollection(other.definition, userFields).errors) errors.push({ field: "fields", message: `${other.name}.${fault.field} would no longer hold: ${fault.message}` });
    }
  }
  if (errors.length > 0) throw new ValidationFailed(errors);
}

/** Relations of all collections and hooks name collections: they follow a new name. */
async function renameOperations(context: TenantContext, before: Collection, after: CollectionDefinition): Promise<Operation[]> {
  const operations: Operation[] = [];
  for (const collection of context.collections.values()) {
    const { id, fields } = collection === before ? after : collection.definition;
    if (!fields.some((field) => field.type === "RELATION" && field.collection === before.name)) continue;
    const renamed = fields.map((field) => (field.type === "RELATION" && field.collection === before.name ? { ...field, collection: after.name } : field));
    operations.push({ type: "update", table: "collections", id, set: { fields: renamed as unknown as Json } });
  }
  const hooks = await context.store.table("hooks").list({ filter: is(text("collection"), before.name), limit: 100_000 });
  for (const row of hooks) operations.push({ type: "update", table: "hooks", id: row.id, set: { collection: after.name }, optional: true });
  return operations;
}

/** Where the definition asks for what the records do not keep. */
function uniquePath(definition: CollectionDefinition, names: readonly string[]): string {
  const index = names.length === 1 ? definition.fields.findIndex((field) => field.name === names[0] && field.unique) : -1;
  return index < 0 ? "indexes" : `fields[${index}].unique`;
}

function stored(definition: CollectionDefinition): RecordValue {
  return definition as unknown as RecordValue;
}

function presented(definition: CollectionDefinition): CollectionDefinition {
  const { id, name, system, fields, indexes, listRule, viewRule, createRule, updateRule, deleteRule, realtime, createdAt, updatedAt } = definition;
  return { id, name, system, fields, indexes, listRule, viewRule, createRule, updateRule, deleteRule, realtime, createdAt, updatedAt };
}
