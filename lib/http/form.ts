// Forms: a multipart body as the pipeline takes it, text parts converted to their fields' types (contract 5).
import type { IncomingMessage } from "node:http";
import { ValidationFailed, type FieldError } from "../core/errors.js";
import type { Json, JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { Files, PendingFile } from "../files/files.js";
import { convertText } from "../schema/convert.js";
import type { Field } from "../schema/collection.js";
import type { TenantContext } from "../tenants/context.js";
import { readMultipart } from "./multipart.js";

export interface Form {
  readonly body: JsonObject;
  /** Stored already; dropped where the write does not come about. */
  readonly files: readonly PendingFile[];
}

/** Throws what readMultipart throws, and ValidationFailed for text that is no value of its field. */
export async function readForm(files: Files, req: IncomingMessage, context: TenantContext, collection: Collection, recordId: string): Promise<Form> {
  const form = await readMultipart(req, {
    fields: collection.files,
    receive: (field, upload) => files.receive(context, collection, recordId, field, upload),
    drop: (pending) => files.drop(pending),
  });
  const body: Record<string, Json> = Object.create(null) as Record<string, Json>;
  const errors: FieldError[] = [];
  for (const [name, text] of Object.entries(form.text)) {
    const field = collection.fields.get(name);
    const value = field === undefined ? { value: text } : convertPart(field, text);
    if ("error" in value) errors.push({ field: name, message: value.error });
    else body[name] = value.value;
  }
  if (errors.length === 0) return { body, files: form.files };
  await files.drop(form.files);
  throw new ValidationFailed(errors);
}

/** An empty part is an empty text for TEXT, and no value for every other type, as a browser's form sends it. */
function convertPart(field: Field, text: string): { readonly value: Json } | { readonly error: string } {
  if (text === "" && field.type !== "TEXT") return { value: null };
  if (field.type !== "FILE") return convertText(field, text);
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return { error: "must be a file, null, or JSON text with the ids of the files to keep" };
  }
}
