// What a client asks to be told about: `tasks`, `tasks/<id>`. Read from untrusted input, then checked against the tenant.
import { BadRequest, NotFound } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";

const maxSubscriptions = 100;
const maxIdLength = 100;

/** By collection: the whole of it, or single records. */
export type Wanted = ReadonlyMap<string, "all" | ReadonlySet<string>>;

export interface SubscribeInput {
  readonly clientId: string;
  /** As given, each once. */
  readonly subscriptions: readonly string[];
  /** A change id; undefined: from now on. */
  readonly since: string | undefined;
}

/** Reads the body of a subscribe. Throws BadRequest. */
export function parseSubscribe(body: JsonObject): SubscribeInput {
  const { clientId, subscriptions, since } = body;
  if (typeof clientId !== "string" || clientId === "") throw new BadRequest("clientId must be the text that the stream's connect event gave");
  if (!Array.isArray(subscriptions)) throw new BadRequest('subscriptions must be a list like ["tasks", "tasks/<id>"]');
  if (subscriptions.length > maxSubscriptions) throw new BadRequest(`subscriptions has ${subscriptions.length} entries; at most ${maxSubscriptions} are possible`);
  for (const entry of subscriptions as readonly unknown[]) {
    if (!isSubscription(entry)) throw new BadRequest('each entry of subscriptions must be the name of a collection, or a name, "/" and the id of a record');
  }
  if (since !== undefined && since !== null && typeof since !== "string") throw new BadRequest("since must be the id of an event");
  return { clientId, subscriptions: [...new Set(subscriptions as readonly string[])], since: since ?? undefined };
}

function isSubscription(entry: unknown): entry is string {
  if (typeof entry !== "string" || entry.length > maxIdLength * 2) return false;
  const [name, id, ...more] = entry.split("/");
  return more.length === 0 && name !== "" && (id === undefined || (id !== "" && id.length <= maxIdLength));
}

/** Sorts the entries by collection. Throws NotFound for an unknown collection, BadRequest where it has no realtime. */
export function toWanted(subscriptions: readonly string[], collections: ReadonlyMap<string, Collection>): Wanted {
  const wanted = new Map<string, "all" | Set<string>>();
  for (const entry of subscriptions) {
    const [name = "", id] = entry.split("/");
    const collection = collections.get(name);
    if (collection === undefined) throw new NotFound("Unknown collection");
    if (!hasRealtime(collection)) throw new BadRequest(`Realtime is off for the collection ${name}`);
    const known = wanted.get(name);
    if (id === undefined) wanted.set(name, "all");
    else if (known === undefined) wanted.set(name, new Set([id]));
    else if (known !== "all") known.add(id);
  }
  return wanted;
}

/** Whether changes of the collection are ever told. `users` never are. */
export function hasRealtime(collection: Collection): boolean {
  return collection.definition.realtime && !collection.isUsers;
}
