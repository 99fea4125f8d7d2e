// The service's side of the image process: started on first need, ended when it has been idle, killed and started anew
// where it hangs or dies. Neither keeps the host alive.
import { spawn, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { createFrameDecoder, frameStart } from "./frames.js";

export interface Variant {
  /** Pixels. */
  readonly width: number;
  readonly bytes: Buffer;
}

export interface ImageProcess {
  /**
   * The image's copies of these widths. Rejects with ImageUnreadable where the image is at fault, with
   * ImageProcessDied where the process ended or was ended over it.
   */
  scale(image: Buffer, widths: readonly number[]): Promise<Variant[]>;
  /** The process that runs now, for those who watch it; undefined where none does. */
  pid(): number | undefined;
  close(): Promise<void>;
}

export interface ImageProcessOptions {
  /** Milliseconds for one image. @default 20000 */
  readonly timeout?: number | undefined;
  /** Milliseconds without work until the process ends. @default 10000 */
  readonly idle?: number | undefined;
  /** Bytes of resident memory. @default 512 MiB */
  readonly maxMemory?: number | undefined;
}

/** The image is damaged, too large, or of another kind than it looked. */
export class ImageUnreadable extends Error {
  override readonly name = "ImageUnreadable";
}

/** The image process ended over this image, by itself or because it took too long. */
export class ImageProcessDied extends Error {
  override readonly name = "ImageProcessDied";
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
}

interface Work {
  readonly over: Running;
  readonly variants: Variant[];
  resolve(variants: Variant[]): void;
  reject(error: Error): void;
}

export function createImageProcess(options: ImageProcessOptions = {}): ImageProcess {
  const { timeout = 20_000, idle = 10_000, maxMemory = 536_870_912 } = options;
  let running: Running | undefined;
  let work: Work | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  function start(): Running {
    const { file, args } = entry();
    const child = spawn(process.execPath, ["--max-old-space-size=128", ...args, file, String(maxMemory)], {
      stdio: ["pipe", "pipe", "ignore"],
      // Nothing of the host's environment: no secret is where foreign bytes are decoded.
      env: {},
      windowsHide: true,
    });
    let finish: () => void;
    const ended = new Promise<void>((resolve) => { finish = resolve; });
    const started: Running = { child, ended };
    const onEnd = (reason: string): void => {
      if (running === started) running = undefined;
      fail(started, new ImageProcessDied(reason));
      finish();
    };
    child.on("error", (error) => onEnd(`the image process could not be started: ${error.message}`));
    child.on("exit", (code, signal) => onEnd(`the image process ended (${signal ?? `status ${code ?? "unknown"}`})`));
    child.stdin!.on("error", () => undefined); // Its end is told by `exit`.
    const decode = createFrameDecoder(({ header, body }) => {
      if (work?.over !== started) return;
      if (header.done !== true) work.variants.push({ width: header.width as number, bytes: body });
      else if (typeof header.error === "string") settle()?.reject(new ImageUnreadable(header.error));
      else {
        const done = settle();
        done?.resolve(done.variants);
      }
    });
    child.stdout!.on("data", (chunk: Buffer) => {
      try {
        decode(chunk);
      } catch {
        child.kill("SIGKILL");
      }
    });
    child.unref();
    (child.stdin as Socket).unref();
    (child.stdout as Socket).unref();
    return started;
  }

  function settle(): Work | undefined {
    const current = work;
    work = undefined;
    return current;
  }

  function fail(over: Running, error: Error): void {
    if (work?.over === over) settle()?.reject(error);
  }

  async function scaleNow(image: Buffer, widths: readonly number[]): Promise<Variant[]> {
    if (closed) throw new ImageProcessDied("the service is closing");
    clearTimeout(idleTimer);
    const current = (running ??= start());
    const stuck = setTimeout(() => current.child.kill("SIGKILL"), timeout);
    stuck.unref();
    try {
      return await new Promise<Variant[]>((resolve, reject) => {
        work = { over: current, variants: [], resolve, reject };
        current.child.stdin!.write(frameStart({ widths }, image.length));
        current.child.stdin!.write(image);
      });
    } finally {
      clearTimeout(stuck);
      idleTimer = setTimeout(() => stop(current), idle);
      idleTimer.unref();
    }
  }

  function stop(current: Running): void {
    if (running === current) running = undefined;
    current.child.stdin!.end();
  }

  return {
    scale(image, widths) {
      const result = last.then(() => scaleNow(image, widths));
      last = result.catch(() => undefined);
      return result;
    },

    pid: () => running?.child.pid,

    async close() {
      closed = true;
      clearTimeout(idleTimer);
      const current = running;
      if (current === undefined) return;
      current.child.ref();
      current.child.kill("SIGKILL");
      await current.ended;
    },
  };
}

/** The process's file beside this one, and what node needs to run it: from source, the loader that this process runs by. */
function entry(): { readonly file: string; readonly args: readonly string[] } {
  if (!import.meta.url.endsWith(".ts")) return { file: fileURLToPath(new URL("./image-process-main.js", import.meta.url)), args: [] };
  const loaders: string[] = [];
  for (let index = 0; index < process.execArgv.length; index += 1) {
    const argument = process.execArgv[index]!;
    if (/^(?:--import|--require|-r|--loader|--experimental-loader)$/.test(argument)) loaders.push(argument, process.execArgv[(index += 1)] ?? "");
    else if (/^--(?:import|require|loader|experimental-loader)=/.test(argument)) loaders.push(argument);
  }
  return { file: fileURLToPath(new URL("./image-process-main.ts", import.meta.url)), args: loaders };
}
