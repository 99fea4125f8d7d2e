// Starts the receiver: HOOK_SECRET is needed, PORT is 4000 where it is not given.
import { createReceiver } from "./receiver.js";

const secret = process.env["HOOK_SECRET"];
if (secret === undefined || secret === "") {
  console.error("HOOK_SECRET is missing: set it to the secret of the hook");
  process.exitCode = 1;
} else {
  const port = Number(process.env["PORT"] ?? 4000);
  createReceiver(secret).listen(port, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}`));
}
