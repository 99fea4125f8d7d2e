// Pending after-hook deliveries as rows of the tenant's store: put in with the write, claimed, ended, sent again.
//
// `dueAt` is when a row may be taken next; whoever takes it moves it ahead as a lease, so that it comes back by itself
// where the process dies. Of the deliveries of one hook about one record only the oldest is ever `pending`, as far as
// anybody has looked; the ones behind it are `waiting`, so that they arrive in order.
import type { RecordValue } from "../core/record.js";
import { all, any, is, isOneOf, text, type Filter } from "../storage/filter.js";
import { ConditionMissed, type Insert, type Operation, type Row, type Store } from "../storage/storage.js";

/** The table of deliveries in a tenant's store. */
export const deliveriesTable = "deliveries";

export type DeliveryState = "pending" | "waiting" | "dead";

/** What is kept of a delivery beside the text of its envelope. */
export interface PendingDelivery {
  /** The delivery id. */
  readonly id: string;
  readonly hookId: string;
  readonly event: string;
  readonly collection: string;
  readonly recordId: string | null;
  readonly requestId: string;
  readonly state: DeliveryState;
  /** ISO 8601. */
  readonly dueAt: string;
  /** Attempts that were made. */
  readonly attempt: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface StoredDelivery extends PendingDelivery {
  /** Hook and record; empty where no order is to be kept. */
  readonly orderKey: string;
  /** The process that has taken it; empty: nobody. */
  readonly owner: string;
}

/** Milliseconds that a taken delivery stays taken without a sign of life. */
export const leaseMs = 6_000;

const live = isOneOf(text("state"), ["pending", "waiting"]);
const pending = is(text("state"), "pending");
const waiting = is(text("state"), "waiting");
const before = (field: string, value: string, orEqual = false): Filter => ({ op: "less", left: text(field), right: { value }, orEqual });
const byDue = { field: "dueAt", kind: "text", descending: false } as const;
const iso = (ms: number): string => new Date(ms).toISOString();

export function readDelivery(row: Row): StoredDelivery {
  return row.record as unknown as StoredDelivery;
}

/** The envelope's JSON, as it is sent each time. */
export function envelopeOf(row: Row): string {
  return row.hidden["body"] as string;
}

/** The operation that puts a delivery into the unit of the write that causes it. */
export function insertDelivery(delivery: Pick<PendingDelivery, "id" | "hookId" | "event" | "collection" | "recordId" | "requestId">, envelope: string, now: number): Insert {
  const at = iso(now);
  const { id, hookId, event, collection, recordId, requestId } = delivery;
  const stored: StoredDelivery = {
    id, createdAt: at, updatedAt: at, hookId, event, collection, recordId, requestId,
    state: "pending", dueAt: at, attempt: 0, owner: "",
    orderKey: recordId === null ? "" : `${hookId}/${collection}/${recordId}`,
  };
  return { type: "insert", table: deliveriesTable, record: stored as unknown as RecordValue, hidden: { body: envelope } };
}

/** Up to `limit` deliveries of the hook that may be taken now, the one due longest first. */
export function listDue(store: Store, hookId: string, now: number, limit: number): Promise<Row[]> {
  return store.table(deliveriesTable).list({ filter: all(pending, is(text("hookId"), hookId), before("dueAt", iso(now), true)), sort: byDue, limit });
}

/** When the hook's next delivery may be taken, milliseconds since the epoch; undefined where none is pending. */
export async function nextDue(store: Store, hookId: string): Promise<number | undefined> {
  const [row] = await store.table(deliveriesTable).list({ filter: all(pending, is(text("hookId"), hookId)), sort: byDue, limit: 1 });
  return row === undefined ? undefined : Date.parse(readDelivery(row).dueAt);
}

/** The ids of the hooks that have pending deliveries, without reading those. */
export async function* hooksWithPending(store: Store): AsyncGenerator<string> {
  for (let last = ""; ;) {
    const [row] = await store.table(deliveriesTable).list({
      filter: all(pending, { op: "less", left: { value: last }, right: text("hookId"), orEqual: false }),
      sort: { field: "hookId", kind: "text", descending: false },
      limit: 1,
    });
    if (row === undefined) return;
    last = readDelivery(row).hookId;
    yield last;
  }
}

/** Takes the delivery for `owner`, where nobody else has and nothing older about the record is still to go. A younger one is set aside. */
export async function claim(store: Store, row: Row, owner: string, now: number): Promise<boolean> {
  const { orderKey } = readDelivery(row);
  const older = all(is(text("orderKey"), orderKey), live, before("id", row.id));
  const take: Operation = { type: "update", table: deliveriesTable, id: row.id, revision: row.revision, set: { dueAt: iso(now + leaseMs), owner, updatedAt: iso(now) } };
  try {
    await store.write({ operations: orderKey === "" ? [take] : [take, { type: "absent", table: deliveriesTable, filter: older }] });
    return true;
  } catch (error) {
    if (!(error instanceof ConditionMissed)) throw error;
    if (error.operation === 1) await setAside(store, row, older, now);
    return false;
  }
}

/** Marks the row as waiting for an older one; and calls that one up, should it be waiting itself. */
async function setAside(store: Store, row: Row, older: Filter, now: number): Promise<void> {
  const [first] = await store.table(deliveriesTable).list({ filter: older, limit: 1 });
  if (first === undefined) return;
  try {
    await store.write({
      operations: [
        // Both fail where the older one has ended meanwhile: then this row stays pending and is taken in the next round.
        { type: "exists", table: deliveriesTable, id: first.id },
        { type: "absent", table: deliveriesTable, filter: all(is(text("id"), first.id), is(text("state"), "dead")) },
        { type: "update", table: deliveriesTable, id: row.id, revision: row.revision, set: { state: "waiting", updatedAt: iso(now) } },
        { type: "update", table: deliveriesTable, id: first.id, where: waiting, optional: true, set: { state: "pending", dueAt: iso(now), updatedAt: iso(now) } },
      ],
    });
  } catch (error) {
    if (!(error instanceof ConditionMissed)) throw error;
  }
}

/** Tells the others that the delivery is still being worked at. */
export async function renew(store: Store, id: string, owner: string, now: number): Promise<void> {
  await store.write({ operations: [{ type: "update", table: deliveriesTable, id, where: is(text("owner"), owner), optional: true, set: { dueAt: iso(now + leaseMs) } }] });
}

/** Gives the delivery back, to be taken again at `dueAt`. */
export async function putBack(store: Store, id: string, owner: string, attempt: number, dueAt: number, now: number): Promise<void> {
  await store.write({
    operations: [{
      type: "update", table: deliveriesTable, id, where: is(text("owner"), owner), optional: true,
      set: { dueAt: iso(dueAt), owner: "", attempt, updatedAt: iso(now) },
    }],
  });
}

/** Ends the delivery, removed or dead, and calls up the next one about the same record. True where there is one. */
export async function end(store: Store, row: Row, owner: string, outcome: "removed" | { readonly deadAfter: number }, now: number): Promise<boolean> {
  const mine = { table: deliveriesTable, id: row.id, where: is(text("owner"), owner), optional: true } as const;
  const ending: Operation = outcome === "removed"
    ? { type: "remove", ...mine }
    : { type: "update", ...mine, set: { state: "dead", owner: "", attempt: outcome.deadAfter, dueAt: iso(now), updatedAt: iso(now) } };
  const { orderKey } = readDelivery(row);
  if (orderKey === "") {
    await store.write({ operations: [ending] });
    return false;
  }
  const behind = all(is(text("orderKey"), orderKey), waiting);
  for (let attempt = 1; ; attempt += 1) {
    const [next] = await store.table(deliveriesTable).list({ filter: behind, limit: 1 });
    const following: Operation = next === undefined
      ? { type: "absent", table: deliveriesTable, filter: behind }
      : { type: "update", table: deliveriesTable, id: next.id, where: waiting, optional: true, set: { state: "pending", dueAt: iso(now), updatedAt: iso(now) } };
    try {
      await store.write({ operations: [ending, following] });
      return next !== undefined;
    } catch (error) {
      // One was set aside between the two: look again.
      if (!(error instanceof ConditionMissed) || attempt === 5) throw error;
    }
  }
}

/** Sends a dead delivery again, with a full plan of attempts; one that waits for its next attempt is due at once. False: it is under way or waits its turn. */
export async function revive(store: Store, id: string, now: number): Promise<boolean> {
  const { rows } = await store.write({
    operations: [{
      type: "update", table: deliveriesTable, id, optional: true,
      where: any(is(text("state"), "dead"), all(pending, is(text("owner"), ""))),
      set: { state: "pending", dueAt: iso(now), attempt: 0, owner: "", updatedAt: iso(now) },
    }],
  });
  return rows[0] !== undefined;
}

/** Calls up deliveries that wait for nothing any more, as an engine without atomic units may leave them. True where there was one. */
export async function repair(store: Store, now: number): Promise<boolean> {
  const rows = await store.table(deliveriesTable).list({ filter: waiting, limit: 100 });
  let found = false;
  for (const orderKey of new Set(rows.map((row) => readDelivery(row).orderKey))) {
    const [first] = await store.table(deliveriesTable).list({ filter: all(is(text("orderKey"), orderKey), live), limit: 1 });
    if (first === undefined || readDelivery(first).state !== "waiting") continue;
    found = true;
    await store.write({ operations: [{ type: "update", table: deliveriesTable, id: first.id, where: waiting, optional: true, set: { state: "pending", dueAt: iso(now), updatedAt: iso(now) } }] });
  }
  return found;
}

/** Removes deliveries that died before `olderThan` (milliseconds since the epoch), at most a hundred. */
export async function forgetDead(store: Store, olderThan: number): Promise<void> {
  const rows = await store.table(deliveriesTable).list({ filter: all(is(text("state"), "dead"), before("dueAt", iso(olderThan))), sort: byDue, limit: 100 });
  if (rows.length === 0) return;
  await store.write({ operations: rows.map((row) => ({ type: "remove", table: deliveriesTable, id: row.id, where: is(text("state"), "dead"), optional: true })) });
}

/** Deliveries of one state, newest first. */
export async function listDeliveries(store: Store, state: DeliveryState, limit: number, olderThan: string | undefined): Promise<PendingDelivery[]> {
  const filter = olderThan === undefined ? is(text("state"), state) : all(is(text("state"), state), before("id", olderThan));
  const rows = await store.table(deliveriesTable).list({ filter, sort: { field: "id", kind: "text", descending: true }, limit });
  return rows.map((row) => {
    const { orderKey: _orderKey, owner: _owner, ...shown } = readDelivery(row);
    return shown;
  });
}
