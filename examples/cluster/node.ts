// One node of the cluster: the standalone server, told by its environment (docs/deployment.md). Tells its parent its
// address, and drains when asked to end.
import { serve } from "records-service";

const ending = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => ending.abort());
// A node whose parent has died ends too.
process.once("disconnect", () => ending.abort());

// Where MongoDB cannot be reached it waits here.
const server = await serve(process.env, (line) => console.log(line), ending.signal).catch((error: unknown) => {
  if (ending.signal.aborted) process.exit(0);
  throw error;
});
process.send?.({ url: server.url });
const end = (): void => void server.close().then(() => process.exit(0));
if (ending.signal.aborted) end();
else ending.signal.addEventListener("abort", end, { once: true });
