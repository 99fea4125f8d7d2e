// RecordsServiceOptions: all that a host may set, its defaults, and the one place that checks it.
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import joi from "joi";
import type { BlobStore } from "./blobs/blobs.js";
import { systemClock, type Clock } from "./core/clock.js";
import type { Logger } from "./core/logger.js";
import type { PasswordHasher } from "./hasher/hasher.js";
import type { Mailer, SmtpOptions } from "./mailer/mailer.js";
import { isMongoUrl, placeFault } from "./storage/place.js";
import type { Storage } from "./storage/storage.js";

/** The option names of the interface, all optional. */
export interface RecordsServiceOptions {
  /** A folder for the embedded SQLite store, a `mongodb://` URL, or a storage of your own. @default "./data" */
  readonly storage?: string | Storage | undefined;
  /** Where files live: a folder, or a store of your own. @default the folder `files` inside the storage folder; GridFS with MongoDB */
  readonly files?: string | BlobStore | undefined;
  /** Sends mail: SMTP settings, or a mailer of your own. @default none: one-time tokens are issued, no mail goes out */
  readonly mailer?: SmtpOptions | Mailer | undefined;
  /** Hashes passwords. @default Argon2id with the parameters of `authentication.hashing` */
  readonly hasher?: PasswordHasher | undefined;
  /** Each at least 64 hex characters. @default outside of `prod` generated once and kept in the storage folder */
  readonly secrets?: Partial<Secrets> | undefined;
  /** `prod` demands all secrets and sets `Secure` on cookies. @default "dev" */
  readonly mode?: "dev" | "prod" | undefined;
  /** Serve the admin page at `/admin/` and `/authenticate`. @default true */
  readonly adminUi?: boolean | undefined;
  /** Log a setup token at the start while there is no superadmin; it replaces the one before. @default true */
  readonly announceSetup?: boolean | undefined;
  /** Names the tenant of a request without a credential; undefined where it has none. @default none */
  readonly resolveTenant?: ((request: IncomingMessage) => string | undefined | Promise<string | undefined>) | undefined;
  /** Slug of the tenant of requests that name none. @default none */
  readonly defaultTenant?: string | undefined;
  /** pino-compatible. @default pino on standard output, level info */
  readonly logger?: Logger | undefined;
  readonly authentication?: {
    readonly hashing?: {
      /** Concurrent hash computations. @default by the heap, 2 to 8, below the thread pool's size less two */
      readonly concurrency?: number | undefined;
      /** Threads of libuv's pool (`UV_THREADPOOL_SIZE` of the process), below which hashing stays. @default 4 */
      readonly threadPool?: number | undefined;
      /** Milliseconds to wait for a slot before 429. @default 200 */
      readonly timeout?: number | undefined;
      /** KiB. @default 32768 */
      readonly memory?: number | undefined;
      /** @default 3 */
      readonly iterations?: number | undefined;
      /** @default 1 */
      readonly parallelism?: number | undefined;
    } | undefined;
  } | undefined;
  /** Seconds. @default 900 */
  readonly accessTokenTtl?: number | undefined;
  /** Seconds. @default 2592000 (30 days) */
  readonly refreshTokenTtl?: number | undefined;
  readonly realtime?: {
    /** Milliseconds between heartbeats on a stream. @default 30000 */
    readonly heartbeat?: number | undefined;
    /** Bytes that may wait for a consumer before it is cut off. @default 1048576 */
    readonly maxBuffer?: number | undefined;
    /** Changes kept for each tenant, for `since`. @default 10000 */
    readonly history?: number | undefined;
  } | undefined;
  readonly hooks?: {
    /** Resolves hook hosts, in place of the system's resolver. @default dns.lookup */
    readonly lookup?: LookupFunction | undefined;
    /** Add the three headers of the Standard Webhooks specification. @default false */
    readonly standardWebhooks?: boolean | undefined;
  } | undefined;
  readonly logRetention?: {
    /** @default 14 */
    readonly days?: number | undefined;
    /** For each tenant and log. @default 100000 */
    readonly rows?: number | undefined;
  } | undefined;
  /** Serve Prometheus figures at `/metrics`: to the superadmin, or to whoever sends this token as bearer. @default false */
  readonly metrics?: boolean | { readonly token: string } | undefined;
  /** The only source of time. @default the system's clock */
  readonly clock?: Clock | undefined;
}

