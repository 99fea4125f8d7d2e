// The files of a FILE field in the record editor: previews, order, removal, and what is to be uploaded.
import { useSignal } from "../state/signal.js";
import { useEffect, useId, useMemo } from "preact/hooks";
import { mountUrl } from "../api/http.js";
import type { FileField, PresentedFile, Tenant } from "../api/types.js";
import { Button, LinkButton } from "../kit/button.js";
import { Dialog } from "../kit/dialog.js";
import { formatBytes } from "../kit/format.js";
import { Icon } from "../kit/icon.js";
import type { FilesDraft } from "./record-values.js";

/** The address of a stored file for this page: the session cookie and the tenant's name open it. */
export function previewUrl(tenant: Tenant, file: PresentedFile, width?: number): string {
  const url = new URL(file.url, mountUrl);
  url.searchParams.set("tenant", tenant.slug);
  if (width !== undefined) url.searchParams.set("width", String(width));
  return url.href;
}

export function FilesInput(props: {
  readonly tenant: Tenant;
  readonly field: FileField;
  readonly value: FilesDraft;
  readonly onChange: (value: FilesDraft) => void;
  readonly error: string | undefined;
}) {
  const { tenant, field, value, onChange } = props;
  const id = useId();
  const shown = useSignal<PresentedFile | null>(null);
  const refused = useSignal<string | null>(null);
  const add = (list: FileList | null) => {
    const files = [...(list ?? [])];
    const large = files.filter((file) => file.size > field.maxSize);
    refused.value = large.length === 0 ? null : `${large.map((file) => file.name).join(", ")}: larger than ${formatBytes(field.maxSize)}.`;
    const fitting = files.filter((file) => file.size <= field.maxSize);
    if (fitting.length === 0) return;
    onChange(field.multiple ? { ...value, added: [...value.added, ...fitting] } : { kept: [], added: fitting.slice(0, 1) });
  };
  const error = refused.value ?? props.error;
  return (
    <fieldset class={`field${error === undefined ? "" : " wrong"}`}>
      <legend class={`label${field.required ? " needed" : ""}`}>{field.name}</legend>
      <div class="files">
        {value.kept.map((file, index) => (
          <div class="file-row" key={file.id}>
            {file.type.startsWith("image/") ? <img src={previewUrl(tenant, file, 96)} alt="" loading="lazy" /> : <span class="no-preview"><Icon name="file" /></span>}
            <div>
              <button type="button" class="link wrap" onClick={() => { shown.value = file; }}>{file.name}</button>
              <p class="hint">{file.type}, {formatBytes(file.size)}{file.width !== undefined && file.height !== undefined ? `, ${file.width} × ${file.height}` : ""}</p>
            </div>
            <div class="row">
              {field.multiple && index > 0 && <Button small kind="quiet" icon="up" iconOnly onClick={() => onChange({ ...value, kept: swap(value.kept, index) })}>{`Move ${file.name} up`}</Button>}
              <Button small kind="quiet" icon="trash" iconOnly onClick={() => onChange({ ...value, kept: value.kept.filter((item) => item.id !== file.id) })}>{`Remove ${file.name}`}</Button>
            </div>
          </div>
        ))}
        {value.added.map((file, index) => (
          <div class="file-row" key={`${file.name} ${file.lastModified} ${index}`}>
            <LocalPreview file={file} />
            <div><span class="wrap">{file.name}</span><p class="hint">{formatBytes(file.size)}, uploaded when you save</p></div>
            <Button small kind="quiet" icon="trash" iconOnly onClick={() => onChange({ ...value, added: value.added.filter((item) => item !== file) })}>{`Do not upload ${file.name}`}</Button>
          </div>
        ))}
        <label class="visually-hidden" for={id}>{field.multiple ? `Add files to ${field.name}` : `File for ${field.name}`}</label>
        <input id={id} type="file" multiple={field.multiple} accept={field.mimeTypes.join(",")} aria-invalid={error === undefined ? undefined : "true"} aria-describedby={`${id}-hint`} onChange={(event) => { add(event.currentTarget.files); event.currentTarget.value = ""; }} />
      </div>
      <div id={`${id}-hint`}>
        <p class="hint">{field.multiple ? `Up to ${field.maxFiles} files, each` : "One file,"} at most {formatBytes(field.maxSize)}{field.mimeTypes.length > 0 ? `, of ${field.mimeTypes.join(", ")}` : ""}.</p>
        {error !== undefined && <p class="error">{error}</p>}
      </div>
      {shown.value !== null && <FileDialog tenant={tenant} field={field} file={shown.value} onClose={() => { shown.value = null; }} />}
    </fieldset>
  );
}

function swap<T>(list: readonly T[], index: number): readonly T[] {
  const copy = [...list];
  const [taken] = copy.splice(index, 1);
  if (taken !== undefined) copy.splice(index - 1, 0, taken);
  return copy;
}

function LocalPreview({ file }: { readonly file: File }) {
  const url = useMemo(() => (file.type.startsWith("image/") ? URL.createObjectURL(file) : null), [file]);
  useEffect(() => () => {
    if (url !== null) URL.revokeObjectURL(url);
  }, [url]);
  return url === null ? <span class="no-preview"><Icon name="file" /></span> : <img src={url} alt="" />;
}

function FileDialog({ tenant, field, file, onClose }: { readonly tenant: Tenant; readonly field: FileField; readonly file: PresentedFile; readonly onClose: () => void }) {
  const original = previewUrl(tenant, file);
  const isImage = file.type.startsWith("image/");
  return (
    <Dialog title={file.name} onClose={onClose} wide>
      {isImage && <img class="preview" src={original} alt={file.name} />}
      {file.type.startsWith("video/") && <video class="preview" src={original} controls />}
      {file.type.startsWith("audio/") && <audio src={original} controls />}
      <dl class="facts">
        <dt>Kind</dt><dd>{file.type}</dd>
        <dt>Size</dt><dd>{formatBytes(file.size)}</dd>
        {file.width !== undefined && <><dt>Pixels</dt><dd>{file.width} × {file.height}</dd></>}
        <dt>File id</dt><dd><code>{file.id}</code></dd>
      </dl>
      <div class="row">
        <LinkButton href={original} icon="backup" download={file.name}>Original</LinkButton>
        {isImage && field.widths.map((width) => <LinkButton key={width} href={previewUrl(tenant, file, width)} download={`${width}-${file.name}`}>{width} px wide</LinkButton>)}
      </div>
    </Dialog>
  );
}
