// A hook's receiver that allows everything at once.
import { createServer } from "node:http";
import { announce } from "./announce.js";

const server = createServer((req, res) => {
  req.resume().once("end", () => {
    res.writeHead(200, { "Content-Type": "application/json", "Content-Length": 2 });
    res.end("{}");
  });
});
server.keepAliveTimeout = 60_000;
announce(server.listen(0, "127.0.0.1"));
