// replay: what a membership may see and has missed since a change, then live, without a gap and without a double.
import { timestamp, type Clock } from "../core/clock.js";
import { describeError, type Logger } from "../core/logger.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import { systemFields } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Change } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import { hasRecord, type Channel } from "./channel.js";
import type { Membership } from "./membership.js";
import { RecordEvent, type Present, type RecordChange } from "./record-event.js";
import { hasRealtime } from "./subscriptions.js";
import { createView, type View } from "./view.js";

const page = 200;
const maxIdLength = 200;
/** Bytes after which the consumer gets time to read. */
const bytesPerTurn = 64 * 1024;

export interface ReplayDeps {
  readonly present: Present;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Changes that the history holds. The store may keep more for a while: nobody is told of those. */
  readonly keep: number;
}

/**
 * Far behind, it reads and sends at the consumer's pace, beside the live events of others; the last step is taken
 * between two changes. Never throws: where it cannot go on the subscriber is cut off and may come back.
 */
export async function replay(deps: ReplayDeps, channel: Channel, membership: Membership, since: string): Promise<void> {
  const { subscriber } = membership;
  try {
    const ids = idsOf(await channel.context(), membership);
    if (!(await isTruthful(channel, ids, since, deps.keep))) {
      await resync(channel, membership);
      return;
    }
    let position = since;
    while (!isOver(membership)) {
      const changes = await readAfter(channel, position);
      if (changes === undefined) {
        await resync(channel, membership);
        return;
      }
      if (isFew(changes)) {
        if (await lastStep(deps, channel, membership, ids, position)) return;
      } else if (await send(deps, await channel.context(), membership, ids, changes, true)) {
        position = changes.at(-1)!.id;
      } else {
        await resync(channel, membership);
        return;
      }
    }
  } catch (error) {
    if (!isOver(membership)) deps.logger.warn({ error: describeError(error) }, "a realtime replay failed; the stream is cut off");
    subscriber.abort();
  }
}

/** The ids of the wanted collections, by name. */
type Ids = ReadonlyMap<string, string>;

function idsOf({ collections }: TenantContext, { wanted }: Membership): Ids {
  return new Map([...wanted.keys()].flatMap((name) => {
    const collection = collections.get(name);
    return collection === undefined ? [] : [[name, collection.definition.id] as const];
  }));
}

/** Whether the history reaches back to there, and had none of these collections under another name since. */
async function isTruthful(channel: Channel, ids: Ids, since: string, keep: number): Promise<boolean> {
  const renamable = new Set(ids.values());
  let position = since;
  let count = 0;
  for (;;) {
    const changes = await readAfter(channel, position);
    if (changes === undefined) return false;
    count += changes.length;
    if (count > keep) return false;
    if (changes.some(({ collection, recordId }) => collection === "$collections" && renamable.has(recordId))) return false;
    if (changes.length < page) return true;
    position = changes.at(-1)!.id;
  }
}

/** Between two changes: sends what is left up to the channel's position and goes live. false: too much is left. */
function lastStep(deps: ReplayDeps, channel: Channel, membership: Membership, ids: Ids, position: string): Promise<boolean> {
  return channel.whenCaughtUp(async () => {
    if (isOver(membership)) return true;
    const context = await channel.context();
    let isTold = true;
    if (position !== channel.position) {
      const changes = await readAfter(channel, position);
      if (changes === undefined || !isFew(changes)) return false;
      const last = changes.findIndex((change) => change.id === channel.position);
      // What is newer than the channel's position comes live. Without that position in sight nobody knows what does.
      isTold = last !== -1 && (await send(deps, context, membership, ids, changes.slice(0, last + 1), false));
    }
    if (isTold) membership.subscriber.position(channel.position);
    else membership.subscriber.resync(channel.position);
    channel.listen(membership, context);
    return true;
  });
}

/** Says that the history does not reach back, and goes live. */
function resync(channel: Channel, membership: Membership): Promise<void> {
  return channel.whenCaughtUp(async () => {
    if (isOver(membership)) return;
    const context = await channel.context();
    membership.subscriber.resync(channel.position);
    channel.listen(membership, context);
  });
}

/** Few enough to be sent at once, between two changes. */
function isFew(changes: readonly Change[]): boolean {
  return changes.length < page / 2 && changes.reduce((bytes, change) => bytes + (change.text?.length ?? 0), 0) < bytesPerTurn * 2;
}

function isOver(membership: Membership): boolean {
  return membership.hasEnded || !membership.isCurrent(membership);
}

/** undefined: the history does not reach back to it. "" is no position that a client could hold. */
async function readAfter(channel: Channel, position: string): Promise<Change[] | undefined> {
  if (position === "" || position.length > maxIdLength) return undefined;
  return await channel.log.since(position, page);
}

/** Sends what of it may be seen under the rules as they are now. false: the history cannot be told truthfully any more. */
async function send(deps: ReplayDeps, context: TenantContext, membership: Membership, ids: Ids, changes: readonly Change[], patiently: boolean): Promise<boolean> {
  const now = timestamp(deps.clock);
  const views = new Map<string, View>();
  let bytes = 0;
  for (const change of changes) {
    const collection = context.collections.get(change.collection);
    if (collection === undefined || !wants(membership, change) || !hasRealtime(collection) || !hasRecord(change)) continue;
    // Another collection has this name now, or had it then, with other rules: nothing of it may be judged by these.
    if (collection.definition.id !== ids.get(collection.name) || change.record.createdAt < collection.definition.createdAt) return false;
    let view = views.get(collection.name);
    if (view === undefined) views.set(collection.name, (view = createView(collection.rules.viewRule, membership.person)));
    if (!view(change.record, now)) continue;
    membership.subscriber.deliver(new RecordEvent(asOfNow(change, collection), collection, deps.present));
    bytes += change.text?.length ?? 1024;
    if (!patiently || bytes < bytesPerTurn) continue;
    bytes = 0;
    await membership.subscriber.ready();
    if (isOver(membership)) return true;
  }
  if (patiently) await membership.subscriber.ready();
  return true;
}

function wants({ wanted }: Membership, change: Change): boolean {
  const records = wanted.get(change.collection);
  return records === "all" || records?.has(change.recordId) === true;
}

/** Without members that the collection no longer has: nobody may read them by GET either. */
function asOfNow(change: RecordChange, collection: Collection): RecordChange {
  const { record } = change;
  const isKnown = (member: string) => collection.fields.has(member) || (systemFields as readonly string[]).includes(member);
  if (Object.keys(record).every(isKnown)) return change;
  const kept = Object.fromEntries(Object.entries(record as JsonObject).filter(([member]) => isKnown(member))) as RecordValue;
  const { id, collection: name, action, recordId, at } = change;
  return { id, collection: name, action, recordId, at, record: kept, text: JSON.stringify(kept) };
}
