// The default logger: pino on standard output. The only user of pino.
import { pino } from "pino";
import type { Logger } from "./core/logger.js";

export function createDefaultLogger(): Logger {
  return pino({ base: null, level: "info" });
}
