// Starts two nodes and a load balancer on port 3000 (or PORT) over the MongoDB of STORAGE_URL.
import { startCluster } from "./cluster.js";

const url = process.env["STORAGE_URL"];
if (url === undefined) {
  console.error("STORAGE_URL is missing: give the address of a MongoDB, such as mongodb://127.0.0.1:27017/records");
  process.exit(1);
}
const cluster = await startCluster({ environment: {}, port: Number(process.env["PORT"] ?? 3000) });
console.log(`the balancer is at ${cluster.url}, the nodes at ${cluster.nodes.map((node) => node.url).join(" and ")}`);
process.once("SIGINT", () => void cluster.close());
