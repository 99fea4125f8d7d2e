// Commits prepared writes as one atomic unit. What a write decided on may have changed until it is written: then the
// write is built again on what is stored now, and decides again.
import { Conflict, ValidationFailed, type ServiceError } from "../core/errors.js";
import { ConditionMissed, UniqueViolation, type Operation, type Row, type Unit } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { Foreseen } from "./foreseen.js";

/** One operation of a write, and what it means where its condition misses: an error, or building the write again. */
export interface Step {
  readonly operation: Operation;
  /** Default: build again. */
  readonly onMiss?: ServiceError;
  /** What a unique violation means; default: a validation failure that names the fields. */
  readonly onTaken?: ServiceError;
}

/** A write built on what is stored now. */
export interface Built<T> {
  readonly steps: readonly Step[];
  /** Called once the unit is durable, with the rows of this write's steps. */
  finish(rows: readonly (Row | undefined)[]): T;
}

/** A write whose hooks have run and whose body is settled. */
export interface Prepared<T> {
  /** Reads what it needs, decides, and says what to write. Called again after a miss. */
  build(): Promise<Built<T>>;
}

/** Rounds before a record under constant change is given up on. */
const rounds = 100;

/** Which of several writes failed, for a batch. */
export class WriteFailed extends Error {
  constructor(readonly index: number, readonly reason: unknown) {
    super("a write of the unit failed");
    this.name = "WriteFailed";
  }
}


/** Writes all of them or none; with `foreseen`, each is built on what those before it do. Throws WriteFailed with the one at fault. */
export async function commitAll<T>(context: TenantContext, writes: readonly Prepared<T>[], foreseen?: Foreseen): Promise<T[]> {
  for (let round = 0; round < rounds; round += 1) {
    const built = await buildAll(writes, foreseen);
    const owners: number[] = [];
    const steps: Step[] = [];
    for (const [index, one] of built.entries()) {
      for (const step of one.steps) {
        owners.push(index);
        steps.push(step);
      }
    }
    const rows = steps.length === 0 ? [] : await writeUnit(context, steps, owners);
    if (rows === undefined) continue;
    foreseen?.forget();
    let offset = 0;
    return built.map((one) => {
      const own = rows.slice(offset, offset + one.steps.length);
      offset += one.steps.length;
      return one.finish(own);
    });
  }
  throw new WriteFailed(0, new Conflict("The record is being changed by others all the time; try again"));
}

/** One write. Throws what the write itself throws. */
export async function commit<T>(context: TenantContext, write: Prepared<T>): Promise<T> {
  try {
    const [result] = await commitAll(context, [write]);
    return result as T;
  } catch (error) {
    throw error instanceof WriteFailed ? error.reason : error;
  }
}

async function buildAll<T>(writes: readonly Prepared<T>[], foreseen: Foreseen | undefined): Promise<Built<T>[]> {
  const built: Built<T>[] = [];
  foreseen?.forget();
  for (const [index, write] of writes.entries()) {
    try {
      const one = await write.build();
      await foreseen?.foresee(one.steps.map((step) => step.operation));
      built.push(one);
    } catch (error) {
      throw new WriteFailed(index, error);
    }
  }
  return built;
}

/** The rows, or undefined where a condition missed and the writes must be built again. */
async function writeUnit(context: TenantContext, steps: readonly Step[], owners: readonly number[]): Promise<readonly (Row | undefined)[] | undefined> {
  const unit: Unit = { operations: steps.map((step) => step.operation), stamp: context.stamp };
  try {
    return (await context.store.write(unit)).rows;
  } catch (error) {
    if (error instanceof ConditionMissed) {
      const step = steps[error.operation];
      if (step?.onMiss === undefined) return undefined;
      throw new WriteFailed(owners[error.operation] ?? 0, step.onMiss);
    }
    if (error instanceof UniqueViolation) {
      const taken = steps[error.operation]?.onTaken ?? uniqueFailure(error.fields);
      throw new WriteFailed(owners[error.operation] ?? 0, taken);
    }
    throw error;
  }
}

/** A unique violation as the array naming the fields (contract 11). */
export function uniqueFailure(fields: readonly string[]): ValidationFailed {
  return new ValidationFailed(fields.map((field) => ({ field, message: fields.length === 1 ? "is taken by another record" : `is taken together with ${fields.filter((other) => other !== field).join(", ")}` })));
}
