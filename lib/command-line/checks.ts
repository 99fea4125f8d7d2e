// The checks of the doctor, one function each. None changes what is stored.
import { once } from "node:events";
import { access, constants, stat, statfs } from "node:fs/promises";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { connect as connectTls } from "node:tls";
import { getHeapStatistics } from "node:v8";
import { deflateSync, crc32 } from "node:zlib";
import { createImageProcess } from "../files/image-process.js";
import { createArgon2Hasher } from "../hasher/argon2.js";
import { slotCount } from "../hasher/slots.js";
import { resolveOptions } from "../options.js";
import { createStores } from "../providers.js";
import { isMongoUrl } from "../storage/place.js";
import { readEnvironment, secretVariables, type Environment } from "../standalone/environment.js";

export interface Finding {
  readonly status: "ok" | "warning" | "failed";
  readonly detail: string;
}

type Check = (environment: Environment) => Promise<Finding>;

const ok = (detail: string): Finding => ({ status: "ok", detail });
const warning = (detail: string): Finding => ({ status: "warning", detail });
const failed = (detail: string): Finding => ({ status: "failed", detail });

/** In the order in which they are told. A check that throws has failed. */
export const checks: readonly (readonly [string, Check])[] = [
  ["node", checkNode], ["settings", checkSettings], ["storage", checkStorage], ["secrets", checkSecrets], ["disk", checkDisk],
  ["mail", checkMail], ["images", checkImages], ["password hashing", checkHashing], ["clock", checkClock], ["thread pool", checkThreadPool],
];

async function checkNode(): Promise<Finding> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const detail = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  return major > 20 || (major === 20 && minor >= 19) ? ok(detail) : failed(`${detail}: 20.19 or later is needed`);
}

async function checkSettings(environment: Environment): Promise<Finding> {
  const { options, address } = readEnvironment(environment);
  resolveOptions(options);
  return ok(`mode ${options.mode ?? "dev"}, listens on ${address.host}:${address.port}`);
}

async function checkStorage(environment: Environment): Promise<Finding> {
  const { options } = readEnvironment(environment);
  const resolved = resolveOptions(options);
  const isUrl = typeof resolved.storage === "string" && isMongoUrl(resolved.storage);
  if (typeof resolved.storage === "string" && !isUrl && (await stat(resolved.storage).catch(() => undefined)) === undefined) {
    return warning(`there is no folder ${resolved.storage} yet: the first start makes it`);
  }
  const { storage, blobs } = createStores(resolved);
  try {
    const begun = performance.now();
    await storage.open();
    await storage.ping();
    const tenants = await storage.system.table("tenants").count({ op: "all", filters: [] });
    const bytes = await storage.system.size();
    return ok(`${isUrl ? "MongoDB" : "SQLite"} answers in ${Math.round(performance.now() - begun)} ms, ${tenants} tenants, ${bytes} bytes of its own`);
  } finally {
    await blobs.close();
    await storage.close();
  }
}

async function checkSecrets(environment: Environment): Promise<Finding> {
  const { options } = readEnvironment(environment);
  const given = Object.values(secretVariables).filter((names) => names.some((name) => (environment[name] ?? "") !== "")).length;
  if (given === Object.keys(secretVariables).length) return ok("all are given by the environment");
  const file = join(String(options.storage), "secrets.json");
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return warning(`${file} is not there yet: the first start makes it`);
  return (found.mode & 0o077) === 0 ? ok(`${file}, readable by its owner alone`) : failed(`${file} can be read by others: chmod 600 ${file}`);
}

async function checkDisk(environment: Environment): Promise<Finding> {
  const { options } = readEnvironment(environment);
  const folder = typeof options.files === "string" ? options.files : isMongoUrl(String(options.storage)) ? undefined : String(options.storage);
  if (folder === undefined) return ok("files go to the database");
  if ((await stat(folder).catch(() => undefined)) === undefined) return warning(`there is no folder ${folder} yet`);
  await access(folder, constants.R_OK | constants.W_OK);
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const detail = `${folder} has ${Math.round(free / 1_048_576)} MiB free`;
  return free < 1_073_741_824 ? warning(`${detail}, which is less than a GiB`) : ok(detail);
}

