// Starts two nodes and a load balancer on port 3000 (or PORT) over the MongoDB of STORAGE_URL.
import { startCluster } from "./cluster.js";

const url = process.env["STORAGE_URL"];
if (url === undefined) {
  console.error("STORAGE_URL is missing: give the address of a MongoDB, such as mongodb://127.0.0.1:27017/records");
  process.exit(1);
}
const cluster = await startCluster({ environment: {}, output: "inherit", port: Number(process.env["PORT"] ?? 3000) });
console.log(`the balancer is at ${cluster.url}, the nodes at ${cluster.nodes.map((node) => node.url).join(" and ")}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void cluster.close());
