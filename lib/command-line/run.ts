// run: from the arguments to a command, and from what it throws to the exit status.
import { parseArgs } from "node:util";
import { ServiceError } from "../core/errors.js";
import { createDefaultLogger } from "../log.js";
import { OptionsError } from "../options.js";
import type { RecordsService } from "../records-service.js";
import { createRecordsService } from "../service.js";
import { readEnvironment } from "../standalone/environment.js";
import { Failed, statuses, UsageError, type Command, type Program } from "./command.js";
import { commands } from "./commands.js";
import { help, helpOf } from "./help.js";
import { createTerminal } from "./terminal.js";

const everywhere = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

/** Runs the command line and gives the exit status. Never throws. */
export async function run(words: readonly string[], program: Program): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    program.stdout.write(help(commands));
    return name === undefined ? statuses.usage : statuses.done;
  }
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return refuse(program, `There is no command ${JSON.stringify(name)}: see  records-service help`);
  let opened: RecordsService | undefined;
  try {
    const { values, positionals } = parse(command, rest);
    if (values["help"] === true) {
      program.stdout.write(helpOf(command));
      return statuses.done;
    }
    const terminal = createTerminal(program, values["json"] === true);
    const service = async (): Promise<RecordsService> => {
      opened ??= openService(program);
      await opened.ready();
      return opened;
    };
    await command.run({ values, positionals, program, terminal, service });
    await opened?.close();
    return statuses.done;
  } catch (error) {
    await opened?.close().catch(() => undefined);
    return explain(program, command, error);
  }
}

function parse(command: Command, words: readonly string[]) {
  let parsed;
  try {
    parsed = parseArgs({ args: [...words], options: { ...command.options, ...everywhere }, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const values = parsed.values as Record<string, string | boolean | undefined>;
  const needed = command.parameters.filter((parameter) => !parameter.endsWith("?")).length;
  if (values["help"] !== true && (parsed.positionals.length < needed || parsed.positionals.length > command.parameters.length)) {
    throw new UsageError(`${command.name} takes ${command.parameters.length === 0 ? "no parameters" : command.parameters.join(", ")}`);
  }
  return { values, positionals: parsed.positionals };
}

/** The service of the environment, quiet but for what goes wrong, and without a setup token of its own. */
function openService({ environment }: Program): RecordsService {
  const { options } = readEnvironment(environment);
  return createRecordsService({ ...options, adminUi: false, announceSetup: false, logger: createDefaultLogger("error", "stderr") });
}

function explain(program: Program, command: Command, error: unknown): number {
  if (error instanceof UsageError) return refuse(program, `${error.message}\nusage: ${usageOf(command)}`);
  const message = error instanceof Error ? error.message : String(error);
  program.stderr.write(`${message}\n`);
  if (error instanceof Failed || error instanceof OptionsError) return statuses.failed;
  if (error instanceof ServiceError) return error.status >= 500 ? statuses.unavailable : statuses.refused;
  return statuses.failed;
}

function refuse(program: Program, message: string): number {
  program.stderr.write(`${message}\n`);
  return statuses.usage;
}

function usageOf(command: Command): string {
  return helpOf(command).split("\n", 1)[0]!;
}
