// One value of a record in a table.
import type { Field, Json, Tenant } from "../api/types.js";
import { formatTime, shortId } from "../kit/format.js";
import { Badge } from "../kit/page.js";
import { link } from "../state/route.js";
import { previewUrl } from "./files.js";
import { filesOf } from "./record-values.js";

export function Cell({ tenant, field, value }: { readonly tenant: Tenant; readonly field: Field; readonly value: Json }) {
  if (value === null || value === undefined) return <span class="muted" aria-label="empty">–</span>;
  switch (field.type) {
    case "BOOLEAN":
      return <Badge tone={value === true ? "good" : "neutral"}>{value === true ? "yes" : "no"}</Badge>;
    case "DATE":
      return <time dateTime={String(value)}>{formatTime(String(value))}</time>;
    case "SELECT":
      return <Badge tone="info">{String(value)}</Badge>;
    case "RELATION":
      return <a href={link(["t", tenant.slug, "c", field.collection, "r", String(value)])} title={String(value)}><code>{shortId(String(value))}</code></a>;
    case "JSON":
      return <code>{JSON.stringify(value).slice(0, 80)}</code>;
    case "FILE": {
      const files = filesOf(value);
      const first = files[0];
      if (first === undefined) return <span class="muted" aria-label="empty">–</span>;
      return (
        <>
          {first.type.startsWith("image/") && <img class="thumb" src={previewUrl(tenant, first, 64)} alt="" loading="lazy" />} {first.name}
          {files.length > 1 && <> <Badge>+{files.length - 1}</Badge></>}
        </>
      );
    }
    default: {
      const text = String(value);
      return <>{text.length > 120 ? `${text.slice(0, 120)}…` : text}</>;
    }
  }
}
