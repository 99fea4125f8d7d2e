// The yardstick of logins: one Argon2id verification for each request, and nothing else.
import { createServer } from "node:http";
import { createArgon2Hasher } from "records-service";
import { announce } from "./announce.js";

const hasher = createArgon2Hasher();
const password = "a long enough password";
const stored = await hasher.hash(password);
const server = createServer((_req, res) => {
  void hasher.verify(stored, password).then((right) => {
    res.statusCode = right ? 200 : 500;
    res.end();
  });
});
announce(server.listen(0, "127.0.0.1"));
