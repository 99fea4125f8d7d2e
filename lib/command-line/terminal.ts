// Terminal: results on standard output, as text or as JSON; progress on standard error, a bar where somebody looks on
// and a JSON line a step otherwise.
import type { Program } from "./command.js";

export interface Terminal {
  readonly json: boolean;
  /** A line of text on standard output. */
  print(line: string): void;
  /** The command's result: as one JSON line with `--json`, as the text otherwise. */
  result(value: unknown, text: string): void;
  /** Starts a progress display. `total`: how many there are to be, where that is known. */
  progress(step: string, total?: number): Progress;
}

export interface Progress {
  /** How many are done by now. */
  update(done: number): void;
  /** Ends the display. */
  end(done: number): void;
}

/** Milliseconds between two draws of a bar, and between two lines of JSON. */
const drawEvery = 100;
const tellEvery = 1_000;

export function createTerminal({ stdout, stderr }: Pick<Program, "stdout" | "stderr">, json: boolean): Terminal {
  const print = (line: string): void => void stdout.write(`${line}\n`);
  const tell = (value: object): void => void stderr.write(`${JSON.stringify(value)}\n`);
  const drawn = stderr.isTTY === true && !json;

  return {
    json,
    print,
    result: (value, text) => print(json ? JSON.stringify(value) : text),
    progress(step, total) {
      const begun = performance.now();
      let last = -Infinity;
      const draw = (done: number): void => void stderr.write(`\r\u001b[K${bar(step, done, total, performance.now() - begun, stderr.columns ?? 80)}`);
      const show = (done: number, ended: boolean): void => {
        if (drawn) draw(done);
        else tell({ step, done, ...(total === undefined ? {} : { total }), ...(ended ? { ended, seconds: Math.round(performance.now() - begun) / 1_000 } : {}) });
      };
      return {
        update(done) {
          const now = performance.now();
          if (now - last < (drawn ? drawEvery : tellEvery)) return;
          last = now;
          show(done, false);
        },
        end(done) {
          show(done, true);
          if (drawn) stderr.write("\n");
        },
      };
    },
  };
}

/** `records  [#####.....] 1,200 of 2,400, 800/s, 2 s left`, no longer than the terminal is wide. */
export function bar(step: string, done: number, total: number | undefined, elapsedMs: number, columns: number): string {
  const rate = elapsedMs > 0 ? (done / elapsedMs) * 1_000 : 0;
  const count = (value: number): string => Math.round(value).toLocaleString("en");
  const figures = [total === undefined ? count(done) : `${count(done)} of ${count(total)}`, `${count(rate)}/s`];
  if (total !== undefined && rate > 0 && done < total) figures.push(`${count(Math.ceil((total - done) / rate))} s left`);
  const text = `${step} ${figures.join(", ")}`;
  const width = Math.min(30, columns - text.length - 4);
  if (total === undefined || total === 0 || width < 5) return text.slice(0, Math.max(1, columns - 1));
  const filled = Math.round((Math.min(done, total) / total) * width);
  return `${step} [${"#".repeat(filled)}${".".repeat(width - filled)}] ${figures.join(", ")}`;
}
