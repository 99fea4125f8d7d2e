// Multer's storage engine for file parts: each goes to `receive` as it comes, and what was stored is kept track of, so
// that nothing is left where the request fails.
import type { Readable } from "node:stream";
import type { StorageEngine } from "multer";
import { ServiceError } from "../core/errors.js";
import type { PendingFile } from "../files/files.js";
import type { FileField } from "../schema/collection.js";

export interface PartReceiver extends StorageEngine {
  /** File parts that all fields together may take. */
  readonly most: number;
  /** Called with what a file failed with, before multer learns of it; not where only its stream broke. */
  onFailure(listener: (error: unknown) => void): void;
  /** What is stored, in the order of the parts. */
  files(): PendingFile[];
  /** Ends the files under way, waits for them, and gives what was stored all the same. */
  abandon(): Promise<PendingFile[]>;
}

type Receive = (field: FileField, upload: { readonly name: string; readonly stream: Readable }) => Promise<PendingFile>;

export function createPartStore(fields: readonly FileField[], receive: Receive): PartReceiver {
  const stored: (PendingFile | undefined)[] = [];
  const underWay = new Map<Readable, Promise<unknown>>();
  let fail: (error: unknown) => void = () => undefined;
  let abandoned = false;

  return {
    most: fields.reduce((sum, field) => sum + (field.multiple ? field.maxFiles : 1), 0),

    onFailure(listener) {
      fail = listener;
    },

    _handleFile(_req, { fieldname, originalname, stream }, done) {
      const field = fields.find((one) => one.name === fieldname);
      if (field === undefined || abandoned) {
        stream.resume();
        return done(new Error("this part takes no file"));
      }
      const place = stored.push(undefined) - 1;
      const work = receive(field, { name: originalname, stream }).then(
        (file) => {
          stored[place] = file;
          done(null, {});
        },
        (error: unknown) => {
          if (error instanceof ServiceError || stream.errored === null) fail(error);
          done(error);
        },
      ).finally(() => underWay.delete(stream));
      underWay.set(stream, work);
    },

    _removeFile(_req, _file, done) {
      // Whoever reads the body drops its files himself, all at once.
      done(null);
    },

    files: () => stored.filter((file) => file !== undefined),

    async abandon() {
      abandoned = true;
      for (const stream of underWay.keys()) stream.destroy();
      await Promise.all(underWay.values());
      return stored.filter((file) => file !== undefined);
    },
  };
}
