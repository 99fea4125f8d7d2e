// The yardstick `limit`: raw node:http with better-sqlite3, the stored JSON passed through.
import { createServer } from "node:http";
import Database from "better-sqlite3";
import { announce } from "./announce.js";

const [file = "", synchronous = "FULL"] = process.argv.slice(2);
const db = new Database(file);
db.pragma("journal_mode = WAL");
db.pragma(`synchronous = ${synchronous}`);
const find = db.prepare("SELECT doc FROM items WHERE id = ?").pluck();
const list = db.prepare("SELECT doc FROM items WHERE json_extract(doc,'$.owner') = ? ORDER BY json_extract(doc,'$.n'), id LIMIT 25").pluck();
const insert = db.prepare("INSERT INTO items (id, doc) VALUES (?, ?)");
const begin = db.prepare("BEGIN IMMEDIATE");
const commit = db.prepare("COMMIT");
const json = { "Content-Type": "application/json" };
let waiting: (() => void)[] = [];

const server = createServer((req, res) => {
  const url = req.url ?? "/";
  if (req.method === "POST") {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const now = new Date().toISOString();
      const record = { id: crypto.randomUUID(), createdAt: now, updatedAt: now, ...(JSON.parse(Buffer.concat(chunks).toString()) as object) };
      const text = JSON.stringify(record);
      if (waiting.length === 0) {
        setImmediate(() => {
          const all = waiting;
          waiting = [];
          begin.run();
          for (const one of all) one();
          commit.run();
          for (const answer of answers.splice(0)) answer();
        });
      }
      waiting.push(() => {
        insert.run(record.id, text);
        answers.push(() => {
          res.writeHead(201, { ...json, "Content-Length": Buffer.byteLength(text) });
          res.end(text);
        });
      });
    });
    return;
  }
  const text = url.startsWith("/items?") ? `{"items":[${list.all(url.slice(url.indexOf("=") + 1)).join(",")}]}` : (find.get(url.slice(7)) as string);
  res.writeHead(200, { ...json, "Content-Length": Buffer.byteLength(text) });
  res.end(text);
});
announce(server.listen(0, "127.0.0.1"));

const answers: (() => void)[] = [];
