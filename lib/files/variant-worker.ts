// Makes image variants in the background: one image at a time, tenants by turns. What it cannot do now it does later,
// and an image that cannot be scaled keeps its original.
import { Readable } from "node:stream";
import type { BlobStore } from "../blobs/blobs.js";
import type { Clock } from "../core/clock.js";
import { describeError, type Logger } from "../core/logger.js";
import { fileReferences, type RecordValue } from "../core/record.js";
import type { Store } from "../storage/storage.js";
import type { TenantRegistry } from "../tenants/context.js";
import { ImageUnreadable, type ImageProcess } from "./image-process.js";
import { fileKey, variantKey } from "./keys.js";
import { nextDue, postponeJob, removeJob, takeJob, type VariantJob } from "./variant-jobs.js";
import type { VariantSizes } from "./variant-sizes.js";

/** How often a job is taken before its image is left as it is. */
const maxAttempts = 2;
/** Milliseconds until a tenant whose work failed for other reasons than the image is looked at again. */
const pause = 60_000;
/** Milliseconds: the shortest sleep until a job that another process has taken may be taken over. */
const shortestSleep = 50;

export interface VariantWorkerDeps {
  readonly blobs: BlobStore;
  readonly sizes: VariantSizes;
  readonly tenants: Pick<TenantRegistry, "byId">;
  readonly images: ImageProcess;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface VariantWorker {
  /** There may be work for this tenant. */
  wake(tenantId: string): void;
  /** Resolves once there is nothing to do. */
  idle(): Promise<void>;
  /** Ends after the image at hand; the rest stays in its queue. */
  close(): Promise<void>;
}

export function createVariantWorker({ blobs, sizes, tenants, images, clock, logger }: VariantWorkerDeps): VariantWorker {
  /** Tenants that may have work, in turns. */
  const waiting = new Set<string>();
  const pauses = new Map<string, NodeJS.Timeout>();
  let running: Promise<void> | undefined;
  let closed = false;

  async function run(): Promise<void> {
    for (let [tenantId] = waiting; tenantId !== undefined && !closed; [tenantId] = waiting) {
      waiting.delete(tenantId);
      try {
        if (await workOn(tenantId)) waiting.add(tenantId);
      } catch (error) {
        logger.warn({ tenantId, error: describeError(error) }, "image variants: the queue could not be worked on; trying again in a minute");
        wakeLater(tenantId, pause);
      }
    }
    running = undefined;
  }

  /** Does one job; false where there is none. */
  async function workOn(tenantId: string): Promise<boolean> {
    const context = await tenants.byId(tenantId);
    if (context === undefined) return false;
    const job = await takeJob(context.store, clock);
    if (job === undefined) {
      // What others have taken comes back where they die over it.
      const due = await nextDue(context.store);
      if (due !== undefined) wakeLater(tenantId, Math.min(pause, Math.max(shortestSleep, due - clock.now())));
    }
    if (job === undefined || job === "missed") return job !== undefined;
    try {
      await makeVariants(tenantId, context.store, job);
      await removeJob(context.store, job);
    } catch (error) {
      await settleFailure(tenantId, context.store, job, error);
    }
    return true;
  }

  async function settleFailure(tenantId: string, store: Store, job: VariantJob, error: unknown): Promise<void> {
    const facts = { tenantId, recordId: job.recordId, fileId: job.fileId, attempts: job.attempts, error: describeError(error) };
    if (error instanceof ImageUnreadable || job.attempts >= maxAttempts) {
      logger.warn(facts, "image variants: this image is left without them");
      await removeJob(store, job);
    } else if (closed) {
      await postponeJob(store, clock, job, 0);
    } else {
      logger.warn(facts, "image variants: failed, trying once more");
      await postponeJob(store, clock, job, 0);
    }
  }

  async function makeVariants(tenantId: string, store: Store, job: VariantJob): Promise<void> {
    const key = fileKey(tenantId, job.collectionId, job.recordId, job.fileId);
    const image = await blobs.readWhole(key);
    if (image === undefined) return;
    const variants = await images.scale(image, job.widths);
    // At once: each waits for the disk. All are awaited, so that none is still being written when the job is settled.
    const written = await Promise.allSettled(variants.map(({ width, bytes }) => blobs.write(variantKey(key, width), Readable.from([bytes]))));
    for (const one of written) if (one.status === "rejected") throw one.reason;
    // The file may have left its record meanwhile, and then its bytes were removed before these were written.
    const row = await store.table(job.table).find(job.recordId);
    if (row !== undefined && holds(row.record, job)) return;
    for (const { width } of variants) {
      await blobs.remove(variantKey(key, width));
      sizes.forget(variantKey(key, width));
    }
  }

  function wakeLater(tenantId: string, delay: number): void {
    clearTimeout(pauses.get(tenantId));
    if (closed) return;
    pauses.set(tenantId, setTimeout(() => {
      pauses.delete(tenantId);
      wake(tenantId);
    }, delay).unref());
  }

  function wake(tenantId: string): void {
    if (closed) return;
    waiting.add(tenantId);
    running ??= run();
  }

  return {
    wake,

    async idle() {
      while (running !== undefined) await running;
    },

    async close() {
      closed = true;
      for (const timer of pauses.values()) clearTimeout(timer);
      await running;
    },
  };
}

function holds(record: RecordValue, job: VariantJob): boolean {
  return fileReferences(record[job.field]).some((file) => file.id === job.fileId);
}
