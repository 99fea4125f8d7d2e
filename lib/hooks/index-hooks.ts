// The look-up of a tenant's hooks by event and collection, prepared once for each set of definitions.
import type { HookDefinition } from "./definition.js";

/** Enabled hooks of one event and collection (null for beforeRequest), in priority order. */
export type HookIndex = (event: string, collection: string | null) => readonly HookDefinition[];

const none: readonly HookDefinition[] = Object.freeze([]);

/** Prepares the look-up. Disabled hooks are left out; equal priorities keep the order of creation. */
export function indexHooks(definitions: readonly HookDefinition[]): HookIndex {
  const byEvent = new Map<string, Map<string | null, HookDefinition[]>>();
  for (const hook of definitions) {
    if (!hook.enabled) continue;
    const byCollection = byEvent.get(hook.event) ?? new Map<string | null, HookDefinition[]>();
    byEvent.set(hook.event, byCollection);
    const hooks = byCollection.get(hook.collection);
    if (hooks === undefined) byCollection.set(hook.collection, [hook]);
    else hooks.push(hook);
  }
  for (const byCollection of byEvent.values()) {
    for (const hooks of byCollection.values()) hooks.sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  }
  return (event, collection) => byEvent.get(event)?.get(collection) ?? none;
}
