// The default logger: pino on standard output. The only user of pino.
import { destination, pino } from "pino";
import type { Logger } from "./core/logger.js";

/** `level`: debug, info, warn, error or silent. */
export function createDefaultLogger(level = "info", stream: "stdout" | "stderr" = "stdout"): Logger {
  return pino({ base: null, level }, destination(stream === "stdout" ? 1 : 2));
}
