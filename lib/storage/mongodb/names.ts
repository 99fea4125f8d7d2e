// How the contract's names become MongoDB's: databases, collections, members of documents, indexes.
import type { IndexDefinition } from "../storage.js";

const tableName = /^[A-Za-z_][A-Za-z0-9_]{0,126}$/;
const tenantId = /^[A-Za-z0-9_-]{1,64}$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The tenant's database: the system database's name, `_` and the id, of a UUID without its dashes. */
export function tenantDatabase(system: string, id: string): string {
  if (!tenantId.test(id)) throw new TypeError("A tenant's id is made of up to 64 letters, digits, _ and -");
  return `${system}_${uuid.test(id) ? id.replaceAll("-", "") : id}`;
}

/** The collection that keeps a table's rows. Throws TypeError on a name that is none. */
export function rowsOf(table: string): string {
  if (!tableName.test(table)) throw new TypeError(`"${table}" cannot name a table: use letters, digits and _, at most 127`);
  return `rows_${table}`;
}

/** A member's name with nothing in it that means something to MongoDB. */
export function memberName(field: string): string {
  return /^[A-Za-z0-9_]+$/.test(field) ? field : field.replace(/[^A-Za-z0-9_]/gu, (character) => `%${character.codePointAt(0)!.toString(16)};`);
}

/** Where a document keeps a field for queries. */
export function fieldPath(field: string): string {
  return field === "id" ? "_id" : `f.${memberName(field)}`;
}

/** The keys of an index. The id breaks the ties of a sorted list. */
export function indexKeys(index: IndexDefinition): Record<string, 1> {
  return Object.fromEntries([...index.fields.map(({ field }) => fieldPath(field)), "_id"].map((path) => [path, 1]));
}

/** An index's name, which tells the whole definition. */
export function indexName(index: IndexDefinition): string {
  return index.fields.map(({ field }) => memberName(field)).join("+");
}
