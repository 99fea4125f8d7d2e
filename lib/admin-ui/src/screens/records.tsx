// The records of a collection: filter, sort and page in the address, one opened in a sheet, several deleted at once.
import { bind, useSignal } from "../state/signal.js";
import { useEffect } from "preact/hooks";
import { data } from "../api/service.js";
import type { Field, RecordBody, RecordPage } from "../api/types.js";
import { Button } from "../kit/button.js";
import { askToConfirm } from "../kit/confirm.js";
import { formatCount, formatTime, shortId } from "../kit/format.js";
import { Empty, Failure, Loading } from "../kit/page.js";
import { Table, type Column, type Sort } from "../kit/table.js";
import { say } from "../kit/toast.js";
import { RuleInput } from "../rules/rule-input.js";
import { go, link, route, setQuery } from "../state/route.js";
import { useResource } from "../state/resource.js";
import { Cell } from "./cell.js";
import { ColumnsMenu, useColumns } from "./columns.js";
import type { CollectionProps } from "./collection.js";
import { titleOf } from "./record-values.js";
import { RecordSheet } from "./record-sheet.js";

const pageSize = 50;

/** An answer, and the filter that it answers: the page and its count come apart, in any order. */
type Found = RecordPage & { readonly where: string };

export function RecordsTab(props: CollectionProps) {
  const { tenant, collection } = props;
  const query = route.value.query;
  const opened = route.value.segments[5];
  const where = query.get("where") ?? "";
  const cursor = query.get("cursor") ?? "";
  const sort = parseSort(query.get("sort"));
  const sortText = sort === null ? null : `${sort.field}:${sort.direction}`;
  const before = useSignal<readonly string[]>([]);
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const page = useResource<Found>(async (signal) => ({ ...(await data.list(tenant, collection.name, { limit: pageSize, where, cursor, sort: sortText }, signal)), where }), [tenant.id, collection.name, where, cursor, sortText], { keep: true });
  // Counting may take longer than a page does, so it never keeps the page waiting.
  const total = useResource<Found>(async (signal) => ({ ...(await data.list(tenant, collection.name, { limit: 1, count: true, where }, signal)), where }), [tenant.id, collection.name, where], { keep: true });
  useEffect(() => { selected.value = new Set(); }, [where, cursor, sortText]);
  const path = ["t", tenant.slug, "c", collection.name];
  const here = Object.fromEntries(query);
  const open = (id: string) => link([...path, "r", id], here);
  const reload = () => {
    page.reload();
    total.reload();
  };
  const columns = useColumns(tenant, collection);
  // The first text names the record and opens it; without one, the id does.
  const title = columns.shown.find((field) => field.type === "TEXT" || field.type === "EMAIL")?.name;
  const items = page.data?.items ?? [];
  const word = collection.system ? "account" : "record";
  const add = <Button kind="primary" icon="plus" onClick={() => go(open("new"))}>New {word}</Button>;
  const filtered = where !== "";
  const empty = page.data !== undefined && items.length === 0 && !page.loading;
  return (
    <>
      <Filter {...props} where={where} error={where === "" ? undefined : page.error?.status === 400 ? page.error.message : undefined} onApply={(text) => { before.value = []; setQuery({ where: text, cursor: null }); }} />
      {page.error !== undefined && !(filtered && page.error.status === 400) && <Failure message={page.error.message} onRetry={page.reload} />}
      {page.data === undefined && page.error === undefined && <Loading what={`the ${word}s`} />}
      {empty && !filtered && cursor === "" && (
        <Empty icon={collection.system ? "users" : "table"} title={`No ${word} yet`} action={add}>
          <p>{collection.system ? "Accounts come here by self-registration, or you add them." : "Add the first one here, or over HTTP: the API tab has samples with the real names."}</p>
        </Empty>
      )}
      {empty && (filtered || cursor !== "") && <Empty icon="filter" title="No record matches" action={<Button onClick={() => setQuery({ where: null, cursor: null })}>Show all</Button>} />}
      {items.length > 0 && (
        <>
          <div class="row spread">
            <p class="muted" role="status">{countOf(page.data, total.data, total.error !== undefined, word)}</p>
            <div class="row">
              {selected.value.size > 0 && <Button kind="danger" icon="trash" onClick={() => removeMany(props, [...selected.value], items, () => { selected.value = new Set(); reload(); })}>Delete {selected.value.size} selected</Button>}
              <ColumnsMenu columns={columns} />
              <Button icon="refresh" iconOnly busy={page.loading} onClick={reload}>Load again</Button>
              {add}
            </div>
          </div>
          <Table label={`${word}s`} columns={[selectColumn(items, selected), { id: "id", title: "id", sortable: true, narrow: true }, ...columns.shown.map(toColumn), { id: "createdAt", title: "createdAt", sortable: true, narrow: true }, { id: "updatedAt", title: "updatedAt", sortable: true, narrow: true }]} sort={sort} onSort={(value) => { before.value = []; setQuery({ sort: value === null ? null : `${value.field}:${value.direction}`, cursor: null }); }} busy={page.loading}>
            {items.map((record) => (
              <tr key={record.id}>
                <td class="narrow"><input type="checkbox" aria-label={`Select ${titleOf(collection.fields, record)}`} checked={selected.value.has(record.id)} onChange={() => toggle(selected, record.id)} /></td>
                <IdCell record={record} href={isTitled(record, title) ? undefined : open(record.id)} />
                {columns.shown.map((field) => field.name === title && isTitled(record, title)
                  ? <th scope="row" key={field.name} class="cell"><a href={open(record.id)}><Cell tenant={tenant} field={field} value={record[title] ?? null} /></a></th>
                  : <td key={field.name} class={`cell${field.type === "NUMBER" ? " numeric" : ""}`}><Cell tenant={tenant} field={field} value={record[field.name] ?? null} /></td>)}
                <td class="narrow">{formatTime(record.createdAt)}</td>
                <td class="narrow">{formatTime(record.updatedAt)}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
      {page.data !== undefined && (cursor !== "" || page.data.hasMore) && (
        <nav class="pager" aria-label="Pages">
          <span>Page {cursor === "" ? 1 : before.value.length > 0 ? before.value.length + 1 : "further on"}</span>
          <div class="row">
            <Button icon="left" disabled={cursor === ""} onClick={() => { const list = [...before.value]; const last = list.pop() ?? ""; before.value = list; setQuery({ cursor: last }); }}>{before.value.length > 0 || cursor === "" ? "Previous" : "First page"}</Button>
            <Button disabled={!page.data.hasMore || typeof page.data.nextCursor !== "string"} onClick={() => { before.value = [...before.value, cursor]; setQuery({ cursor: page.data?.nextCursor }); }}>Next</Button>
          </div>
        </nav>
      )}
      {opened !== undefined && <RecordSheet key={opened} {...props} id={opened === "new" ? null : opened} onClose={() => go(link(path, here))} onSaved={(record) => { reload(); if (opened === "new") go(link(path, here)); else page.set({ ...(page.data ?? { offset: 0, limit: pageSize, hasMore: false, where }), items: items.map((item) => (item.id === record.id ? record : item)) }); }} onRemoved={() => { go(link(path, here)); reload(); }} />}
    </>
  );
}

/** How many records the shown ones are of. A count of another filter than theirs is not told. */
function countOf(shown: Found | undefined, counted: Found | undefined, failed: boolean, word: string): string {
  if (shown === undefined || counted?.total === undefined || counted.where !== shown.where) return failed ? "The count failed." : "Counting…";
  const noun = counted.total === 1 ? word : `${word}s`;
  return `${formatCount(counted.total)} ${noun}${shown.where === "" ? "" : " match"}`;
}

const isTitled = (record: RecordBody, title: string | undefined): title is string => title !== undefined && typeof record[title] === "string" && record[title] !== "";

function IdCell({ record, href }: { readonly record: RecordBody; readonly href: string | undefined }) {
  const text = <code>{shortId(record.id)}</code>;
  return href === undefined ? <td class="narrow muted" title={record.id}>{text}</td> : <th scope="row" class="narrow"><a href={href} title={record.id}>{text}</a></th>;
}

function Filter(props: CollectionProps & { readonly where: string; readonly error: string | undefined; readonly onApply: (text: string) => void }) {
  const text = useSignal(props.where);
  useEffect(() => { text.value = props.where; }, [props.where]);
  const example = props.collection.fields.find((field) => field.type === "TEXT" && field.name !== "password")?.name ?? "createdAt";
  return (
    <form class="filter-bar" role="search" onSubmit={(event) => { event.preventDefault(); props.onApply(text.value.trim()); }}>
      <RuleInput
        label="Filter"
        labelHidden
        {...bind(text)}
        onEnter={() => props.onApply(text.value.trim())}
        subject={{ collection: props.collection, userFields: props.collections.find((item) => item.name === "users")?.fields ?? [], usage: "where" }}
        error={text.value === props.where ? props.error : undefined}
        placeholder={example === "createdAt" ? 'Filter: createdAt > "2026-01-31"' : `Filter: ${example} ~ "part of it"`}
        mayBeEmpty
      />
      <div class="row">
        <Button submit icon="filter">Apply</Button>
        {props.where !== "" && <Button kind="quiet" onClick={() => { text.value = ""; props.onApply(""); }}>Show all</Button>}
      </div>
    </form>
  );
}

function parseSort(text: string | null): Sort | null {
  const [field, direction] = (text ?? "").split(":");
  return field !== undefined && field !== "" && (direction === "asc" || direction === "desc") ? { field, direction } : null;
}

const toColumn = (field: Field): Column => ({ id: field.name, title: field.name, sortable: field.type !== "JSON" && field.type !== "FILE", numeric: field.type === "NUMBER" });

type Selection = { value: ReadonlySet<string> };

function toggle(selected: Selection, id: string): void {
  const next = new Set(selected.value);
  if (!next.delete(id)) next.add(id);
  selected.value = next;
}

function selectColumn(items: readonly RecordBody[], selected: Selection): Column {
  const all = items.length > 0 && items.every((item) => selected.value.has(item.id));
  return {
    id: "select",
    narrow: true,
    title: <input type="checkbox" aria-label="Select all of this page" checked={all} onChange={() => { selected.value = all ? new Set() : new Set(items.map((item) => item.id)); }} />,
  };
}

function removeMany({ tenant, collection }: CollectionProps, ids: readonly string[], items: readonly RecordBody[], done: () => void): void {
  const only = items.find((item) => item.id === ids[0]);
  askToConfirm({
    title: ids.length === 1 && only !== undefined ? `Delete ${titleOf(collection.fields, only)}?` : `Delete ${ids.length} records?`,
    text: <p>They are deleted for good, with their files.{collection.system ? " The accounts can sign in no more; their API keys are revoked." : ""}</p>,
    action: ids.length === 1 ? "Delete" : `Delete ${ids.length} records`,
    ...(ids.length > 10 ? { name: collection.name } : {}),
    run: async () => {
      await data.batch(tenant, ids.map((id) => ({ method: "DELETE", collection: collection.name, id })));
      say(ids.length === 1 ? "Deleted." : `${ids.length} records deleted.`);
      done();
    },
  });
}
