// Which columns a table of records shows; kept in this browser for each collection.
import { useSignal } from "../state/signal.js";
import type { CollectionDefinition, Field, Tenant } from "../api/types.js";
import { Icon } from "../kit/icon.js";
import { recall, remember } from "../state/memory.js";

export interface Columns {
  readonly all: readonly Field[];
  readonly shown: readonly Field[];
  toggle(name: string): void;
}

/** Managed by the service, so it is no field of the schema. */
const verified: Field = { name: "emailVerified", type: "BOOLEAN", required: false, unique: false, default: null };

/** As many as are read at a glance. */
const atFirst = 6;

export function useColumns(tenant: Tenant, collection: CollectionDefinition): Columns {
  const place = `columns.${tenant.id}.${collection.name}`;
  const hidden = useSignal<readonly string[] | null>(parse(recall(place)));
  const all = collection.system ? [...collection.fields.filter((field) => field.name !== "password"), verified] : collection.fields;
  const names = hidden.value ?? all.slice(atFirst).map((field) => field.name);
  return {
    all,
    shown: all.filter((field) => !names.includes(field.name)),
    toggle(name) {
      const next = names.includes(name) ? names.filter((item) => item !== name) : [...names, name];
      hidden.value = next;
      remember(place, JSON.stringify(next));
    },
  };
}

function parse(text: string | null): readonly string[] | null {
  try {
    const value: unknown = text === null ? null : JSON.parse(text);
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : null;
  } catch {
    return null;
  }
}

export function ColumnsMenu({ columns }: { readonly columns: Columns }) {
  return (
    <details class="menu" onKeyDown={(event) => { if (event.key === "Escape") event.currentTarget.open = false; }}>
      <summary class="button plain"><Icon name="table" />Columns</summary>
      <fieldset class="menu-body">
        <legend class="visually-hidden">Columns that are shown</legend>
        {columns.all.map((field) => (
          <label class="menu-item" key={field.name}>
            <input type="checkbox" checked={columns.shown.includes(field)} onChange={() => columns.toggle(field.name)} />{field.name}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
