// RuleError: what is wrong with a rule, and where.

/** A rule that cannot be read or that cannot be meant. */
export class RuleError extends Error {
  constructor(
    /** 0-based offset into the source. */
    readonly position: number,
    /** What is wrong and what to do, without the position. */
    readonly reason: string,
  ) {
    super(`at position ${position}: ${reason}`);
    this.name = "RuleError";
  }
}
