// The front door of realtime/: streams of clients and iterators of host code, fed from the tenants' change logs.
import type { Caller } from "../core/call.js";
import type { Clock } from "../core/clock.js";
import { Forbidden, NotFound, ShuttingDown, Unauthorized } from "../core/errors.js";
import type { Logger } from "../core/logger.js";
import type { Storage } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { createChannels } from "./channels.js";
import { createHeartbeat } from "./heartbeat.js";
import { createHistory } from "./history.js";
import { credentialOf, type Membership } from "./membership.js";
import { createOutbox } from "./outbox.js";
import type { Present } from "./record-event.js";
import { replay } from "./replay.js";
import type { Sink } from "./sink.js";
import { Stream } from "./stream.js";
import { toWanted, type SubscribeInput } from "./subscriptions.js";
import { Watcher, type WatchEvent } from "./watcher.js";

export interface RealtimeDeps {
  readonly storage: Storage;
  readonly tenants: TenantRegistry;
  readonly present: Present;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: {
    /** Milliseconds between heartbeats on a stream. */
    readonly heartbeat: number;
    /** Bytes that may wait for a consumer. */
    readonly maxBuffer: number;
    /** Changes kept for each tenant. */
    readonly history: number;
  };
}

export interface WatchOptions {
  /** Only this record. */
  readonly id?: string | undefined;
  /** A change id: what was missed since then comes first. */
  readonly since?: string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

export interface RealtimeStats {
  /** Open streams, those that have not subscribed included. */
  readonly streams: number;
  readonly subscribed: number;
  /** Iterators of host code. */
  readonly watchers: number;
  /** Tenants with a subscription. */
  readonly tenants: number;
  /** Streams cut off because they did not read, since the start. */
  readonly cutOff: number;
}

export interface Realtime {
  /**
   * Opens a stream: sends the connect event, and heartbeats until it is gone. `open` gives the sink, and calls `gone`
   * later, once the client has left. Returns the client id. Throws ShuttingDown.
   */
  connect(open: (gone: () => void) => Sink): string;
  /**
   * Sets what the stream receives, in place of what it did, under this credential. `recheck` runs once the credential
   * is watched, and throws where it was revoked in between. Throws NotFound (stream, collection), Forbidden (another
   * user's stream), BadRequest (a collection without realtime), Unauthorized (guests).
   */
  subscribe(context: TenantContext, caller: Caller, input: SubscribeInput, recheck?: () => Promise<unknown>): Promise<readonly string[]>;
  /** The changes of one collection that the caller may see. Throws NotFound, BadRequest. It begins with the call. */
  watch(context: TenantContext, caller: Caller, mountPath: string, collection: string, options?: WatchOptions): AsyncIterableIterator<WatchEvent>;
  stats(): RealtimeStats;
  /** Trims every tenant's history to `options.history`. Harmless at any time. */
  trim(): Promise<void>;
  /** Ends every stream and iterator. A second call is harmless. */
  close(): Promise<void>;
}

export function createRealtime(deps: RealtimeDeps): Realtime {
  const { clock, logger, options, present, storage, tenants } = deps;
  const streams = new Map<string, Stream>();
  const watchers = new Set<Watcher>();
  const outbox = createOutbox();
  const heartbeat = createHeartbeat(options.heartbeat);
  const history = createHistory({ tenants, storage, logger, keep: options.history });
  const channels = createChannels({ storage, tenants, present, clock, logger, flushed: outbox.flushed, worked: history.worked });
  let isClosed = false;
  let cutOff = 0;

  function closed(stream: Stream, reason: "ended" | "gone" | "slow"): void {
    streams.delete(stream.clientId);
    heartbeat.remove(stream);
    if (reason === "slow") {
      cutOff += 1;
      logger.info({ clientId: stream.clientId }, "a realtime stream was cut off because its client does not read");
    }
    if (stream.membership !== undefined) channels.leave(stream.membership);
  }

  /** Puts the membership in force, and the replay on its way where there is one. */
  async function begin(membership: Membership, since: string | undefined, takeForce: () => void): Promise<void> {
    const channel = channels.of(membership);
    await channel.whenCaughtUp(async () => {
      if (membership.hasEnded) throw new Unauthorized();
      const now = await channel.context();
      takeForce();
      if (since !== undefined || membership.wanted.size === 0) return;
      channel.listen(membership, now);
      membership.subscriber.position(channel.position);
    });
    if (since !== undefined && membership.wanted.size > 0) void replay({ present, clock, logger, keep: options.history }, channel, membership, since);
  }

  async function subscribe(context: TenantContext, caller: Caller, input: SubscribeInput, recheck?: () => Promise<unknown>): Promise<readonly string[]> {
    if (caller.type === "guest") throw new Unauthorized();
    const stream = streams.get(input.clientId);
    if (stream === undefined) throw new NotFound("Unknown clientId");
    const credential = credentialOf(caller, true);
    demandOwner(stream, context.tenant.id, credential.userId);
    const wanted = toWanted(input.subscriptions, context.collections);
    const membership = await channels.enter(context, {
      subscriber: stream, credential, wanted, isCurrent: (candidate) => stream.membership === candidate,
    });
    try {
      await recheck?.();
      await begin(membership, input.since, () => {
        if (stream.isClosed) throw new NotFound("Unknown clientId");
        // Two first subscribes may have come at once.
        demandOwner(stream, context.tenant.id, credential.userId);
        const former = stream.membership;
        stream.membership = membership;
        if (former !== undefined) channels.leave(former);
      });
    } catch (error) {
      channels.leave(membership);
      throw error;
    }
    return input.subscriptions;
  }

  /** A stream belongs to who subscribed first. One of another tenant does not exist for this one. */
  function demandOwner({ membership }: Stream, tenantId: string, userId: string | null): void {
    if (membership === undefined) return;
    if (membership.tenantId !== tenantId) throw new NotFound("Unknown clientId");
    if (membership.credential.userId !== userId) throw new Forbidden("The stream belongs to another user");
  }

  function watch(context: TenantContext, caller: Caller, mountPath: string, collection: string, { id, since, signal }: WatchOptions = {}): AsyncIterableIterator<WatchEvent> {
    if (isClosed) throw new ShuttingDown();
    const wanted = toWanted([id === undefined ? collection : `${collection}/${id}`], context.collections);
    let membership: Membership | undefined;
    const stop = () => watcher.end();
    const watcher = new Watcher(mountPath, options.maxBuffer, () => {
      watchers.delete(watcher);
      signal?.removeEventListener("abort", stop);
      if (membership !== undefined) channels.leave(membership);
    });
    watchers.add(watcher);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) watcher.end();
    const credential = credentialOf(caller, false);
    const start = async () => {
      // Asked for before anything is awaited: a change that the host writes after this call is told.
      const position = since ?? (await context.store.changes.head());
      membership = await channels.enter(context, { subscriber: watcher, credential, wanted, isCurrent: () => !watcher.isOver });
      await begin(membership, since === undefined && position === "" ? undefined : position, () => undefined);
    };
    if (!watcher.isOver) {
      start().catch((error: unknown) => watcher.fail(error as Error)).finally(() => {
        if (watcher.isOver && membership !== undefined) channels.leave(membership);
      });
    }
    return watcher;
  }

  return {
    connect(open) {
      if (isClosed) throw new ShuttingDown();
      const sink = open(() => stream.gone());
      const stream = new Stream({ sink, outbox, maxBuffer: options.maxBuffer, closed });
      streams.set(stream.clientId, stream);
      heartbeat.add(stream);
      return stream.clientId;
    },
    subscribe,
    watch,
    stats() {
      let subscribed = 0;
      for (const stream of streams.values()) if (stream.membership !== undefined) subscribed += 1;
      return { streams: streams.size, subscribed, watchers: watchers.size, tenants: channels.count, cutOff };
    },
    trim: history.trim,
    async close() {
      isClosed = true;
      history.stop();
      heartbeat.stop();
      for (const stream of [...streams.values()]) stream.end();
      for (const watcher of [...watchers]) watcher.end();
      await channels.close();
    },
  };
}
