// Sample requests as text, in three languages.
import type { Json, JsonObject } from "../api/types.js";

export type Language = "curl" | "fetch" | "client";

export type Sample =
  | { readonly kind: "login" | "live" }
  | { readonly kind: "list"; readonly query: Readonly<Record<string, string>> }
  | { readonly kind: "view" | "delete"; readonly id: string }
  | { readonly kind: "create"; readonly body: JsonObject }
  | { readonly kind: "update"; readonly id: string; readonly body: JsonObject }
  | { readonly kind: "file"; readonly id: string; readonly field: string };

export interface SampleContext {
  /** Address of the service, without a slash at its end. */
  readonly base: string;
  readonly tenant: string;
  readonly collection: string;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject;
  readonly open?: boolean;
}

export function sampleIn(language: Language, sample: Sample, context: SampleContext): string {
  if (language === "client") return clientSample(sample, context);
  if (sample.kind === "live") return language === "curl" ? liveCurl(context) : liveFetch(context);
  if (sample.kind === "file") return language === "curl" ? fileCurl(sample, context) : fileFetch(sample, context);
  const request = requestOf(sample, context);
  return language === "curl" ? toCurl(request, context) : toFetch(request, context);
}

function requestOf(sample: Exclude<Sample, { kind: "live" | "file" }>, { tenant, collection }: SampleContext): Request {
  const path = `/api/collections/${collection}`;
  switch (sample.kind) {
    case "login": default: return { method: "POST", path: "/api/auth/login", body: { tenant, username: "ada", password: "at least 16 characters" }, open: true };
    case "list": return { method: "GET", path: `${path}?${new URLSearchParams(sample.query).toString()}` };
    case "view": return { method: "GET", path: `${path}/${sample.id}` };
    case "create": return { method: "POST", path, body: sample.body };
    case "update": return { method: "PATCH", path: `${path}/${sample.id}`, body: sample.body };
    case "delete": return { method: "DELETE", path: `${path}/${sample.id}` };
  }
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const indented = (value: Json, spaces: number) => JSON.stringify(value, null, 2).replaceAll("\n", `\n${" ".repeat(spaces)}`);

function toCurl(request: Request, { base }: SampleContext): string {
  const [path = "", query] = request.path.split("?", 2);
  const lines = [`curl ${query !== undefined ? "-G " : request.method === "GET" ? "" : `-X ${request.method} `}${quoted(`${base}${path}`)}`];
  for (const [name, value] of new URLSearchParams(query)) lines.push(`--data-urlencode ${quoted(`${name}=${value}`)}`);
  if (request.open !== true) lines.push(`-H 'Authorization: Bearer ACCESS_TOKEN'`);
  if (request.body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(request.body))}`);
  return lines.join(" \\\n  ");
}

function toFetch(request: Request, { base }: SampleContext): string {
  const headers = [...(request.open === true ? [] : ["Authorization: `Bearer ${accessToken}`"]), ...(request.body === undefined ? [] : ['"Content-Type": "application/json"'])];
  const options = [
    ...(request.method === "GET" ? [] : [`method: "${request.method}",`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(", ")} },`]),
    ...(request.body === undefined ? [] : [`body: JSON.stringify(${indented(request.body, 2)}),`]),
  ];
  const call = `await fetch("${base}${request.path}", {\n  ${options.join("\n  ")}\n});`;
  if (request.method === "DELETE") return `${call.replace("await", "const answer = await")}\nconsole.log(answer.status); // 204`;
  const result = request.path === "/api/auth/login" ? "{ accessToken, refreshToken }" : request.path.includes("?") ? "{ items, nextCursor }" : "record";
  return `const answer = ${call}\nconst ${result} = await answer.json();`;
}

function fileCurl({ id, field }: Extract<Sample, { kind: "file" }>, { base, collection }: SampleContext): string {
  return `curl -X PATCH '${base}/api/collections/${collection}/${id}' \\\n  -H 'Authorization: Bearer ACCESS_TOKEN' \\\n  -F '${field}=@picture.jpg'`;
}

function fileFetch({ id, field }: Extract<Sample, { kind: "file" }>, { base, collection }: SampleContext): string {
  return `const form = new FormData();\nform.append("${field}", input.files[0]);\nconst answer = await fetch("${base}/api/collections/${collection}/${id}", {\n  method: "PATCH",\n  headers: { Authorization: \`Bearer \${accessToken}\` },\n  body: form,\n});\nconst record = await answer.json();`;
}

function liveCurl({ base, collection }: SampleContext): string {
  return `# 1. Open the stream; its first event tells the clientId.\ncurl -N '${base}/api/realtime'\n\n# 2. Say what it shall receive.\ncurl -X POST '${base}/api/realtime/subscribe' \\\n  -H 'Authorization: Bearer ACCESS_TOKEN' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"clientId":"CLIENT_ID","subscriptions":["${collection}"]}'`;
}

function liveFetch({ base, collection }: SampleContext): string {
  return `const stream = new EventSource("${base}/api/realtime");
stream.addEventListener("connect", async (event) => {
  const { clientId } = JSON.parse(event.data);
  await fetch("${base}/api/realtime/subscribe", {
    method: "POST",
    headers: { Authorization: \`Bearer \${accessToken}\`, "Content-Type": "application/json" },
    body: JSON.stringify({ clientId, subscriptions: ["${collection}"] }),
  });
});
stream.addEventListener("${collection}", (event) => {
  const { action, record } = JSON.parse(event.data);
});`;
}

function clientSample(sample: Sample, { base, tenant, collection }: SampleContext): string {
  const records = `client.collection("${collection}")`;
  switch (sample.kind) {
    case "login": return `import { createClient } from "records-service/client";\n\nconst client = createClient({ url: "${base}", tenant: "${tenant}" });\nawait client.auth.login({ username: "ada", password: "at least 16 characters" });`;
    case "list": return `const { items, nextCursor } = await ${records}.list(${indented({ ...sample.query, ...(sample.query["limit"] === undefined ? {} : { limit: Number(sample.query["limit"]) }) }, 0)});`;
    case "view": return `const record = await ${records}.get("${sample.id}");`;
    case "create": return `const record = await ${records}.create(${indented(sample.body, 0)});`;
    case "update": return `const record = await ${records}.update("${sample.id}", ${indented(sample.body, 0)});`;
    case "delete": return `await ${records}.delete("${sample.id}");`;
    case "file": return `const record = await ${records}.update("${sample.id}", { ${sample.field}: input.files[0] });`;
    case "live": return `const subscription = ${records}.subscribe(({ action, record }) => {\n  console.log(action, record.id);\n});`;
  }
}
