// A server of the bench: a process of its own that tells where it listens and what it has used.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Usage {
  /** Microseconds of CPU time, all threads. */
  readonly cpu: number;
  /** Bytes. */
  readonly rss: number;
}

export interface BenchServer {
  readonly url: string;
  usage(): Promise<Usage>;
  /** Asks the server something of its own; see the `announce` of its file. */
  ask<Answer>(question: string | object): Promise<Answer>;
  /** The next message that the server sends by itself. */
  told<Message>(): Promise<Message>;
  stop(): Promise<void>;
}

interface Announced {
  readonly port: number;
  readonly base?: string;
}

/** @param file in the folder `servers` */
export async function startServer(file: string, args: readonly string[], nodeOptions: readonly string[] = []): Promise<BenchServer> {
  const child = fork(fileURLToPath(new URL(`./servers/${file}`, import.meta.url)), [...args], { execArgv: ["--import", "tsx", ...nodeOptions] });
  const next = <Message>(): Promise<Message> => new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`${file} ended with ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message as Message);
    });
  });
  const { port, base = "" } = await next<Announced>();
  const ask = async <Answer>(question: string | object): Promise<Answer> => {
    const answer = next<Answer>();
    child.send(question);
    return await answer;
  };
  return {
    url: `http://127.0.0.1:${port}${base}`,
    ask,
    told: next,
    async usage() {
      const { cpu, rss } = await ask<{ cpu: NodeJS.CpuUsage; rss: number }>("usage");
      return { cpu: cpu.user + cpu.system, rss };
    },
    async stop() {
      if (child.exitCode !== null) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.send("stop");
      await gone;
    },
  };
}
