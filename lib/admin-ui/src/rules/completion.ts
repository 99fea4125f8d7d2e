// What may stand where the caret is: fields of the record, of @auth, @body and @changed, and the values of a SELECT field.
import type { Field } from "../../../schema/collection.js";
import type { RuleSubject } from "./check.js";

export interface Suggestion {
  readonly text: string;
  readonly note: string;
}

export interface Completion {
  /** Where the word that is typed begins. */
  readonly start: number;
  readonly suggestions: readonly Suggestion[];
}

const systemFields: readonly Suggestion[] = [{ text: "id", note: "id" }, { text: "createdAt", note: "date" }, { text: "updatedAt", note: "date" }];
const most = 12;

export function complete(source: string, caret: number, subject: RuleSubject): Completion | null {
  const before = source.slice(0, caret);
  const choice = /([A-Za-z_]\w*)\s*(?:=|!=|in\s*\[(?:[^\]]*,)?)\s*(["'][^"'\n]*)$/.exec(before);
  if (choice !== null) {
    const field = subject.collection.fields.find((item) => item.name === choice[1]);
    const typed = choice[2] ?? "";
    if (field?.type !== "SELECT") return null;
    return found(caret - typed.length, field.values.map((value) => ({ text: JSON.stringify(value), note: field.name })), `"${typed.slice(1)}`);
  }
  if (inString(before)) return null;
  const word = /[@A-Za-z_][\w.]*$/.exec(before)?.[0] ?? (/@$/.test(before) ? "@" : "");
  if (word === "") return null;
  return found(caret - word.length, candidates(word, subject), word);
}

function candidates(word: string, subject: RuleSubject): readonly Suggestion[] {
  const own = named(subject.collection.fields, subject.collection.name === "users");
  if (word.startsWith("@")) {
    const users = named(subject.userFields, true);
    const { usage } = subject;
    return [
      ...prefixed("@auth.", [...systemFields.slice(0, 1), ...users]),
      ...(usage === "create" || usage === "update" ? prefixed("@body.", own) : []),
      ...(usage === "update" ? prefixed("@changed.", own) : []),
      { text: "@now", note: "the time of the request" },
      ...(usage === "where" ? [] : [{ text: "@method", note: "GET, POST, PATCH, DELETE" }]),
    ];
  }
  return [...own, ...systemFields, { text: "true", note: "value" }, { text: "false", note: "value" }, { text: "null", note: "no value" }];
}

function named(fields: readonly Field[], isUsers: boolean): readonly Suggestion[] {
  const names = fields.filter((field) => !isUsers || field.name !== "password").map((field) => ({ text: field.name, note: field.type.toLowerCase() }));
  return isUsers ? [...names, { text: "emailVerified", note: "boolean" }] : names;
}

const prefixed = (prefix: string, list: readonly Suggestion[]) => list.map((item) => ({ text: `${prefix}${item.text}`, note: item.note }));

function found(start: number, list: readonly Suggestion[], word: string): Completion | null {
  const wanted = word.toLowerCase();
  const suggestions = list.filter((item) => item.text.toLowerCase().startsWith(wanted) && item.text !== word).slice(0, most);
  return suggestions.length === 0 ? null : { start, suggestions };
}

function inString(text: string): boolean {
  let quote: string | null = null;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index];
    if (quote !== null && sign === "\\") index += 1;
    else if (quote !== null) quote = sign === quote ? null : quote;
    else if (sign === '"' || sign === "'") quote = sign;
  }
  return quote !== null;
}
