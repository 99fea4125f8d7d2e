// The help texts, made from the table of commands.
import type { Command } from "./command.js";

/** All commands, one line each. */
export function help(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => usage(command).length));
  const lines = commands.map((command) => `  ${usage(command).padEnd(width)}  ${command.summary}`);
  return `usage: records-service <command>\n\n${lines.join("\n")}\n\n${settings}\n`;
}

/** One command with its options; the first line is its usage. */
export function helpOf(command: Command): string {
  const options = Object.entries({ ...command.options, json: { description: "Print the result as one line of JSON" } });
  const names = options.map(([name, option]) => `--${name}${"value" in option && option.value !== undefined ? ` ${option.value}` : ""}`);
  const width = Math.max(...names.map((name) => name.length));
  const lines = options.map(([, option], index) => `  ${names[index]!.padEnd(width)}  ${option.description}`);
  return `records-service ${usage(command)} [options]\n\n${command.summary}.\n\n${lines.join("\n")}\n\n${settings}\n`;
}

const settings = "Storage and secrets come from the environment, as for the server: SERVICE_STORAGE, STORAGE_URL, …";

function usage({ name, parameters }: Command): string {
  return [name, ...parameters.map((parameter) => (parameter.endsWith("?") ? `[${parameter.slice(0, -1)}]` : `<${parameter}>`))].join(" ");
}
