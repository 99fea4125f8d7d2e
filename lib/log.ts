// The default logger: pino on standard output. The only user of pino, which a host with a logger of its own never loads.
import { createRequire } from "node:module";
import type pino from "pino";
import type { Logger } from "./core/logger.js";

const load = createRequire(import.meta.url);

/** `level`: debug, info, warn, error or silent. */
export function createDefaultLogger(level = "info", stream: "stdout" | "stderr" = "stdout"): Logger {
  const { destination, pino: create } = load("pino") as typeof pino;
  return create({ base: null, level }, destination(stream === "stdout" ? 1 : 2));
}
