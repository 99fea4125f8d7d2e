// The environment of the standalone server, read once into options: every name of the interface and the few beyond.
// A value is never repeated in an error, since it may be a secret.
import type { SmtpOptions } from "../mailer/mailer.js";
import { OptionsError, type RecordsServiceOptions, type Secrets } from "../options.js";
import type { ListenAddress } from "./listen.js";

/** Names and values, as `process.env` has them. An empty value counts as none. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ServerSettings {
  readonly options: RecordsServiceOptions;
  readonly address: ListenAddress;
  /** Of the log on standard output. */
  readonly logLevel: string;
}

/** Both names of each secret; either one will do. */
export const secretVariables: Readonly<Record<keyof Secrets, readonly string[]>> = {
  application: ["APPLICATION_SECRET"],
  token: ["TOKEN_SECRET", "TOKEN_KEY"],
  sessionCookie: ["SESSION_COOKIE_SECRET", "SESSION_COOKIE_KEY"],
  authenticationCookie: ["AUTHENTICATION_COOKIE_SECRET", "AUTHENTICATION_COOKIE_KEY"],
  flashCookie: ["FLASH_COOKIE_SECRET", "FLASH_COOKIE_KEY"],
};

const secretShape = /^[0-9a-fA-F]{64,}$/;
const logLevels = ["debug", "info", "warn", "error", "silent"];

/** Throws OptionsError that names every variable with a fault. */
export function readEnvironment(environment: Environment): ServerSettings {
  const faults: string[] = [];
  const read = createReader(environment, faults);
  const mode = read.choice("APPLICATION_MODE", ["dev", "prod"]) ?? "dev";
  const url = read.text("STORAGE_URL");
  if (url !== undefined && !/^mongodb(?:\+srv)?:\/\/./.test(url)) faults.push("STORAGE_URL must begin with mongodb:// or mongodb+srv://; leave it out for the embedded store");
  const folder = read.text("SERVICE_STORAGE");
  const token = read.text("METRICS_TOKEN");
  if (token !== undefined && token.length < 16) faults.push("METRICS_TOKEN must have at least 16 characters");
  const options: RecordsServiceOptions = {
    mode: mode as "dev" | "prod",
    storage: url ?? folder ?? "./data",
    // With MongoDB files go to GridFS, unless a folder is named for them.
    ...(url !== undefined && folder !== undefined ? { files: `${folder}/files` } : {}),
    mailer: readSmtp(read),
    secrets: readSecrets(environment, mode === "prod" ? "in mode prod" : url === undefined ? undefined : "with MongoDB", faults),
    defaultTenant: read.text("DEFAULT_TENANT"),
    metrics: token === undefined ? (read.flag("METRICS") ?? false) : { token },
    authentication: {
      hashing: {
        concurrency: read.whole("AUTHENTICATION_HASHING_CONCURRENCY", 1, 1024),
        timeout: read.whole("AUTHENTICATION_HASHING_TIMEOUT", 0, 60_000),
        threadPool: read.whole("UV_THREADPOOL_SIZE", 1, 1024),
      },
    },
  };
  const address: ListenAddress = { host: read.text("CONNECTOR_HTTP_HOST") ?? "127.0.0.1", port: read.whole("CONNECTOR_HTTP_PORT", 0, 65_535) ?? 8080 };
  const logLevel = read.choice("LOG_LEVEL", logLevels) ?? "info";
  if (faults.length > 0) throw new OptionsError(faults);
  return { options, address, logLevel };
}

type Reader = ReturnType<typeof createReader>;

function createReader(environment: Environment, faults: string[]) {
  const text = (name: string): string | undefined => {
    const value = environment[name]?.trim();
    return value === "" ? undefined : value;
  };
  return {
    text,
    choice(name: string, values: readonly string[]): string | undefined {
      const value = text(name);
      if (value === undefined || values.includes(value)) return value;
      faults.push(`${name} must be one of ${values.join(", ")}`);
      return undefined;
    },
    whole(name: string, least: number, most: number): number | undefined {
      const value = text(name);
      if (value === undefined) return undefined;
      if (/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
      faults.push(`${name} must be a whole number from ${least} to ${most}`);
      return undefined;
    },
    flag(name: string): boolean | undefined {
      const value = text(name)?.toLowerCase();
      if (value === undefined) return undefined;
      if (value === "true" || value === "1") return true;
      if (value === "false" || value === "0") return false;
      faults.push(`${name} must be true or false`);
      return undefined;
    },
  };
}

/** `needed`: why every secret must be there; undefined where those left out are generated. */
function readSecrets(environment: Environment, needed: string | undefined, faults: string[]): Partial<Secrets> {
  const secrets: Partial<Record<keyof Secrets, string>> = {};
  for (const [name, variables] of Object.entries(secretVariables) as [keyof Secrets, readonly string[]][]) {
    const given = variables.filter((variable) => (environment[variable] ?? "").trim() !== "");
    for (const variable of given) {
      if (!secretShape.test(environment[variable]!.trim())) faults.push(`${variable} must have at least 64 hexadecimal characters: make one with  openssl rand -hex 32`);
    }
    if (given[0] !== undefined) secrets[name] = environment[given[0]]!.trim();
    else if (needed !== undefined) faults.push(`${variables.join(" or ")} is missing: ${needed} every secret must be given, at least 64 hexadecimal characters each`);
  }
  return secrets;
}

/** undefined: no mail goes out. */
function readSmtp(read: Reader): SmtpOptions | undefined {
  const host = read.text("SMTP_HOST");
  const username = read.text("SMTP_USERNAME");
  const smtp: SmtpOptions = {
    host: host ?? "",
    port: read.whole("SMTP_PORT", 1, 65_535),
    username,
    password: read.text("SMTP_PASSWORD"),
    authentication: read.flag("SMTP_AUTHENTICATION"),
    protocol: read.choice("SMTP_PROTOCOL", ["smtp", "smtps"]) as "smtp" | "smtps" | undefined,
    from: read.text("SMTP_FROM") ?? (username?.includes("@") === true ? username : "no-reply@localhost"),
    fromName: read.text("SMTP_FROM_NAME"),
  };
  return host === undefined ? undefined : smtp;
}
