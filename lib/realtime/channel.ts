// Channel: the realtime of one tenant while anybody there listens: its feed, its members and who listens to what.
import { timestamp, type Clock } from "../core/clock.js";
import { Unauthorized } from "../core/errors.js";
import type { Logger } from "../core/logger.js";
import type { Change, ChangeLog } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { Audience } from "./audience.js";
import { Feed } from "./feed.js";
import { Members, type NewMembership } from "./members.js";
import type { Credential, Membership } from "./membership.js";
import { RecordEvent, type Present, type RecordChange } from "./record-event.js";
import { hasRealtime } from "./subscriptions.js";

/** Bytes of events after which those that read get time to do so. */
const bytesPerTurn = 128 * 1024;

export interface ChannelDeps {
  readonly tenants: TenantRegistry;
  readonly present: Present;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves once what was handed out is written. */
  readonly flushed: () => Promise<void>;
  /** Told how many changes were worked through. */
  readonly worked: (tenantId: string, log: ChangeLog, count: number) => void;
}

export class Channel {
  readonly tenantId: string;
  readonly members: Members;
  readonly #deps: ChannelDeps;
  readonly #log: ChangeLog;
  readonly #feed: Feed;
  readonly #audiences = new Map<string, Audience>();
  #stamp = "";

  constructor(deps: ChannelDeps, context: TenantContext) {
    this.#deps = deps;
    this.tenantId = context.tenant.id;
    this.members = new Members(this.tenantId);
    this.#log = context.store.changes;
    this.#feed = new Feed({
      log: this.#log,
      logger: deps.logger,
      take: (changes) => this.#take(changes),
      lost: () => this.#abortAll(),
    });
  }

  start(): Promise<void> {
    return this.#feed.start();
  }

  stop(): void {
    this.#feed.stop();
  }

  get log(): ChangeLog {
    return this.#log;
  }

  /** The newest change that everybody here has been told of. */
  get position(): string {
    return this.#feed.position;
  }

  /** The tenant as it is now. Throws Unauthorized where it is gone. */
  async context(): Promise<TenantContext> {
    const context = await this.#deps.tenants.byId(this.tenantId);
    if (context === undefined) throw new Unauthorized();
    return context;
  }

  /** Registers a membership, so that whatever ends its credential ends it; it receives nothing yet. */
  enter(wanted: NewMembership): Promise<Membership> {
    return this.#feed.run(async () => {
      await this.#feed.catchUp();
      return await this.members.add((await this.context()).store, wanted);
    });
  }

  /** Runs the task between two changes, when every change that is durable by now has been told. */
  whenCaughtUp<T>(task: () => T | Promise<T>): Promise<T> {
    return this.#feed.run(async () => {
      await this.#feed.catchUp();
      return await task();
    });
  }

  /** From the next change on the membership receives what it wants and may see. Call it between two changes. */
  listen(membership: Membership, context: TenantContext): void {
    if (membership.hasEnded) return;
    this.#follow(context);
    for (const [name, records] of membership.wanted) {
      const collection = context.collections.get(name);
      if (collection === undefined || !hasRealtime(collection)) continue;
      let audience = this.#audiences.get(name);
      if (audience === undefined) this.#audiences.set(name, (audience = new Audience(collection)));
      audience.add(membership, records);
    }
  }

  /** The membership receives nothing more and is forgotten. */
  leave(membership: Membership): void {
    if (!this.members.all.has(membership)) return;
    membership.hasEnded = true;
    for (const [name, records] of membership.wanted) {
      const audience = this.#audiences.get(name);
      audience?.remove(membership, records);
      if (audience?.isEmpty === true) this.#audiences.delete(name);
    }
    this.members.remove(membership);
  }

  /** Looks whether the tenant and its collections are still there. Never throws. */
  async check(): Promise<void> {
    await this.#feed.run(async () => {
      const context = await this.#deps.tenants.byId(this.tenantId);
      if (context === undefined) this.#end([...this.members.all]);
      else this.#follow(context);
    }).catch(() => undefined);
  }

  /** Ends those whose credential this is true of. */
  endWhere(isOver: (credential: Credential) => boolean): void {
    for (const member of this.members.all) if (isOver(member.credential)) this.#end([member]);
  }

  async #take(changes: readonly Change[]): Promise<void> {
    const context = await this.#deps.tenants.byId(this.tenantId);
    if (context === undefined) {
      this.#end([...this.members.all]);
      return;
    }
    this.#follow(context);
    // Who is who comes first, as it is now; only then is anything told, so a repeated attempt tells nothing twice.
    await this.#refreshCallers(context, changes);
    const now = timestamp(this.#deps.clock);
    let bytes = 0;
    for (const change of changes) {
      bytes += this.#deliver(context, change, now);
      if (bytes < bytesPerTurn) continue;
      bytes = 0;
      await this.#deps.flushed();
    }
    this.#deps.worked(this.tenantId, this.#log, changes.length);
  }

  async #refreshCallers(context: TenantContext, changes: readonly Change[]): Promise<void> {
    const users = new Set<string>();
    for (const { collection, action, recordId } of changes) {
      if (collection === "users") users.add(recordId);
      else if (collection === "$api_keys") this.#end(this.members.ofKey(recordId));
      else if (collection === "$refresh_families" && action === "delete") this.#end(this.members.ofFamily(recordId));
    }
    for (const userId of users) {
      const { ended, changed } = await this.members.refresh(context.store, userId);
      this.#end(ended);
      if (changed !== undefined) for (const audience of this.#audiences.values()) audience.refresh(changed);
    }
  }

  /** Returns how many bytes the event has, roughly. */
  #deliver(context: TenantContext, change: Change, now: string): number {
    const audience = this.#audiences.get(change.collection);
    const collection = context.collections.get(change.collection);
    if (audience === undefined || collection === undefined || !hasRecord(change)) return 0;
    audience.deliver(new RecordEvent(change, collection, this.#deps.present), now);
    return change.text?.length ?? 1024;
  }

  /** Takes rules and collections as they are now. */
  #follow(context: TenantContext): void {
    if (context.stamp === this.#stamp) return;
    this.#stamp = context.stamp;
    for (const [name, audience] of this.#audiences) {
      const collection = context.collections.get(name);
      if (collection !== undefined && collection.definition.id === audience.collectionId && hasRealtime(collection)) audience.useRule(collection);
      else this.#drop(name, audience);
    }
  }

  #drop(name: string, audience: Audience): void {
    this.#audiences.delete(name);
    for (const member of audience.members()) member.subscriber.collectionGone();
  }

  #end(members: readonly Membership[]): void {
    for (const member of members) {
      member.end();
      this.leave(member);
    }
  }

  #abortAll(): void {
    for (const member of this.members.all) member.subscriber.abort();
  }
}

/** Changes of users, keys and definitions carry none. */
export function hasRecord(change: Change): change is RecordChange {
  return change.record !== null;
}
