// Command: one word of the command line, with its options, and what it may use of the process.
import type { ParseArgsConfig } from "node:util";
import type { Readable, Writable } from "node:stream";
import type { RecordsService } from "../records-service.js";
import type { Environment } from "../standalone/environment.js";
import type { Terminal } from "./terminal.js";

/** What the commands use of the process that runs them. */
export interface Program {
  readonly environment: Environment;
  readonly stdin: Readable;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** Calls the handler at SIGTERM and SIGINT. */
  onSignal(handler: () => void): void;
  /** Ends the process at once. */
  exit(status: number): void;
}

export interface Given {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  /** As many as `parameters` names at least, at most one more for each optional one. */
  readonly positionals: readonly string[];
  readonly program: Program;
  readonly terminal: Terminal;
  /** The service that the environment names, open; closed after the command. */
  service(): Promise<RecordsService>;
}

export interface Command {
  readonly name: string;
  /** Names of the positional parameters; one that ends with `?` may be left out. */
  readonly parameters: readonly string[];
  /** One line. */
  readonly summary: string;
  readonly options: Readonly<Record<string, NonNullable<ParseArgsConfig["options"]>[string] & { readonly description: string; readonly value?: string }>>;
  /** Throws UsageError, OptionsError, ServiceError or whatever went wrong. */
  run(given: Given): Promise<void>;
}

/** The command was called in a wrong way. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** The command did its work and found something wrong, which it has told. */
export class Failed extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Failed";
  }
}

/** Exit statuses, as docs/command-line.md lists them. */
export const statuses = { done: 0, failed: 1, usage: 2, refused: 3, unavailable: 4 } as const;
