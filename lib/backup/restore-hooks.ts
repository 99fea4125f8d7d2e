// Hooks out of an archive. Their secrets were sealed by the service that made the backup: another one cannot open them.
import { BadRequest, ValidationFailed } from "../core/errors.js";
import { newSecret } from "../core/ids.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import type { HookDefinition } from "../hooks/definition.js";
import type { Hidden, Insert } from "../storage/storage.js";
import { paths, type HookLine } from "./format.js";
import type { Archive } from "./read-archive.js";

export interface RestoreHooksDeps {
  /** What was sealed; undefined where another service has sealed it. */
  readonly unseal: (sealed: string) => string | undefined;
  /** The hook as a superadmin could have saved it. Throws ValidationFailed. */
  readonly checkHook: (input: JsonObject, collections: ReadonlyMap<string, unknown>) => Omit<HookDefinition, "id" | "createdAt" | "updatedAt">;
  readonly hookRow: (hook: HookDefinition) => { readonly record: RecordValue; readonly hidden: Hidden };
}

/** The operations, and what could not come back as it was. Throws BadRequest. */
export function restoreHooks(deps: RestoreHooksDeps, { hooks, collections }: Archive): { readonly operations: Insert[]; readonly warnings: string[] } {
  const warnings: string[] = [];
  const operations = hooks.map((line): Insert => {
    const { hook, opened } = restoreHook(deps, line, collections);
    if (!opened) warnings.push(`The hook ${hook.id} (${hook.event}) is disabled and has a new secret and no headers: its own were sealed by another service`);
    return { type: "insert", table: "hooks", ...deps.hookRow(hook) };
  });
  return { operations, warnings };
}

function restoreHook({ unseal, checkHook }: RestoreHooksDeps, { hook, sealed }: HookLine, collections: ReadonlyMap<string, unknown>): { readonly hook: HookDefinition; readonly opened: boolean } {
  const text = unseal(sealed);
  const secrets = text === undefined ? { secret: newSecret(), headers: {} } : (JSON.parse(text) as Pick<HookDefinition, "secret" | "headers">);
  const { id, createdAt, updatedAt } = hook;
  if (typeof createdAt !== "string" || typeof updatedAt !== "string") throw new BadRequest(`${paths.hooks} holds the hook ${id} without its times`);
  try {
    const draft = checkHook({ ...hook, ...secrets }, collections);
    return { hook: { id, createdAt, updatedAt, ...draft, enabled: draft.enabled && text !== undefined }, opened: text !== undefined };
  } catch (error) {
    throw error instanceof ValidationFailed ? new BadRequest(`${paths.hooks} holds the hook ${id}, which cannot be: ${error.message}`) : error;
  }
}
