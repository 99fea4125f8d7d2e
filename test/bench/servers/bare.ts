// The yardstick `bare`: what a user would write by hand. Express 5, express.json, better-sqlite3, parse and res.json.
import Database from "better-sqlite3";
import express from "express";
import { announce } from "./announce.js";

const [file = "", synchronous = "FULL", download = ""] = process.argv.slice(2);
const db = new Database(file);
db.pragma("journal_mode = WAL");
db.pragma(`synchronous = ${synchronous}`);
const find = db.prepare("SELECT doc FROM items WHERE id = ?");
const list = db.prepare("SELECT doc FROM items WHERE json_extract(doc,'$.owner') = ? ORDER BY json_extract(doc,'$.n'), id LIMIT 25");
const insert = db.prepare("INSERT INTO items (id, doc) VALUES (?, ?)");

const app = express();
app.use(express.json());
app.get("/items/:id", (req, res) => {
  const row = find.get(req.params.id) as { doc: string } | undefined;
  if (row === undefined) res.status(404).json({ error: "Not found" });
  else res.json(JSON.parse(row.doc));
});
app.get("/items", (req, res) => {
  const rows = list.all(String(req.query["owner"])) as { doc: string }[];
  res.json({ items: rows.map((row) => JSON.parse(row.doc) as unknown) });
});
app.post("/items", (req, res) => {
  const now = new Date().toISOString();
  const record = { id: crypto.randomUUID(), createdAt: now, updatedAt: now, ...(req.body as object) };
  insert.run(record.id, JSON.stringify(record));
  res.status(201).json(record);
});
app.get("/file", (_req, res) => {
  res.sendFile(download);
});
app.get("/static", (_req, res) => {
  res.send("ok");
});
announce(app.listen(0, "127.0.0.1"));
