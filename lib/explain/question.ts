// Question: what is to be explained, checked.
import joi from "joi";
import type { JsonObject } from "../core/record.js";
import { demandInput } from "../schema/input.js";

export type Operation = "list" | "view" | "create" | "update" | "delete";

export interface Question {
  readonly caller: "guest" | "superadmin" | { readonly userId: string } | { readonly keyId: string };
  readonly collection: string;
  readonly operation: Operation;
  /** Of a view, update or delete; of a list whether this record would be in it. */
  readonly recordId?: string | undefined;
  /** Of a create or an update. */
  readonly body: JsonObject;
}

const caller = joi.alternatives(joi.string().valid("guest", "superadmin"), joi.object({ userId: joi.string().required() }), joi.object({ keyId: joi.string().required() }))
  .messages({ "alternatives.match": 'must be "guest", "superadmin", { userId } or { keyId }', "alternatives.types": 'must be "guest", "superadmin", { userId } or { keyId }' });
const schema = joi.object({
  caller: caller.required(),
  collection: joi.string().required(),
  operation: joi.string().valid("list", "view", "create", "update", "delete").required(),
  recordId: joi.string().when("operation", { is: joi.valid("view", "update", "delete"), then: joi.required() }).when("operation", { is: "create", then: joi.forbidden() }),
  body: joi.object().unknown().default({}),
});

/** Throws ValidationFailed. */
export function readQuestion(input: unknown): Question {
  return demandInput<Question>(schema, input);
}
