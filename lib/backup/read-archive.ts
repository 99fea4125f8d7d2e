// Reads an archive's small parts and checks them: manifest, definitions, settings, hooks and keys; then gives its
// records as they were at the moment of the backup.
import { BadRequest, ValidationFailed } from "../core/errors.js";
import { isId } from "../core/ids.js";
import type { Json, JsonObject } from "../core/record.js";
import { defaultSettings, type Settings } from "../core/tenant.js";
import type { Collection } from "../collections/collection.js";
import type { CollectionDefinition } from "../schema/collection.js";
import { initialUsers, parseCollection } from "../schema/definition.js";
import { checkRecordLine } from "./check-records.js";
import { formatName, formatVersion, paths, type HookLine, type KeyLine, type Manifest, type RecordLine } from "./format.js";
import type { ZipReader } from "./zip-reader.js";

export interface ReadArchiveDeps {
  /** Compiles definitions together; `errors` tells rules that do not hold. */
  readonly compile: (definitions: readonly CollectionDefinition[]) => { readonly collections: ReadonlyMap<string, Collection>; readonly errors: readonly string[] };
}

export interface Archive {
  readonly manifest: Manifest;
  readonly settings: Settings;
  /** By name, `users` among them. */
  readonly collections: ReadonlyMap<string, Collection>;
  readonly hooks: readonly HookLine[];
  readonly keys: readonly KeyLine[];
  /** Every record once, page by page. Throws BadRequest. */
  records(collection: Collection): AsyncGenerator<RecordLine[]>;
}

/** Throws BadRequest with what is wrong. */
export async function readArchive({ compile }: ReadArchiveDeps, zip: ZipReader): Promise<Archive> {
  const manifest = checkManifest(parse(await zip.text(paths.manifest), paths.manifest), zip.paths);
  const read = (path: string): Promise<string> => zip.text(path, manifest.entries[path]);
  const definitions = checkDefinitions(parseLines(await read(paths.collections), paths.collections));
  const { collections, errors } = compile(definitions);
  if (errors.length > 0) throw new BadRequest(`${paths.collections} holds a rule that does not hold: ${errors[0]!}`);
  const ids = new Set(definitions.map(({ id }) => id));
  const pages = [...zip.paths].filter((path) => /^(?:records|changes|files)\//.test(path)).sort();
  const stray = pages.find((path) => !ids.has(path.split("/")[1]!));
  if (stray !== undefined) throw new BadRequest(`The archive has ${stray}, which belongs to no collection`);

  return {
    manifest,
    collections,
    settings: checkSettings(parse(await read(paths.settings), paths.settings)),
    hooks: parseLines(await read(paths.hooks), paths.hooks).map(checkHookLine),
    keys: parseLines(await read(paths.apiKeys), paths.apiKeys).map(checkKeyLine),

    async *records(collection) {
      const { id } = collection.definition;
      const own = (folder: string): string[] => pages.filter((path) => path.startsWith(`${folder}/${id}/`));
      const changed = new Set<string>();
      for (const path of own("changes")) for (const line of parseLines(await read(path), path)) changed.add(changedId(line, path));
      const seen = new Set<string>();
      const take = (lines: readonly RecordLine[], path: string): RecordLine[] => {
        for (const { record } of lines) {
          if (seen.has(record.id)) throw new BadRequest(`${path} holds the record ${record.id}, which was there before`);
          seen.add(record.id);
        }
        return [...lines];
      };
      for (const path of own("records")) {
        const lines = parseLines(await read(path), path).map((line) => checkRecordLine(collection, line, path));
        yield take(lines.filter(({ record }) => !changed.has(record.id)), path);
      }
      for (const path of own("changes")) {
        const lines = parseLines(await read(path), path).filter((line) => !isRemoval(line));
        yield take(lines.map((line) => checkRecordLine(collection, line, path)), path);
      }
    },
  };
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequest(`${path} is not valid JSON`);
  }
}

function parseLines(text: string, path: string): unknown[] {
  return text.split("\n").filter((line) => line !== "").map((line) => parse(line, path));
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function checkManifest(value: unknown, present: ReadonlySet<string>): Manifest {
  const { format, version, createdAt, entries, missing } = asObject(value);
  if (format !== formatName) throw new BadRequest("This archive is no backup of this service");
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) throw new BadRequest("The manifest's version cannot be read");
  if (version > formatVersion) throw new BadRequest(`The backup has the format ${version}, and this service knows up to ${formatVersion}: restore it with a newer release`);
  const listed = asObject(entries);
  for (const [path, entry] of Object.entries(listed)) {
    const { size, sha256 } = asObject(entry);
    if (!Number.isSafeInteger(size) || typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) throw new BadRequest(`The manifest's entry ${path.slice(0, 120)} cannot be read`);
    if (!present.has(path)) throw new BadRequest(`The archive lacks ${path.slice(0, 120)}`);
  }
  const extra = [...present].find((path) => path !== paths.manifest && !Object.hasOwn(listed, path));
  if (extra !== undefined) throw new BadRequest(`The archive has ${extra}, which its manifest does not name`);
  const lost = Array.isArray(missing) ? missing.filter((path) => typeof path === "string") : [];
  return { format: formatName, version, createdAt: String(createdAt), entries: listed as Manifest["entries"], missing: lost };
}

