// A mailer of one's own: each mail becomes a file in a folder, for development without an SMTP server.
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Mailer } from "records-service";

export function createFolderMailer(folder: string): Mailer {
  return {
    async send({ to, subject, text }) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID()}.txt`), `To: ${to}\nSubject: ${subject}\n\n${text}\n`, { mode: 0o600 });
    },
  };
}
