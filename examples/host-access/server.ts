// The service in code, without HTTP in between: a caller is always named, and has exactly the rights that it would
// have over HTTP. This app keeps notes, and tells over its own routes what each caller sees.
import express from "express";
import { createRecordsService, NotFound, ServiceError, type Stored } from "records-service";

interface Note extends Record<string, unknown> {
  readonly owner: string;
  readonly text: string;
  readonly public: boolean;
}

const records = createRecordsService({ storage: "./data", adminUi: false });
await records.ready();

const slug = "notes";
const notes = records.tenant(slug);
await prepare();

// as system: no rules; hooks and validation still apply.
const system = notes.as("system").collection<Note>("notes");
for (const text of ["Water the plants", "Call Ann"]) console.log(`written by the system: ${(await system.create({ owner: await userId("ben"), text, public: text.startsWith("Water") })).text}`);

// Hooks in process, beside webhooks and by the same contract.
records.on("beforeCreate", { tenant: slug, collection: "notes" }, ({ data }) =>
  String((data.body as { text?: unknown }).text).includes("!") ? { continue: false, error: { status: 422, message: "No shouting" } } : undefined);

const app = express();
app.use(express.json());
app.use("/backend", records);

// as whoever asks: the service knows its own tokens.
app.get("/my-notes", async (req, res) => {
  const { user } = await records.identify(req);
  const data = user === null ? notes.as("guest") : notes.as({ userId: user.id });
  res.json((await data.collection<Note>("notes").list({ sort: "createdAt:desc" })).items.map(brief));
});

app.post("/my-notes", records.requireUser(), async (req, res) => {
  const { user } = await records.identify(req);
  const made = await notes.as({ userId: user!.id }).collection<Note>("notes").create({ ...(req.body as Note), owner: user!.id });
  res.status(201).json(brief(made));
});

// Errors are classes with a status and a body to send.
app.use((error: unknown, _req: express.Request, res: express.Response, next: express.NextFunction) => {
  if (error instanceof ServiceError) res.status(error.status).json(error.body);
  else next(error);
});

const server = app.listen(Number(process.argv[2] ?? 8080), "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  console.log(`listening on http://127.0.0.1:${port}`);
});

async function prepare(): Promise<void> {
  try {
    await notes.get();
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    await records.tenants.create({ slug });
    await notes.users.create({ username: "ben", password: "a password of ben's" });
    await notes.collections.create({
      name: "notes",
      fields: [
        { name: "owner", type: "RELATION", collection: "users", required: true, onDelete: "cascade" },
        { name: "text", type: "TEXT", required: true, maxLength: 500 },
        { name: "public", type: "BOOLEAN", default: false },
      ],
      listRule: "public || owner = @auth.id",
      viewRule: "public || owner = @auth.id",
      createRule: "owner = @auth.id",
    });
  }
}

async function userId(username: string): Promise<string> {
  const page = await notes.as("system").collection("users").list({ filter: `username:eq:${username}` });
  return page.items[0]!.id;
}

function brief({ id, text, public: isPublic }: Stored<Note>) {
  return { id, text, public: isPublic };
}