function checkDefinitions(values: readonly unknown[]): CollectionDefinition[] {
  const definitions = values.map((value): CollectionDefinition => {
    const { id, system, createdAt, updatedAt, name } = asObject(value);
    if (!isId(id) || typeof createdAt !== "string" || typeof updatedAt !== "string") throw new BadRequest(`${paths.collections} holds a collection without a usable id and times`);
    const base = { id, createdAt, updatedAt, listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null };
    try {
      const isUsers = system === true && name === "users";
      const content = parseCollection(value, isUsers ? { existing: { ...base, system: true, ...initialUsers } } : {});
      return { id, system: isUsers, createdAt, updatedAt, ...content };
    } catch (error) {
      throw error instanceof ValidationFailed ? new BadRequest(`${paths.collections} holds the collection ${String(name).slice(0, 63)}, which cannot be: ${error.message}`) : error;
    }
  });
  const names = new Set(definitions.map(({ name }) => name));
  const [users, ...others] = definitions.filter(({ system }) => system);
  if (users === undefined || others.length > 0) throw new BadRequest(`${paths.collections} must hold users once`);
  if (names.size !== definitions.length || new Set(definitions.map(({ id }) => id)).size !== definitions.length) throw new BadRequest(`${paths.collections} holds a collection twice`);
  for (const { name, fields } of definitions) {
    const lost = fields.find((field) => field.type === "RELATION" && !names.has(field.collection));
    if (lost !== undefined) throw new BadRequest(`${paths.collections} holds ${name}.${lost.name}, which refers to a collection that is not there`);
  }
  return definitions;
}

/** The same members as the defaults, of the same types; members of newer releases are refused, absent ones get the default. */
function checkSettings(value: unknown): Settings {
  return merge(defaultSettings as unknown as JsonObject, asObject(value), "") as unknown as Settings;
}

function merge(model: JsonObject, given: Readonly<Record<string, unknown>>, at: string): JsonObject {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(model, name));
  if (unknown !== undefined) throw new BadRequest(`${paths.settings} has ${at}${unknown.slice(0, 60)}, which is no setting`);
  return Object.fromEntries(Object.entries(model).map(([name, standard]): [string, Json] => {
    const found = given[name];
    if (found === undefined) return [name, standard];
    if (Array.isArray(standard) && Array.isArray(found) && found.every((one) => typeof one === "string")) return [name, found as Json];
    if (!Array.isArray(standard) && typeof standard === "object" && standard !== null && !Array.isArray(found)) return [name, merge(standard as JsonObject, asObject(found), `${at}${name}.`)];
    if (typeof standard !== "object" && typeof found === typeof standard) return [name, found as Json];
    throw new BadRequest(`${paths.settings} has a ${at}${name} that cannot be`);
  }));
}

function checkHookLine(value: unknown): HookLine {
  const { hook, sealed } = asObject(value);
  const { id } = asObject(hook);
  if (!isId(id) || typeof sealed !== "string") throw new BadRequest(`${paths.hooks} holds a hook that cannot be read`);
  return { hook: hook as HookLine["hook"], sealed };
}

function checkKeyLine(value: unknown): KeyLine {
  const { record, hash } = asObject(value);
  const { id, name, prefix, userId, expiresAt, bypassRules, bypassHooks, allowedCidrs, lastUsedAt, revokedAt, createdAt, updatedAt, ...others } = asObject(record);
  const texts = [name, prefix, createdAt, updatedAt].every((one) => typeof one === "string");
  const times = [expiresAt, lastUsedAt, revokedAt].every((one) => one === null || (typeof one === "string" && !Number.isNaN(Date.parse(one))));
  const flags = typeof bypassRules === "boolean" && typeof bypassHooks === "boolean" && Array.isArray(allowedCidrs) && allowedCidrs.every((one) => typeof one === "string");
  if (!isId(id) || !isId(userId) || !texts || !times || !flags || Object.keys(others).length > 0 || typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash)) {
    throw new BadRequest(`${paths.apiKeys} holds a key that cannot be read`);
  }
  return { record: record as KeyLine["record"], hash };
}

function isRemoval(line: unknown): boolean {
  return typeof asObject(line)["removed"] === "string";
}

function changedId(line: unknown, path: string): string {
  const { removed, record } = asObject(line);
  const id = removed ?? asObject(record)["id"];
  if (!isId(id)) throw new BadRequest(`${path} holds a line that is no change`);
  return id;
}
