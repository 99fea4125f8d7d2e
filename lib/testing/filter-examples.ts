// What filters mean, by example: records, filters, and the records that each lets through. Stores and matches() are
// both held to this one table.
import type { Json } from "../core/record.js";
import { all, always, any, boolean, is, isOneOf, never, not, number, text, type FieldOperand, type Filter, type Operand } from "../storage/filter.js";

/** The records, numbered from 1. */
export const exampleRecords: readonly Readonly<Record<string, Json>>[] = [
  /*  1 */ { name: "Ada", other: "Ada", size: 1, limit: 1, flag: true, second: true, data: "Ada", tags: ["a", "b"] },
  /*  2 */ { name: "ada", other: "Ada", size: 2, limit: 1, flag: false, second: true, data: 1, tags: ["A", 1, true, null] },
  /*  3 */ { name: "", other: "", size: 0, limit: 0.5, flag: null, second: null, data: true, tags: [] },
  /*  4 */ { name: null, other: null, size: null, limit: null, data: null, tags: null },
  /*  5 */ {},
  /*  6 */ { name: "1", other: "true", size: -1, limit: 1, flag: true, second: false, data: "1", tags: "a" },
  /*  7 */ { name: "ÄÖÜ straße", other: "ÜST", size: 1.5, data: { color: "red", deep: { x: 1 }, "a.b": "dot", "": "empty", "quo\"te": 1 }, tags: { a: "a" } },
  /*  8 */ { name: "100% _sure_ *", other: "%", size: 1e21, data: { color: "Red", deep: { x: "1" } }, tags: [["a"], { a: 1 }] },
  /*  9 */ { name: "\u{1f600}", other: "\uffee", size: 2 ** 62, data: { color: null, deep: [{ x: 1 }], list: [1, 2] }, tags: [1.5, "1", false] },
  /* 10 */ { name: "\u212a", other: "i\u0307", data: false, tags: ["Ada", "\u212a"] },
  /* 11 */ { name: "İ", other: "x\u0000y", data: 0, tags: [0, ""] },
];

const data: FieldOperand = { field: "data", kind: "json" };
const inside = (...path: string[]): FieldOperand => ({ field: "data", kind: "json", path });
const tags: FieldOperand = { field: "tags", kind: "json" };
const value = (of: string | number | boolean | null): Operand => ({ value: of });
const less = (left: Operand, right: Operand, orEqual = false): Filter => ({ op: "less", left, right, orEqual });
const contains = (whole: Operand, part: Operand): Filter => ({ op: "contains", text: whole, part });
const same = (left: FieldOperand, right: FieldOperand): Filter => ({ op: "same", left, right });
const includes = (list: FieldOperand, item: Operand): Filter => ({ op: "includes", list, item });

const everyone = exampleRecords.map((_unused, index) => index + 1);
const but = (...left: number[]): number[] => everyone.filter((n) => !left.includes(n));

export interface FilterExample {
  readonly name: string;
  readonly filter: Filter;
  /** Numbers of the records that the filter lets through. */
  readonly expected: readonly number[];
}

