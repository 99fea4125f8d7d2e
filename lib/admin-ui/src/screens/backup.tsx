// Backup and restore of a tenant: one archive, whole or not at all.
import { useSignal } from "../state/signal.js";
import { ApiError } from "../api/http.js";
import { data } from "../api/service.js";
import type { TenantProps } from "../work.js";
import { Button } from "../kit/button.js";
import { FormError } from "../kit/field.js";
import { formatBytes } from "../kit/format.js";
import { Card, Page } from "../kit/page.js";
import { Progress, type Step } from "../kit/progress.js";
import { say } from "../kit/toast.js";
import { loadCatalog } from "../state/tenants.js";
import { useSubmit } from "../state/submit.js";
import { download, upload } from "../upload.js";

/** What the service takes in one body. */
const bodyCap = 4 * 1024 * 1024;

export function BackupScreen({ tenant, collections }: TenantProps) {
  const file = useSignal<File | null>(null);
  const step = useSignal<Step | null>(null);
  const path = `/api/meta/tenants/${encodeURIComponent(tenant.id)}`;
  const own = collections.filter((item) => !item.system);
  const submit = useSubmit(async () => {
    const archive = file.value;
    if (archive === null) return;
    if (own.length > 0 || (await data.list(tenant, "users", { limit: 1 })).items.length > 0) throw new ApiError(400, "This tenant is not empty. Make a new tenant and restore there: nothing is ever overwritten.");
    try {
      await upload(`${path}/restore`, archive, "application/zip", (share) => { step.value = { text: "Checking and writing…", share }; });
      await loadCatalog(tenant);
      file.value = null;
      say("The backup is restored.");
    } finally {
      step.value = null;
    }
  });
  return (
    <Page title="Backup" context={tenant.name} lead="One zip archive with schema, records, users with their password hashes, settings, hooks, keys and files. Keep it as safe as the service itself.">
      <div class="columns">
        <Card title="Make a backup">
          <p class="muted">The download starts at once and is written while it is read: it is consistent, and others go on working meanwhile.</p>
          <div><Button kind="primary" icon="backup" onClick={() => void download(`${path}/backup`, `${tenant.slug}-${new Date().toISOString().slice(0, 10)}.zip`)}>Download a backup</Button></div>
        </Card>
        <Card title="Restore a backup">
          <p class="muted">Only into a tenant that is empty, whole or not at all. Archives over {formatBytes(bodyCap)} are restored with the command <code>records-service restore</code>.</p>
          <form class="stack" onSubmit={submit.run}>
            <div class="field">
              <label for="archive">Archive</label>
              <input id="archive" type="file" accept=".zip,application/zip" onChange={(event) => { file.value = event.currentTarget.files?.[0] ?? null; submit.clear(); }} />
              {file.value !== null && file.value.size > bodyCap && <p class="error">{formatBytes(file.value.size)}: too large for the browser. Use records-service restore.</p>}
            </div>
            <Progress step={step.value} />
            <FormError message={submit.message} />
            <div><Button submit icon="upload" busy={submit.busy} disabled={file.value === null || file.value.size > bodyCap}>Restore</Button></div>
          </form>
        </Card>
      </div>
    </Page>
  );
}
