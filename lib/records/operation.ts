// What the operations on records are built from, and what they take and give.
import type { Clock } from "../core/clock.js";
import type { Call } from "../core/call.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import type { SystemColumns, UserPolicy } from "../auth/auth.js";
import type { Collection } from "../collections/collection.js";
import type { Files, PendingFile } from "../files/files.js";
import type { mergeFiles } from "../files/merge.js";
import type { Hooks } from "../hooks/hooks.js";
import type { TenantContext } from "../tenants/context.js";
import type { Access } from "./access.js";

export interface RecordDeps {
  readonly access: Access;
  readonly hooks: Hooks;
  readonly files: Files;
  readonly mergeFiles: typeof mergeFiles;
  readonly users: UserPolicy;
  readonly clock: Clock;
}

/** A write's input: the body as it came, and the files that came with it, stored but not yet taken. */
export interface WriteInput {
  readonly body: JsonObject;
  readonly files?: readonly PendingFile[] | undefined;
  /** Given where files were stored under it already. */
  readonly id?: string | undefined;
  /** The admin editor of `users`: what no client may set. */
  readonly system?: SystemColumns | undefined;
}

/** One record as an answer. `text` is its JSON, `etag` its entity tag, quotes included. */
export interface RecordAnswer {
  readonly id: string;
  readonly text: string;
  readonly value: RecordValue;
  readonly etag: string;
}

/** Everything that an operation on a collection is about. */
export interface Target {
  readonly call: Call;
  readonly context: TenantContext;
  readonly collection: Collection;
}
