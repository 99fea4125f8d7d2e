// Secrets that were not given are generated once and kept in the data folder, readable by the owner alone (contract 10).
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OptionsError, secretNames, type Secrets } from "./options.js";

const pattern = /^[0-9a-fA-F]{64,}$/;

/**
 * The given secrets, completed by those of `<folder>/secrets.json`, which is written with mode 0600 where it is
 * missing. Without a folder: generated for this process alone. Throws OptionsError where the file is damaged or cannot be written.
 */
export function completeSecrets(given: Partial<Secrets>, folder: string | undefined): Secrets {
  if (secretNames.every((name) => given[name] !== undefined)) return given as Secrets;
  return { ...(folder === undefined ? generate() : keptIn(folder)), ...dropUndefined(given) };
}

/** The names of those whose value another one has too. */
export function repeatedSecrets(secrets: Secrets): readonly string[] {
  return secretNames.filter((name) => secretNames.some((other) => other !== name && secrets[other].toLowerCase() === secrets[name].toLowerCase()));
}

function dropUndefined(given: Partial<Secrets>): Partial<Secrets> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function generate(): Secrets {
  return Object.fromEntries(secretNames.map((name) => [name, randomBytes(32).toString("hex")])) as unknown as Secrets;
}

function keptIn(folder: string): Secrets {
  const file = join(folder, "secrets.json");
  try {
    // What lies beside the file is nobody else's either. A folder that is there keeps its mode.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(folder, error);
  }
  try {
    // `wx`: of two processes that start at once one writes, and both read the same.
    writeFileSync(file, `${JSON.stringify(generate(), null, 2)}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(folder, error);
  }
  return read(file);
}

function unusable(folder: string, error: unknown): OptionsError {
  return new OptionsError([`storage: the folder ${folder} cannot be written to (${(error as NodeJS.ErrnoException).code ?? "unknown"}): name a folder that this process may write to, or give all secrets`]);
}

function read(file: string): Secrets {
  let kept: unknown;
  try {
    kept = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    kept = null;
  }
  const secrets = (typeof kept === "object" && kept !== null ? kept : {}) as Record<string, unknown>;
  const broken = secretNames.filter((name) => typeof secrets[name] !== "string" || !pattern.test(secrets[name]));
  if (broken.length > 0) throw new OptionsError([`${file} lacks a usable ${broken.join(", ")}: restore the file, or remove it to have new secrets made (all sessions end then)`]);
  return secrets as unknown as Secrets;
}
