// What a Define's transform does to one document, for every engine.
import type { Json } from "../core/record.js";
import type { Transform } from "./storage.js";

/** Gives the document transformed, undefined where nothing changes. Removals come first, then renames, then additions. */
export function compileTransform(transform: Transform): (document: Readonly<Record<string, Json>>) => Record<string, Json> | undefined {
  const remove = new Set(transform.remove);
  const rename = new Map(Object.entries(transform.rename ?? {}));
  const add = Object.entries(transform.add ?? {});
  return (document) => {
    const result = new Map<string, Json>();
    const renamed = new Set<string>();
    let changed = false;
    for (const [name, value] of Object.entries(document)) {
      const newName = rename.get(name);
      if (remove.has(name)) {
        changed = true;
      } else if (newName !== undefined) {
        result.set(newName, value);
        renamed.add(newName);
        changed = true;
      } else if (!renamed.has(name)) {
        // Where a renamed member takes the name of one that was there, the renamed one stays.
        result.set(name, value);
      }
    }
    for (const [name, value] of add) {
      if (result.has(name)) continue;
      result.set(name, value);
      changed = true;
    }
    return changed ? Object.fromEntries(result) : undefined;
  };
}
