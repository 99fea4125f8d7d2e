// The pages of documentation as the tests read them: text, tables, links, anchors and the blocks that are run.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = new URL("../../", import.meta.url);

export interface Page {
  /** Path from the repository's folder. */
  readonly path: string;
  readonly url: URL;
  readonly text: string;
}

export interface Block {
  readonly language: string;
  /** Line of its first line in the page, from 1. */
  readonly line: number;
  readonly code: string;
}

export function readPage(path: string): Page {
  const url = new URL(path, root);
  return { path, url, text: readFileSync(url, "utf8") };
}

/** Every Markdown page of docs/, the ones at the top level, and the READMEs of the examples. */
export function allPages(): Page[] {
  const docs = readdirSync(fileURLToPath(new URL("docs/", root)), { recursive: true }) as string[];
  const examples = readdirSync(fileURLToPath(new URL("examples/", root)), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const paths = [
    ...readdirSync(fileURLToPath(root)),
    ...docs.map((path) => `docs/${path}`),
    ...examples.flatMap(({ name }) => readdirSync(fileURLToPath(new URL(`examples/${name}/`, root))).map((file) => `examples/${name}/${file}`)),
  ];
  return paths.filter((path) => path.endsWith(".md")).map(readPage);
}

/** The rows of every table, as trimmed cells; the lines under the headings are left out. */
export function tableRows({ text }: Page): string[][] {
  return text.split("\n").filter((line) => line.startsWith("|") && !/^\|[\s|:-]+\|$/.test(line)).map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim()));
}

/** The words in backticks. */
export function codes(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
}

/** The text without its code blocks. */
export function prose(text: string): string {
  return text.replace(/^```.*?^```$/gms, (block) => block.replace(/[^\n]/g, ""));
}

/** The names that links may point to: each heading as GitHub spells it. */
export function anchors({ text }: Page): Set<string> {
  const seen = new Map<string, number>();
  return new Set([...prose(text).matchAll(/^#{1,6} +(.+)$/gm)].map((match) => {
    const plain = match[1]!.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");
    const count = seen.get(plain) ?? 0;
    seen.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  }));
}

/** The targets of links and images. */
export function links({ text }: Page): string[] {
  const plain = prose(text).replace(/`[^`\n]*`/g, "");
  return [...plain.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map((match) => match[1]!);
}

/** The code blocks under a line `<!-- runs -->`. */
export function runnable({ text }: Page): Block[] {
  return [...text.matchAll(/^<!-- runs -->\n```(\w+)\n(.*?)^```$/gms)].map((match) => ({
    language: match[1]!,
    line: text.slice(0, match.index).split("\n").length + 2,
    code: match[2]!,
  }));
}