/** What `APPLICATION_SECRET`, `TOKEN_SECRET` and the others are for. Hexadecimal text, at least 64 characters. */
export interface Secrets {
  /** Derives the keys of file tokens, of the superadmin's second factor, and of the hooks' secrets in a backup. */
  readonly application: string;
  /** Signs access tokens, refresh tokens and admin tokens. */
  readonly token: string;
  /** Encrypts the superadmin's session cookie. */
  readonly sessionCookie: string;
  /** Encrypts the cookie between the two factors. */
  readonly authenticationCookie: string;
  /** Reserved for one-time messages of the admin page; not used so far. */
  readonly flashCookie: string;
}

export const secretNames = ["application", "token", "sessionCookie", "authenticationCookie", "flashCookie"] as const satisfies readonly (keyof Secrets)[];

/** The options with every default filled in, frozen. `secrets` is what was given: service.ts completes it. */
export interface ResolvedOptions {
  readonly storage: string | Storage;
  readonly files: string | BlobStore | undefined;
  readonly mailer: SmtpOptions | Mailer | undefined;
  readonly hasher: PasswordHasher | undefined;
  readonly secrets: Partial<Secrets>;
  readonly mode: "dev" | "prod";
  readonly adminUi: boolean;
  readonly announceSetup: boolean;
  readonly resolveTenant: ((request: IncomingMessage) => string | undefined | Promise<string | undefined>) | undefined;
  readonly defaultTenant: string | undefined;
  readonly logger: Logger | undefined;
  readonly authentication: {
    readonly hashing: {
      readonly concurrency: number | undefined;
      readonly threadPool: number;
      readonly timeout: number;
      readonly memory: number;
      readonly iterations: number;
      readonly parallelism: number;
    };
  };
  readonly accessTokenTtl: number;
  readonly refreshTokenTtl: number;
  readonly realtime: { readonly heartbeat: number; readonly maxBuffer: number; readonly history: number };
  readonly hooks: { readonly lookup: LookupFunction | undefined; readonly standardWebhooks: boolean };
  readonly logRetention: { readonly days: number; readonly rows: number };
  readonly metrics: false | { readonly token: string | null };
  readonly clock: Clock;
}

