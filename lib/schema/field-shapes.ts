// The shapes of field, index and collection definitions as joi sees them: members, types, limits, defaults.
import Joi from "joi";
import { collectionNamePattern, fieldNamePattern, type FieldType } from "./collection.js";

/** Most fields of a collection. */
export const maxFields = 200;
/** Most indexes of a collection, unique fields included: document stores allow 64. */
export const maxIndexes = 60;

const mebibyte = 1024 * 1024;
const nameMessages = { "string.pattern.base": "must start with a letter and have only letters, digits and _, at most 63 characters" };

const orNull = (schema: Joi.Schema) => schema.allow(null).default(null);
const flag = () => Joi.boolean().default(false);
const count = () => Joi.number().integer().min(0);

const base = {
  name: Joi.string().pattern(fieldNamePattern).required().messages(nameMessages),
  type: Joi.string().required(),
  required: flag(),
  unique: flag(),
  default: Joi.any().default(null),
};

const options: Readonly<Record<FieldType, Joi.SchemaMap>> = {
  TEXT: {
    minLength: orNull(count()),
    maxLength: count().min(1).default(5000),
    pattern: orNull(Joi.string()),
  },
  NUMBER: { min: orNull(Joi.number().unsafe()), max: orNull(Joi.number().unsafe()), integer: flag() },
  BOOLEAN: {},
  DATE: { min: orNull(Joi.string()), max: orNull(Joi.string()) },
  EMAIL: {},
  URL: {},
  SELECT: {
    values: Joi.array().items(Joi.string().max(255)).min(1).max(1000).unique().required()
      .messages({ "string.empty": "must not be empty", "array.unique": "is listed twice" }),
  },
  RELATION: {
    collection: Joi.string().pattern(collectionNamePattern).required().messages(nameMessages),
    onDelete: Joi.string().valid("restrict", "setNull", "cascade").default("restrict"),
  },
  JSON: {},
  FILE: {
    multiple: flag(),
    maxFiles: Joi.number().integer().min(1).max(100).default(10),
    maxSize: Joi.number().integer().min(1).max(4 * mebibyte).default(2 * mebibyte),
    mimeTypes: Joi.array().items(Joi.string().pattern(/^[a-z0-9][a-z0-9!#$&^_.+-]*\/(?:\*|[a-z0-9][a-z0-9!#$&^_.+-]*)$/)).max(100).unique().default([])
      .messages({ "string.pattern.base": "must be a media type in lower case, such as image/png or image/*", "array.unique": "is listed twice" }),
    widths: Joi.array().items(Joi.number().integer().min(1).max(4096)).max(8).unique().default([])
      .messages({ "array.unique": "is listed twice" }),
  },
};

/** One shape per field type, with its members in their documented order. */
export const fieldShapes: ReadonlyMap<string, { readonly schema: Joi.ObjectSchema; readonly members: readonly string[] }> = new Map(
  Object.entries(options).map(([type, own]) => {
    const members = { ...base, ...own };
    return [type, { schema: Joi.object(members), members: Object.keys(members) }];
  }),
);

export const indexShape = Joi.object({
  fields: Joi.array().items(Joi.string()).min(1).max(8).unique().required().messages({ "array.unique": "is listed twice" }),
  unique: flag(),
});

const rule = Joi.string().max(5000).allow(null)
  .messages({ "string.empty": "is empty: write true for Public, or null for No access", "string.base": "must be a text or null" });

/** The members of a collection but its fields and indexes, which are looked at one by one. Those that the service sets are ignored. */
export const collectionShape = Joi.object({
  name: Joi.string().pattern(collectionNamePattern).messages(nameMessages),
  fields: Joi.array().max(maxFields),
  indexes: Joi.array().max(maxIndexes),
  listRule: rule,
  viewRule: rule,
  createRule: rule,
  updateRule: rule,
  deleteRule: rule,
  realtime: Joi.boolean(),
  id: Joi.any(),
  system: Joi.any(),
  createdAt: Joi.any(),
  updatedAt: Joi.any(),
});

/** One fault that joi found: where, and a message without the name. */
export interface ShapeFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The value with its defaults, or every fault. */
export function checkShape(schema: Joi.Schema, value: unknown): { readonly value: unknown; readonly faults: readonly ShapeFault[] } {
  const result = schema.validate(value, { abortEarly: false, convert: false, errors: { label: false } });
  return {
    value: result.value as unknown,
    faults: (result.error?.details ?? []).map(({ path, message }) => ({ path, message: message.replaceAll('"value" ', "") })),
  };
}
