// createFiles: the feature, put together. Keeps the background work of a service's files: variants, removals, sweeps.
import { setImmediate as turn } from "node:timers/promises";
import type { BlobStore } from "../blobs/blobs.js";
import type { Clock } from "../core/clock.js";
import { describeError, type Logger } from "../core/logger.js";
import type { Storage } from "../storage/storage.js";
import type { TenantRegistry } from "../tenants/context.js";
import { downloadFile } from "./download.js";
import type { Files, FilesService } from "./files.js";
import { createImageProcess, type ImageProcessOptions } from "./image-process.js";
import { fileKey, variantKey } from "./keys.js";
import { presentFiles } from "./present.js";
import { receiveFile } from "./receive.js";
import { createRecentBytes } from "./recent-bytes.js";
import { sweepFiles } from "./sweep.js";
import { insertJobs, nextDue } from "./variant-jobs.js";
import { createVariantSizes } from "./variant-sizes.js";
import { createVariantWorker } from "./variant-worker.js";

/** Milliseconds between two sweeps. */
const sweepInterval = 3_600_000;
/** Milliseconds between two looks for images that a process left which is gone. */
const lookInterval = 300_000;

export interface FilesDeps {
  /** Opened by the caller, and closed by the caller after `close()`. */
  readonly blobs: BlobStore;
  readonly storage: Pick<Storage, "system" | "tenant">;
  readonly tenants: Pick<TenantRegistry, "byId" | "list">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Limits of the image process. */
  readonly images?: ImageProcessOptions | undefined;
}

export function createFiles({ blobs, storage, tenants, clock, logger, images: imageOptions }: FilesDeps): FilesService {
  const sizes = createVariantSizes(blobs);
  const recent = createRecentBytes(blobs);
  const images = createImageProcess(imageOptions);
  const worker = createVariantWorker({ blobs, sizes, tenants, images, clock, logger });
  /** Removals, recoveries and sweeps under way. */
  const background = new Set<Promise<void>>();
  let sweepTimer: NodeJS.Timeout | undefined;
  let lookTimer: NodeJS.Timeout | undefined;
  let closing = false;

  /** Runs on without anybody waiting; what fails is told to the log and done by a later sweep. */
  function inBackground(what: string, work: () => Promise<unknown>): void {
    const task: Promise<void> = work().then(
      () => undefined,
      (error: unknown) => logger.warn({ error: describeError(error) }, `files: ${what} failed; it is made good for by a later sweep`),
    ).finally(() => background.delete(task));
    background.add(task);
  }

  async function removeBlobs(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      sizes.forget(key);
      recent.forget(key);
      await blobs.remove(key);
    }
  }

  async function sweep(): Promise<number | undefined> {
    return sweepFiles({ blobs, storage, tenants, clock, isClosing: () => closing });
  }

  async function recover(): Promise<void> {
    for (const tenant of await tenants.list()) {
      // A read of the embedded store gives no turn to anybody: thousands in a row would hold up requests.
      await turn();
      if (closing) return;
      if ((await nextDue(storage.tenant(tenant.id))) !== undefined) worker.wake(tenant.id);
    }
  }

  async function settled(): Promise<void> {
    // The work itself keeps no process alive; whoever waits for it does.
    const awake = setInterval(() => undefined, 1000);
    try {
      do {
        await Promise.all(background);
        await worker.idle();
      } while (background.size > 0);
    } finally {
      clearInterval(awake);
    }
  }

  const files: Files = {
    receive(context, collection, recordId, field, upload) {
      return receiveFile({ blobs, clock }, { tenantId: context.tenant.id, collectionId: collection.definition.id, recordId }, field, upload);
    },

    async drop(pending) {
      for (const { key } of pending) {
        await blobs.remove(key).catch((error: unknown) => logger.warn({ error: describeError(error) }, "files: a file that no record took could not be removed; a later sweep does it"));
      }
    },

    variantJobs(_context, collection, recordId, pending) {
      return insertJobs(clock, collection, recordId, pending);
    },

    committed(context, collection, recordId, removed) {
      const keys = removed.flatMap((file) => {
        const key = fileKey(context.tenant.id, collection.definition.id, recordId, file.id);
        return [key, ...(file.variants ?? []).map((width) => variantKey(key, width))];
      });
      if (keys.length > 0) inBackground("the removal of a file", () => removeBlobs(keys));
      worker.wake(context.tenant.id);
    },

    async removeCollection(tenantId, collectionId) {
      await blobs.removeAll(`${tenantId}/${collectionId}`);
    },

    async removeTenant(tenantId) {
      await blobs.removeAll(tenantId);
    },

    download(context, collection, record, request) {
      return downloadFile({ blobs, sizes, recent }, context.tenant.id, collection, record, request);
    },

    present: presentFiles,
  };

  return {
    ...files,
    sweep,
    idle: settled,

    start() {
      const run = (): void => inBackground("the sweep", sweep);
      const look = (): void => inBackground("the look for images left to scale", recover);
      look();
      run();
      sweepTimer = setInterval(run, sweepInterval).unref();
      lookTimer = setInterval(look, lookInterval).unref();
    },

    imageProcessId: () => images.pid(),

    async close() {
      closing = true;
      clearInterval(sweepTimer);
      clearInterval(lookTimer);
      const awake = setInterval(() => undefined, 1000);
      try {
        await worker.close();
        await Promise.all(background);
        await images.close();
      } finally {
        clearInterval(awake);
      }
    },
  };
}
