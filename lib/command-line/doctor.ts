// records-service doctor: looks at everything that the server needs, and says what is wrong before it starts.
import { Failed, type Command, type Given } from "./command.js";
import { checks, type Finding } from "./checks.js";

const signs: Readonly<Record<Finding["status"], string>> = { ok: "ok   ", warning: "warn ", failed: "FAIL " };

export const doctor: Command = {
  name: "doctor",
  parameters: [],
  summary: "Check settings, storage, secrets, mail, image and hash libraries, clock and thread pool",
  options: {},
  async run({ program, terminal }: Given) {
    const findings: (Finding & { readonly check: string })[] = [];
    for (const [check, look] of checks) {
      findings.push({ check, ...(await look(program.environment).catch((error: unknown): Finding => ({ status: "failed", detail: error instanceof Error ? error.message : String(error) }))) });
    }
    terminal.result({ checks: findings }, findings.map(({ check, status, detail }) => `${signs[status]}${check}: ${detail}`).join("\n"));
    const failed = findings.filter(({ status }) => status === "failed").length;
    if (failed > 0) throw new Failed(`${failed} of ${findings.length} checks failed`);
  },
};
