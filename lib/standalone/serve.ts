// serve: the standalone server (contract 10) but for signals and exit status, which belong to the process that runs it.
import { setTimeout as wait } from "node:timers/promises";
import { StorageUnavailable } from "../core/errors.js";
import type { Logger } from "../core/logger.js";
import { createDefaultLogger } from "../log.js";
import { OptionsError } from "../options.js";
import type { RecordsService } from "../records-service.js";
import { createRecordsService } from "../service.js";
import { isMongoUrl } from "../storage/place.js";
import { readEnvironment, type Environment } from "./environment.js";
import { listenUntil, type ListenAddress } from "./listen.js";

export interface StandaloneServer {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly service: RecordsService;
  /** Drains requests, streams, hook deliveries and image work, then releases everything. A second call is harmless. */
  close(): Promise<void>;
}

/** Milliseconds between two tries to reach MongoDB. */
const pause = 1_000;

/**
 * Starts the service as the environment says, and tells `print` the address and, while there is no superadmin, the
 * setup token. While MongoDB cannot be reached it answers with 503 and tries again, until the signal is aborted. Throws OptionsError, which names every wrong variable, before anything is opened, and where the address
 * cannot be had.
 */
export async function serve(environment: Environment, print: (line: string) => void, signal?: AbortSignal): Promise<StandaloneServer> {
  const { options, address, logLevel } = readEnvironment(environment);
  let setupToken: string | undefined;
  const logger = withoutSetupToken(createDefaultLogger(logLevel), (token) => {
    setupToken = token;
  });
  const service = createRecordsService({ ...options, logger });
  const isRemote = typeof options.storage === "string" && isMongoUrl(options.storage);
  const { url, close } = await listenUntil(service, address, () => (isRemote ? reached(service, signal) : service.ready())).catch((error: unknown) => {
    throw addressFault(error, address) ?? error;
  });
  print(`listening on ${url}`);
  if (setupToken !== undefined) {
    print(`setup token: ${setupToken}`);
    print(`open ${url}/admin/#/setup?token=${setupToken} to name the superadmin (30 minutes, once)`);
  }
  return { url, service, close };
}

/** Resolves once the servers answer. Rejects with what more than time is needed for, and where the signal is aborted. */
async function reached(service: RecordsService, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    try {
      await service.ready();
      return;
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      await wait(pause, undefined, signal === undefined ? {} : { signal });
    }
  }
}

/** What the system says of the address, with the variables that it comes from; undefined where the error is another one. */
function addressFault(error: unknown, { host, port }: ListenAddress): OptionsError | undefined {
  const { syscall, code, hostname } = error as { syscall?: unknown; code?: unknown; hostname?: unknown };
  if (syscall === "getaddrinfo" && hostname === host) return new OptionsError([`CONNECTOR_HTTP_HOST must be an address of this machine: ${host} is not known (${String(code)})`]);
  if (syscall !== "listen") return undefined;
  return new OptionsError([`CONNECTOR_HTTP_HOST and CONNECTOR_HTTP_PORT must name a free address of this machine: ${host} with port ${port} cannot be had (${String(code)})`]);
}

/** The token is printed in a line of its own once the server answers, so that it does not stand in the log as well. */
function withoutSetupToken(logger: Logger, found: (token: string) => void): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info(fields, message) {
      const { setupToken } = fields as { setupToken?: unknown };
      if (typeof setupToken === "string") found(setupToken);
      else logger.info(fields, message);
    },
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
