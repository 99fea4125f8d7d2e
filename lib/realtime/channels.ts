// Channels: one for each tenant with a subscription, opened with the first and closed with the last; and what ends
// subscriptions from outside of a tenant: time, the superadmin, the removal of a tenant.
import type { Storage } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import { Channel, type ChannelDeps } from "./channel.js";
import type { NewMembership } from "./members.js";
import type { Membership } from "./membership.js";

/** Milliseconds. Expiry goes by the service's clock, which a timer cannot know. */
const expiryInterval = 1_000;
/** Every so many looks at the clock, the tenants are looked at too. */
const looksPerCheck = 5;

export interface Channels {
  /** The membership, watched from now on but not yet receiving. Throws Unauthorized where its user or tenant is gone. */
  enter(context: TenantContext, wanted: NewMembership): Promise<Membership>;
  leave(membership: Membership): void;
  of(membership: Membership): Channel;
  readonly count: number;
  close(): Promise<void>;
}

interface OpenChannel {
  readonly channel: Channel;
  readonly started: Promise<void>;
  /** Memberships, and those on their way to become one. */
  uses: number;
}

export function createChannels(deps: ChannelDeps & { readonly storage: Storage }): Channels {
  const open = new Map<string, OpenChannel>();
  const channelOf = new WeakMap<Membership, OpenChannel>();
  let timer: NodeJS.Timeout | undefined;
  let looks = 0;
  let system: Promise<() => void> | undefined;

  function use(context: TenantContext): OpenChannel {
    const tenantId = context.tenant.id;
    let entry = open.get(tenantId);
    if (entry === undefined) {
      const channel = new Channel(deps, context);
      entry = { channel, started: channel.start(), uses: 0 };
      entry.started.catch(() => undefined);
      open.set(tenantId, entry);
      timer ??= setInterval(look, expiryInterval).unref();
    }
    entry.uses += 1;
    return entry;
  }

  function release(entry: OpenChannel): void {
    entry.uses -= 1;
    if (entry.uses > 0) return;
    entry.channel.stop();
    if (open.get(entry.channel.tenantId) === entry) open.delete(entry.channel.tenantId);
    if (open.size === 0) stopWatching();
  }

  function stopWatching(): void {
    clearInterval(timer);
    timer = undefined;
    system?.then((stop) => stop(), () => undefined);
    system = undefined;
  }

  function look(): void {
    const now = deps.clock.now();
    looks += 1;
    for (const { channel } of open.values()) {
      channel.endWhere(({ expiresAt }) => expiresAt !== null && expiresAt <= now);
      if (looks % looksPerCheck === 0) void channel.check();
    }
  }

  /** Listens to what concerns the whole instance. */
  async function watchSystem(): Promise<void> {
    system ??= deps.storage.system.changes.listen((changes) => {
      for (const { collection } of changes) {
        if (collection === "$superadmin") endSuperadmins();
        if (collection === "$tenants") for (const { channel } of open.values()) void channel.check();
      }
    });
    const listening = system;
    try {
      await listening;
    } catch (error) {
      if (system === listening) system = undefined;
      throw error;
    }
  }

  function endSuperadmins(): void {
    for (const { channel } of open.values()) channel.endWhere(({ type }) => type === "superadmin");
  }

  return {
    async enter(context, wanted) {
      const entry = use(context);
      try {
        await watchSystem();
        await entry.started;
        const membership = await entry.channel.enter(wanted);
        channelOf.set(membership, entry);
        return membership;
      } catch (error) {
        release(entry);
        throw error;
      }
    },
    leave(membership) {
      const entry = channelOf.get(membership);
      if (entry === undefined) return;
      channelOf.delete(membership);
      entry.channel.leave(membership);
      release(entry);
    },
    of(membership) {
      return channelOf.get(membership)!.channel;
    },
    get count() {
      return open.size;
    },
    async close() {
      for (const { channel } of [...open.values()]) {
        channel.endWhere(() => true);
        channel.stop();
      }
      open.clear();
      stopWatching();
    },
  };
}
