// What a hook is (interface, Hook; contract 7).

export const collectionEvents = ["beforeList", "beforeView", "beforeCreate", "afterCreate", "beforeUpdate", "afterUpdate", "beforeDelete", "afterDelete"] as const;
export const authEvents = ["beforeRegister", "afterRegister", "beforeLogin", "afterLogin", "beforeRefresh", "afterRefresh"] as const;
export const hookEvents = ["beforeRequest", ...collectionEvents, ...authEvents] as const;
export type HookEvent = (typeof hookEvents)[number];

export interface HookDefinition {
  readonly id: string;
  /** null for beforeRequest. */
  readonly collection: string | null;
  readonly event: HookEvent;
  readonly url: string;
  readonly method: string;
  /** Milliseconds, 1 to 30000. */
  readonly timeoutMs: number;
  /** Never read back over HTTP. */
  readonly secret: string;
  /** Lower runs first. */
  readonly priority: number;
  readonly enabled: boolean;
  readonly includeSchema: boolean;
  /** Lower-case, comma-separated. */
  readonly forwardHeaders: string;
  readonly failOpen: boolean;
  /** Values are never read back over HTTP. */
  readonly headers: Readonly<Record<string, string>>;
  /** beforeRequest only. */
  readonly match: { readonly collections?: readonly string[]; readonly methods?: readonly string[] } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}
