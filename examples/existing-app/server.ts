// The service beside what an app has already: its own parsers, headers, routes and errors. Neither gets in the other's
// way: the service answers below /backend alone, and uses the body that the app has parsed.
import express, { type ErrorRequestHandler } from "express";
import { createRecordsService } from "records-service";

const records = createRecordsService({
  storage: "./data",
  // Guests of shop.example.com are guests of the tenant "shop"; X-Tenant and ?tenant= go before.
  resolveTenant: (request) => /^([a-z0-9-]+)\.example\.com(?::\d+)?$/.exec(request.headers.host ?? "")?.[1],
});

const app = express();
app.disable("x-powered-by");
app.use(express.json({ limit: "10mb" }));
app.use((_req, res, next) => {
  res.setHeader("X-App", "existing");
  next();
});

app.get("/", (_req, res) => {
  res.send("The app's own page");
});

app.use("/backend", records);

// A route of the app's own for the service's users: anybody else gets 401.
app.get("/orders", records.requireUser(), (req, res) => {
  const { tenant, user } = req.records!;
  res.json({ tenant: tenant?.slug, user: user?.["username"], orders: [] });
});

const onError: ErrorRequestHandler = (_error, _req, res, _next) => {
  res.status(500).json({ oops: "an error of the app's own" });
};
app.use(onError);

await records.ready();
const server = app.listen(Number(process.argv[2] ?? 8080), "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  console.log(`listening on http://127.0.0.1:${port}`);
});

process.once("SIGTERM", () => {
  server.close();
  void records.close().then(() => server.closeAllConnections());
});
