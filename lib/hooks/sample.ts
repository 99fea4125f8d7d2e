// The sample that the Test action sends: a whole envelope about a record that does not exist.
import { timestamp, type Clock } from "../core/clock.js";
import { newId } from "../core/ids.js";
import type { Json, RecordValue } from "../core/record.js";
import type { TenantContext } from "../tenants/context.js";
import type { HookDefinition } from "./definition.js";
import type { Envelope } from "./hooks.js";

const methods: Readonly<Record<string, string>> = { List: "GET", View: "GET", Update: "PATCH", Delete: "DELETE" };

/** Shaped like a delivery of the hook's own event. */
export function sampleEnvelope(context: TenantContext, hook: HookDefinition, deliveryId: string, clock: Clock): Envelope {
  const { event } = hook;
  const at = timestamp(clock);
  const action = event.replace(/^(before|after)/, "");
  const collection = hook.collection ?? hook.match?.collections?.[0] ?? "users";
  const isAuth = action === "Register" || action === "Login" || action === "Refresh";
  const recordId = action === "List" || action === "Request" ? null : newId(clock.now());
  const sample: RecordValue = { id: recordId ?? newId(clock.now()), createdAt: at, updatedAt: at };
  const hasRecord = !isAuth && !["List", "Request"].includes(action) && event !== "beforeCreate";
  const definition = context.collections.get(collection)?.definition;
  return {
    service: { version: 1, event, deliveryId, timestamp: at },
    context: {
      collection,
      recordId,
      auth: { id: null, role: null },
      http: {
        method: methods[action] ?? "POST",
        path: isAuth ? `/api/auth/${action.toLowerCase()}` : `/api/collections/${collection}${hasRecord && action !== "Create" ? `/${sample.id}` : ""}`,
        headers: { "content-type": ["application/json"] },
      },
    },
    data: { body: sampleBody(event, action, recordId), record: hasRecord ? sample : null },
    schema: hook.includeSchema && definition !== undefined ? { fields: definition.fields as unknown as Json } : null,
  };
}

function sampleBody(event: string, action: string, recordId: string | null): Json {
  if (["beforeList", "beforeView", "beforeDelete", "afterDelete"].includes(event)) return null;
  if (action === "Register") return { username: "sample", password: "***" };
  if (action === "Login") return { username: "sample" };
  return event === "beforeCreate" ? { id: recordId } : {};
}
