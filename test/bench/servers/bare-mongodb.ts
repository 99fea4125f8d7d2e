// The yardstick `bare` on MongoDB: Express 5, express.json, the official driver, res.json; one driver call for each request.
import express from "express";
import { MongoClient } from "mongodb";
import { announce } from "./announce.js";

interface Item {
  readonly _id: string;
  readonly [field: string]: unknown;
}

const [url = "", database = ""] = process.argv.slice(2);
const client = await MongoClient.connect(url, { writeConcern: { w: "majority", journal: true }, maxPoolSize: 50 });
const items = client.db(database).collection<Item>("items");
const shown = ({ _id, ...fields }: Item): object => ({ id: _id, ...fields });

const app = express();
app.use(express.json());
app.get("/items/:id", async (req, res) => {
  const item = await items.findOne({ _id: req.params.id });
  if (item === null) res.status(404).json({ error: "Not found" });
  else res.json(shown(item));
});
app.get("/items", async (req, res) => {
  const found = await items.find({ owner: String(req.query["owner"]) }).sort({ n: 1, _id: 1 }).limit(25).toArray();
  res.json({ items: found.map(shown) });
});
app.post("/items", async (req, res) => {
  const now = new Date().toISOString();
  const item: Item = { _id: crypto.randomUUID(), createdAt: now, updatedAt: now, ...(req.body as object) };
  await items.insertOne(item);
  res.status(201).json(shown(item));
});
announce(app.listen(0, "127.0.0.1"));
