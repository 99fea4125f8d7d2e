// Import and export of a collection. A file is checked first: each bad row is told, and nothing is written.
import { useSignal } from "../state/signal.js";
import type { ImportReport } from "../../../transfer/import.js";
import { addressOf, ApiError, messageOf } from "../api/http.js";
import { Button } from "../kit/button.js";
import { SelectField } from "../kit/field.js";
import { formatBytes, formatCount } from "../kit/format.js";
import { Card, Failure } from "../kit/page.js";
import { Progress, type Step } from "../kit/progress.js";
import { Table } from "../kit/table.js";
import { say } from "../kit/toast.js";
import { download, upload } from "../upload.js";
import type { CollectionProps } from "./collection.js";

const formats = ["csv", "ndjson", "json"] as const;
type Format = (typeof formats)[number];
const mediaTypes: Readonly<Record<Format, string>> = { csv: "text/csv", ndjson: "application/x-ndjson", json: "application/json" };
/** What the service takes in one body. */
const bodyCap = 4 * 1024 * 1024;

const formatOf = (name: string): Format => (/\.csv$|\.tsv$/i.test(name) ? "csv" : /\.(?:ndjson|jsonl)$/i.test(name) ? "ndjson" : "json");

export function TransferTab({ tenant, collection }: CollectionProps) {
  const path = `/api/meta/tenants/${encodeURIComponent(tenant.id)}/collections/${encodeURIComponent(collection.name)}`;
  return (
    <div class="columns">
      <Card title="Export">
        <p class="muted">All records of {collection.name}, as text. Files are not in it: a backup has them.</p>
        <div class="row">
          {formats.map((format) => <Button key={format} icon="backup" onClick={() => void download(`${path}/export?format=${format}`, `${tenant.slug}-${collection.name}.${format}`)}>{format.toUpperCase()}</Button>)}
        </div>
      </Card>
      <ImportCard path={path} name={collection.name} />
    </div>
  );
}

function ImportCard({ path, name }: { readonly path: string; readonly name: string }) {
  const file = useSignal<File | null>(null);
  const delimiter = useSignal(",");
  const step = useSignal<Step | null>(null);
  const report = useSignal<ImportReport | null>(null);
  const failure = useSignal<string | null>(null);
  const send = async (chosen: File, dryRun: boolean) => {
    const format = formatOf(chosen.name);
    failure.value = null;
    report.value = null;
    try {
      if (chosen.size > bodyCap) throw new ApiError(413, `${formatBytes(chosen.size)} is too much for the browser, which can send ${formatBytes(bodyCap)}. Use the command records-service import.`);
      const address = addressOf(`${path}/import`, { format, dryRun, ...(format === "csv" ? { delimiter: delimiter.value } : {}) });
      report.value = await upload(address, chosen, mediaTypes[format], (share) => {
        step.value = { text: dryRun ? "Checking each row…" : "Writing the records…", share };
      }) as ImportReport;
      if (!dryRun) say(`${formatCount(report.value.imported)} records are imported.`);
    } catch (error) {
      failure.value = messageOf(error);
    } finally {
      step.value = null;
    }
  };
  const chosen = file.value;
  const found = report.value;
  return (
    <Card title="Import">
      <p class="muted">CSV with the field names in its first row, NDJSON with one record on each line, or a JSON list. The file is checked first; nothing is written before you say so.</p>
      <div class="form-row">
        <div class="field">
          <label for="import-file">File</label>
          <input id="import-file" type="file" accept=".csv,.tsv,.ndjson,.jsonl,.json" onChange={(event) => { file.value = event.currentTarget.files?.[0] ?? null; if (file.value !== null) void send(file.value, true); }} />
        </div>
        {chosen !== null && formatOf(chosen.name) === "csv" && <SelectField label="Between the cells" value={delimiter.value} choices={[{ value: ",", text: "Comma" }, { value: ";", text: "Semicolon" }, { value: "tab", text: "Tab" }, { value: "|", text: "Bar" }]} onChange={(value) => { delimiter.value = value; void send(chosen, true); }} />}
      </div>
      <Progress step={step.value} />
      {failure.value !== null && <Failure message={failure.value} onRetry={chosen === null ? undefined : () => void send(chosen, true)} />}
      {found !== null && <Report report={found} name={name} />}
      {chosen !== null && found !== null && found.dryRun && found.rows > 0 && found.errors.length === 0 && (
        <div><Button kind="primary" icon="upload" busy={step.value !== null} onClick={() => void send(chosen, false)}>Import {formatCount(found.rows)} {found.rows === 1 ? "record" : "records"}</Button></div>
      )}
    </Card>
  );
}

function Report({ report, name }: { readonly report: ImportReport; readonly name: string }) {
  const faulty = report.errors.length > 0;
  return (
    <div class="stack tight">
      <p class={`note ${faulty ? "warn" : "good"}`} role="status">
        {report.dryRun
          ? faulty ? `${formatCount(report.rows - report.valid)} of ${formatCount(report.rows)} rows cannot be imported. Nothing was written: correct them and choose the file again.` : report.rows === 0 ? "The file has no rows." : `${formatCount(report.rows)} rows, and nothing is wrong with them.`
          : `${formatCount(report.imported)} of ${formatCount(report.rows)} rows are now records of ${name}.`}
      </p>
      {faulty && (
        <Table label="What is wrong" columns={[{ id: "row", title: "Row", numeric: true }, "Field", "What is wrong"]}>
          {report.errors.map((fault, index) => (
            <tr key={index}>
              <td class="numeric narrow">{fault.row}{fault.line !== null && fault.line !== fault.row ? ` (line ${fault.line})` : ""}</td>
              <th scope="row">{fault.field}</th>
              <td>{fault.message}</td>
            </tr>
          ))}
        </Table>
      )}
      {report.moreErrors > 0 && <p class="muted">And {formatCount(report.moreErrors)} more.</p>}
    </div>
  );
}
