// Tables: a real <table> in a region that scrolls by keyboard too, with sorting by its heads where the list can sort.
import type { ComponentChildren } from "preact";
import { Icon } from "./icon.js";

export interface Sort {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

export interface Column {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly sortable?: boolean | undefined;
  readonly numeric?: boolean | undefined;
  readonly narrow?: boolean | undefined;
}

/** The column of buttons, which eyes need no title for. */
export const actionsColumn: Column = { id: "actions", title: <span class="visually-hidden">Actions</span> };

export function Table(props: {
  readonly label: string;
  /** A text alone is a column with that title. */
  readonly columns: readonly (Column | string)[];
  readonly sort?: Sort | null | undefined;
  readonly onSort?: ((sort: Sort | null) => void) | undefined;
  readonly busy?: boolean | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="table-region" role="region" aria-label={props.label} tabIndex={0}>
      <table aria-busy={props.busy === true ? "true" : undefined}>
        <thead>
          <tr>{props.columns.map((column) => (typeof column === "string" ? { id: column, title: column } : column)).map((column) => <Head key={column.id} column={column} sort={props.sort ?? null} onSort={props.onSort} />)}</tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

function Head(props: { readonly column: Column; readonly sort: Sort | null; readonly onSort: ((sort: Sort | null) => void) | undefined }) {
  const { column, sort, onSort } = props;
  const mine = sort !== null && sort.field === column.id ? sort.direction : null;
  const classes = `${column.numeric === true ? "numeric" : ""}${column.narrow === true ? " narrow" : ""}`;
  if (column.sortable !== true || onSort === undefined) return <th scope="col" class={classes}>{column.title}</th>;
  return (
    <th scope="col" class={classes} aria-sort={mine === "asc" ? "ascending" : mine === "desc" ? "descending" : undefined}>
      <button
        type="button"
        class="sort"
        onClick={() => onSort(mine === null ? { field: column.id, direction: "asc" } : mine === "asc" ? { field: column.id, direction: "desc" } : null)}
      >
        {column.title}
        {mine !== null && <Icon name={mine === "asc" ? "up" : "down"} />}
      </button>
    </th>
  );
}