const list: readonly (readonly [string, Filter, readonly number[]])[] = [
  ["always", always, everyone],
  ["never", never, []],
  ["not always", { op: "not", filter: always }, []],
  ["not never", { op: "not", filter: never }, everyone],

  ["is: exact text", is(text("name"), "Ada"), [1]],
  ["is: the empty text", is(text("name"), ""), [3]],
  ["is: a text is no number", is(text("name"), 1), []],
  ["is: a number is no text", is(number("size"), "1"), []],
  ["is: null also where absent", is(text("name"), null), [4, 5]],
  ["is: number", is(number("size"), 1), [1]],
  ["is: broken number", is(number("size"), 1.5), [7]],
  ["is: large numbers", any(is(number("size"), 1e21), is(number("size"), 2 ** 62)), [8, 9]],
  ["is: no near miss of a large number", is(number("size"), 2 ** 62 + 1024), []],
  ["is: true", is(boolean("flag"), true), [1, 6]],
  ["is: false", is(boolean("flag"), false), [2]],
  ["is: true is not 1", is(boolean("flag"), 1), []],
  ["is: a field with a NUL in it", is(text("other"), "x\u0000y"), [11]],
  ["is: id", is(text("id"), "nobody"), []],
  ["not is: holds on null and absent", not(is(text("name"), "Ada")), but(1)],
  ["not is null", not(is(number("size"), null)), but(4, 5, 10, 11)],

  ["json is: text", is(data, "Ada"), [1]],
  ["json is: number", is(data, 1), [2]],
  ["json is: true is not 1", is(data, true), [3]],
  ["json is: false is not 0", is(data, false), [10]],
  ["json is: 0", is(data, 0), [11]],
  ["json is: text 1", is(data, "1"), [6]],
  ["json is: null", is(data, null), [4, 5]],
  ["json is: member", is(inside("color"), "red"), [7]],
  ["json is: member of a member", is(inside("deep", "x"), 1), [7]],
  ["json is: no member through an array", is(inside("deep", "0"), null), everyone],
  ["json is: member null or absent", is(inside("color"), null), but(7, 8)],
  ["json is: names with dots, quotes, none", any(is(inside("a.b"), "dot"), is(inside("quo\"te"), 1), is(inside(""), "empty")), [7]],
  ["json is: a dot is no path", is(inside("deep.x"), 1), []],
  ["json is: an object is no text", is(data, JSON.stringify(exampleRecords[6]!["data"])), []],
  ["not json is", not(is(inside("color"), "red")), but(7)],

  ["same: texts", same(text("name"), text("other")), [1, 3]],
  ["same: numbers", same(number("size"), number("limit")), [1]],
  ["same: booleans", same(boolean("flag"), boolean("second")), [1]],
  ["same: nulls are not the same", all(same(text("name"), text("other")), is(text("name"), null)), []],
  ["same: kinds that never meet", same(text("name"), number("size")), []],
  ["same: json with text", same(data, text("name")), [1, 6]],
  ["same: json with number", same(data, number("limit")), [2]],
  ["same: json with boolean", same(boolean("flag"), data), []],
  ["same: json with itself, scalars only", same(data, data), [1, 2, 3, 6, 10, 11]],
  ["not same", not(same(text("name"), text("other"))), but(1, 3)],

  ["less: numbers", less(number("size"), value(1)), [3, 6]],
  ["less: numbers or equal", less(number("size"), value(1), true), [1, 3, 6]],
  ["less: more than a number", less(value(1.5), number("size")), [2, 8, 9]],
  ["less: two fields", less(number("limit"), number("size")), [2]],
  ["less: texts by code point", less(text("name"), value("Ada"), true), [1, 3, 6, 8]],
  ["less: beyond the basic plane", less(value("\uffff"), text("name")), [9]],
  ["less: two texts", less(text("other"), text("name")), [2, 8, 9, 10, 11]],
  ["less: a text and a number", less(text("name"), value(5)), []],
  ["less: a number and a text", less(value("5"), number("size")), []],
  ["less: booleans have no order", less(boolean("flag"), boolean("second"), true), []],
  ["less: null", less(number("size"), value(null), true), []],
  ["less: two values", less(value(1), value(2)), everyone],
  ["less: two values the other way", less(value("b"), value("a")), []],
  ["less: json number", less(data, value(1), true), [2, 11]],
  ["less: json text", less(data, value("A")), [6]],
  ["less: json with json", less(data, data, true), [1, 2, 6, 11]],
  ["not less", not(less(number("size"), value(1))), but(3, 6)],

  ["contains: whatever the case", contains(text("name"), value("AD")), [1, 2]],
  ["contains: the empty part is in every text", contains(text("name"), value("")), but(4, 5)],
  ["contains: letters outside ASCII", contains(text("name"), value("äÖü str")), [7]],
  ["contains: the sharp s is no ss", contains(text("name"), value("strasse")), []],
  ["contains: no wildcard", contains(text("name"), value("%_")), []],
  ["contains: wildcards as they stand", contains(text("name"), value("0% _SURE_ *")), [8]],
  ["contains: lower case as JavaScript has it", contains(text("name"), value("k")), [10]],
  ["contains: lower case that makes two", contains(text("name"), text("other")), [1, 2, 3, 8]],
  ["contains: field in value", contains(value("Adafruit"), text("name")), [1, 2, 3]],
  ["contains: lower case of the dotted I", contains(text("name"), value("i\u0307")), [11]],
  ["contains: no text", contains(number("size"), value("1")), []],
  ["contains: no text to look for", contains(text("name"), value(1)), []],
  ["contains: json", contains(data, value("d")), [1]],
  ["contains: json member", contains(inside("color"), value("RED")), [7, 8]],
  ["contains: two values", contains(value("Hello"), value("ELL")), everyone],
  ["not contains", not(contains(text("name"), value("ad"))), but(1, 2)],

  ["in: texts", isOneOf(text("name"), ["Ada", "", "nobody"]), [1, 3]],
  ["in: numbers of another type", isOneOf(text("name"), [1, true]), []],
  ["in: numbers", isOneOf(number("size"), [0, 2, "1"]), [2, 3]],
  ["in: booleans", isOneOf(boolean("flag"), [true, 0]), [1, 6]],
  ["in: null is no member", isOneOf(text("name"), [null, "Ada"]), [1]],
  ["in: raw null", { op: "in", field: text("name"), values: [null] }, []],
  ["in: nothing", isOneOf(text("name"), []), []],
  ["in: json of every type", isOneOf(data, ["Ada", 1, true]), [1, 2, 3]],
  ["in: many texts", isOneOf(text("name"), ["ada", ...Array.from({ length: 60 }, (_unused, n) => `x${n}`), "x\u0000", "\u{1f600}"]), [2, 9]],
  ["in: many numbers", isOneOf(number("size"), [2 ** 62, ...Array.from({ length: 40 }, (_unused, n) => n + 1.5)]), [7, 9]],
  ["in: many of all types", isOneOf(data, [false, true, 0, "1", ...Array.from({ length: 40 }, (_unused, n) => `${n + 2}`), ...Array.from({ length: 40 }, (_unused, n) => n + 2)]), [3, 6, 10, 11]],
  ["not in", not(isOneOf(text("name"), ["Ada"])), but(1)],

  ["includes: text", includes(tags, value("a")), [1]],
  ["includes: exact text", includes(tags, value("A")), [2]],
  ["includes: number", includes(tags, value(1)), [2]],
  ["includes: text 1", includes(tags, value("1")), [9]],
  ["includes: true is not 1", includes(tags, value(true)), [2]],
  ["includes: false is not 0", includes(tags, value(false)), [9]],
  ["includes: broken number", includes(tags, value(1.5)), [9]],
  ["includes: the empty text", includes(tags, value("")), [11]],
  ["includes: null is never included", includes(tags, value(null)), []],
  ["includes: a field's value", includes(tags, text("name")), [10]],
  ["includes: a json field's value", includes(tags, data), [2, 11]],
  ["includes: a list inside", includes(inside("list"), value(2)), [9]],
  ["not includes", not(includes(tags, value("a"))), but(1)],

  ["all: each", all(is(boolean("flag"), true), less(number("size"), value(1))), [6]],
  ["any: one", any(is(text("name"), "Ada"), is(number("size"), 0)), [1, 3]],
  ["any and all nested", any(all(is(text("name"), "Ada"), not(is(boolean("flag"), true))), all(not(is(data, 1)), is(text("name"), "ada")), is(text("name"), "1")), [6]],
  ["not not", { op: "not", filter: { op: "not", filter: is(text("name"), "Ada") } }, [1]],
  ["not of all", not(all(is(boolean("flag"), true), is(number("size"), 1))), but(1)],
  ["not of any", not(any(is(text("name"), null), less(number("size"), value(100)))), [8, 9, 10, 11]],
  ["raw constants inside", { op: "all", filters: [always, { op: "any", filters: [never, is(text("name"), "Ada")] }, { op: "not", filter: never }] }, [1]],
  ["two thousand alternatives", { op: "any", filters: Array.from({ length: 2000 }, (_unused, n) => is(number("size"), n + 2)) }, [2]],
  ["two thousand conditions", { op: "all", filters: Array.from({ length: 2000 }, (_unused, n) => not(is(number("size"), n + 2))) }, but(2)],
  ["a hundred levels", Array.from({ length: 100 }).reduce<Filter>((inner) => ({ op: "not", filter: { op: "all", filters: [inner, inner === never ? always : not(never)] } }), is(text("name"), "Ada")), [1]],
];

export const filterExamples: readonly FilterExample[] = list.map(([name, filter, expected]) => ({ name, filter, expected: [...expected].sort((a, b) => a - b) }));