/** Thrown by createRecordsService: one error that lists everything wrong. */
export class OptionsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`records-service cannot start with these options:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.name = "OptionsError";
  }
}

const provider = (methods: readonly string[], what: string) =>
  joi.custom((value: unknown, helpers) => {
    const missing = methods.filter((method) => typeof (value as Record<string, unknown> | null)?.[method] !== "function");
    return missing.length === 0 ? value : helpers.message({ custom: `"{#label}" must be ${what}: it lacks ${missing.join(", ")}` });
  });

const place = joi.string().min(1).custom((value: string, helpers) => {
  const fault = placeFault(value);
  return fault === undefined ? value : helpers.message({ custom: `"{#label}" ${fault}` });
});

const secret = joi.string().hex().min(64).messages({
  "string.hex": '"{#label}" must be hexadecimal',
  "string.min": '"{#label}" must have at least 64 hexadecimal characters',
  "string.base": '"{#label}" must be hexadecimal text',
  "string.empty": '"{#label}" must have at least 64 hexadecimal characters',
});

const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => joi.number().integer().min(least).max(most);

const schema = joi.object({
  storage: joi.alternatives().conditional(joi.string(), {
    then: place,
    otherwise: provider(["open", "close", "ping", "tenant", "dropTenant"], "a folder, a mongodb:// URL or a storage"),
  }),
  files: joi.alternatives().conditional(joi.string(), {
    then: joi.string().min(1),
    otherwise: provider(["open", "close", "write", "read", "readWhole", "size", "remove", "removeAll", "list", "sweep"], "a folder or a blob store"),
  }),
  mailer: joi.alternatives().conditional(joi.object({ host: joi.exist() }).unknown(), {
    then: joi.object({
      host: joi.string().allow("").required(),
      port: whole(1, 65_535),
      username: joi.string().allow(""),
      password: joi.string().allow(""),
      authentication: joi.boolean(),
      protocol: joi.string().valid("smtp", "smtps"),
      from: joi.string().allow("").required(),
      fromName: joi.string().allow(""),
    }),
    otherwise: provider(["send"], "SMTP settings or a mailer"),
  }),
  hasher: provider(["hash", "verify", "needsRehash"], "a password hasher"),
  secrets: joi.object(Object.fromEntries(secretNames.map((name) => [name, secret]))),
  mode: joi.string().valid("dev", "prod"),
  adminUi: joi.boolean(),
  announceSetup: joi.boolean(),
  resolveTenant: joi.function(),
  defaultTenant: joi.string().pattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "a tenant's slug"),
  logger: provider(["debug", "info", "warn", "error"], "a pino-compatible logger"),
  authentication: joi.object({
    hashing: joi.object({
      concurrency: whole(1, 1024),
      threadPool: whole(1, 1024),
      timeout: whole(0, 60_000),
      memory: whole(8, 4_194_304),
      iterations: whole(1, 1000),
      parallelism: whole(1, 255),
    }),
  }),
  accessTokenTtl: whole(1, 31_536_000),
  refreshTokenTtl: whole(1, 315_360_000),
  realtime: joi.object({ heartbeat: whole(10, 3_600_000), maxBuffer: whole(1024), history: whole(0) }),
  hooks: joi.object({ lookup: joi.function(), standardWebhooks: joi.boolean() }),
  logRetention: joi.object({ days: whole(1), rows: whole(1) }),
  metrics: joi.alternatives(joi.boolean(), joi.object({ token: joi.string().min(16).required() })),
  clock: provider(["now"], "a clock"),
}).required().label("options");

/** Checks the options at once and fills the defaults in. Throws OptionsError with every fault. */
export function resolveOptions(options: RecordsServiceOptions = {}): ResolvedOptions {
  const { error } = schema.validate(options, { abortEarly: false, convert: false, errors: { wrap: { label: false } } });
  const faults = (error?.details ?? []).map((detail) => detail.message.replaceAll('"', ""));
  if (typeof options === "object" && options !== null && options.mode === "prod") {
    for (const name of secretNames) {
      if (options.secrets?.[name] === undefined) faults.push(`secrets.${name} is missing: in mode prod every secret must be given, at least 64 hexadecimal characters each`);
    }
  }
  if (typeof options === "object" && options !== null && typeof options.storage === "string" && isMongoUrl(options.storage) && options.mode !== "prod") {
    for (const name of secretNames) {
      if (options.secrets?.[name] === undefined) faults.push(`secrets.${name} is missing: with MongoDB the secrets must be given, the same on every node`);
    }
  }
  if (faults.length > 0) throw new OptionsError(faults);
  const hashing = options.authentication?.hashing ?? {};
  return Object.freeze({
    storage: options.storage ?? "./data",
    files: options.files,
    mailer: options.mailer,
    hasher: options.hasher,
    secrets: options.secrets ?? {},
    mode: options.mode ?? "dev",
    adminUi: options.adminUi ?? true,
    announceSetup: options.announceSetup ?? true,
    resolveTenant: options.resolveTenant,
    defaultTenant: options.defaultTenant,
    logger: options.logger,
    authentication: {
      hashing: {
        concurrency: hashing.concurrency,
        threadPool: hashing.threadPool ?? 4,
        timeout: hashing.timeout ?? 200,
        memory: hashing.memory ?? 32_768,
        iterations: hashing.iterations ?? 3,
        parallelism: hashing.parallelism ?? 1,
      },
    },
    accessTokenTtl: options.accessTokenTtl ?? 900,
    refreshTokenTtl: options.refreshTokenTtl ?? 2_592_000,
    realtime: {
      heartbeat: options.realtime?.heartbeat ?? 30_000,
      maxBuffer: options.realtime?.maxBuffer ?? 1_048_576,
      history: options.realtime?.history ?? 10_000,
    },
    hooks: { lookup: options.hooks?.lookup, standardWebhooks: options.hooks?.standardWebhooks ?? false },
    logRetention: { days: options.logRetention?.days ?? 14, rows: options.logRetention?.rows ?? 100_000 },
    metrics: options.metrics === undefined || options.metrics === false ? false : { token: options.metrics === true ? null : options.metrics.token },
    clock: options.clock ?? systemClock,
  });
}
