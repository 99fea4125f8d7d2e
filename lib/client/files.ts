// Files of records: their addresses, their bytes, their removal.
import type { Transport } from "./transport.js";

/** A file as it stands in a record. */
export interface FileReference {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly type: string;
  /** Pixels, raster images only. */
  readonly width?: number;
  readonly height?: number;
  /** Absolute path. */
  readonly url: string;
}

export interface FileOptions {
  /** Pixels: the next larger copy of an image, or the original. */
  readonly width?: number;
}

export interface Files {
  /** The file's whole address. With a `token` (see `token()`) an `<img>` may load it where a rule guards it. */
  url(file: FileReference, options?: FileOptions & { readonly token?: string }): string;
  /** Two minutes of the caller's right to view files, for addresses that carry no header. `expiresIn` is in seconds. */
  token(): Promise<{ readonly token: string; readonly expiresIn: number }>;
  download(file: FileReference, options?: FileOptions & { readonly signal?: AbortSignal }): Promise<Blob>;
  /** Removes the file from its record. */
  delete(file: FileReference): Promise<void>;
}

export function createFiles(transport: Transport): Files {
  /** The reference's path below the mount path. */
  function pathOf({ url }: FileReference): string {
    const start = url.indexOf("/api/collections/");
    if (start === -1) throw new TypeError(`${url} is no address of a file`);
    return url.slice(start);
  }

  return {
    url(file, { width, token } = {}) {
      const parameters = new URLSearchParams();
      if (width !== undefined) parameters.set("width", String(width));
      if (token !== undefined) parameters.set("token", token);
      return `${transport.url}${pathOf(file)}${parameters.size > 0 ? `?${parameters}` : ""}`;
    },
    token: () => transport.json("POST", "/api/files/token"),
    async download(file, { width, signal } = {}) {
      const response = await transport.send("GET", pathOf(file), { query: { width }, ...(signal === undefined ? {} : { signal }) });
      return await response.blob();
    },
    async delete(file) {
      await transport.send("DELETE", pathOf(file));
    },
  };
}