/** Milliseconds for a mail server to greet. */
const greetingTime = 5_000;

async function checkMail(environment: Environment): Promise<Finding> {
  const { options } = readEnvironment(environment);
  const mailer = options.mailer as { host: string; port?: number; protocol?: string } | undefined;
  if (mailer === undefined) return warning("SMTP_HOST is empty: no mail goes out");
  const secure = mailer.protocol === "smtps";
  const port = mailer.port ?? (secure ? 465 : 587);
  const where = `${mailer.host}:${port}`;
  const socket = secure ? connectTls({ host: mailer.host, port, servername: mailer.host }) : connectPlain({ host: mailer.host, port });
  try {
    const [greeting] = (await once(socket, "data", { signal: AbortSignal.timeout(greetingTime) })) as [Buffer];
    const line = greeting.toString("latin1").split("\r\n", 1)[0]!.slice(0, 100);
    return line.startsWith("220") ? ok(`${where} greets with ${line}`) : failed(`${where} greets with ${line}`);
  } catch (error) {
    return failed(`${where} does not greet: ${(error as Error).message}`);
  } finally {
    socket.destroy();
  }
}

async function checkImages(): Promise<Finding> {
  const images = createImageProcess();
  try {
    const begun = performance.now();
    const [variant] = await images.scale(tinyPng(), [8]);
    return variant === undefined ? failed("sharp gave no image") : ok(`sharp scales, ${Math.round(performance.now() - begun)} ms with its start`);
  } finally {
    await images.close();
  }
}

async function checkHashing(environment: Environment): Promise<Finding> {
  const { options } = readEnvironment(environment);
  const { hashing } = resolveOptions(options).authentication;
  const engine = await import("@node-rs/argon2").then(() => "@node-rs/argon2", () => "argon2");
  const hasher = createArgon2Hasher(hashing);
  await hasher.hash("a first one, to load the library");
  const begun = performance.now();
  const stored = await hasher.hash("correct horse battery");
  const time = Math.round(performance.now() - begun);
  if (!(await hasher.verify(stored, "correct horse battery"))) return failed(`${engine} does not verify its own hash`);
  const slots = slotCount({ concurrency: hashing.concurrency, heapLimit: getHeapStatistics().heap_size_limit, memory: hashing.memory, threadPool: hashing.threadPool });
  const detail = `${engine}, ${time} ms a hash, ${slots} at a time`;
  return engine === "argon2" ? warning(`${detail}; the optional @node-rs/argon2 does not load here, and would be faster`) : ok(detail);
}

async function checkClock(): Promise<Finding> {
  const now = new Date();
  if (now.getUTCFullYear() < 2025 || now.getUTCFullYear() > 2100) return failed(`the clock says ${now.toISOString()}: tokens and certificates will not be valid`);
  return ok(now.toISOString());
}

async function checkThreadPool(environment: Environment): Promise<Finding> {
  const size = Number(environment["UV_THREADPOOL_SIZE"] ?? 4);
  return size >= 8 ? ok(`${size} threads`) : warning(`${size} threads: hashing may hold up files; set UV_THREADPOOL_SIZE to 16 where the service runs in a process of your own`);
}

/** A grey square of 16 pixels. */
function tinyPng(): Buffer {
  const chunk = (type: string, content: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type, "latin1"), content]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(content.length, 0);
    frame.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(16, 0);
  header.writeUInt32BE(16, 4);
  header[8] = 8;
  const pixels = Buffer.alloc(16 * 17, 128);
  for (let line = 0; line < 16; line += 1) pixels[line * 17] = 0;
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", header), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0))]);
}
