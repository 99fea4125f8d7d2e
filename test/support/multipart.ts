// Multipart bodies, written out by hand so that tests may also write them wrong.

export interface Part {
  readonly name: string;
  readonly value: string | Buffer;
  /** Makes it a file part. */
  readonly filename?: string;
  readonly type?: string;
}

export const boundary = "----records-test-boundary";

export function file(name: string, value: string | Buffer, filename = "file.bin", type = "application/octet-stream"): Part {
  return { name, value, filename, type };
}

export function text(name: string, value: string): Part {
  return { name, value };
}

/** Body and headers for a request. */
export function form(...parts: readonly Part[]): { readonly body: Buffer; readonly headers: Record<string, string> } {
  const pieces = parts.flatMap(({ name, value, filename, type }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n${type === undefined ? "" : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(value),
    Buffer.from("\r\n"),
  ]);
  return { body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]), headers: { "content-type": `multipart/form-data; boundary=${boundary}` } };
}
