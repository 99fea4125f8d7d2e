// RecordEvent: a change as its receivers get it. Everything that does not depend on the receiver is made once.
import type { RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Change } from "../storage/storage.js";
import { Frame } from "./frame.js";

/** The record as GET by id gives it below this mount path: file references with their `url`. */
export type Present = (mountPath: string, collection: Collection, record: RecordValue) => RecordValue;

/** A change that carries its record. */
export type RecordChange = Change & { readonly record: RecordValue };

export class RecordEvent {
  readonly change: RecordChange;
  readonly collection: Collection;
  readonly #present: Present;
  #shared: Frame | undefined;
  #byMount: Map<string, Frame> | undefined;

  constructor(change: RecordChange, collection: Collection, present: Present) {
    this.change = change;
    this.collection = collection;
    this.#present = present;
  }

  /** The record as its receiver sees it. */
  record(mountPath: string): RecordValue {
    return this.collection.passthrough ? this.change.record : this.#present(mountPath, this.collection, this.change.record);
  }

  /** The event's bytes: one for all where nothing in them depends on the mount path. */
  frame(mountPath: string): Frame {
    if (this.collection.passthrough) return (this.#shared ??= this.#frameOf(this.change.text ?? JSON.stringify(this.change.record)));
    const frames = (this.#byMount ??= new Map<string, Frame>());
    let frame = frames.get(mountPath);
    if (frame === undefined) {
      frame = this.#frameOf(JSON.stringify(this.record(mountPath)));
      frames.set(mountPath, frame);
    }
    return frame;
  }

  #frameOf(record: string): Frame {
    const { id, action } = this.change;
    return new Frame(`event: ${this.collection.name}\nid: ${id}\ndata: {"action":"${action}","record":${record}}\n\n`);
  }
}
