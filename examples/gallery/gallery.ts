// A small photograph gallery: a host app with a page of its own, and the service mounted beside it. Whoever is signed in
// sees every photograph; only its owner may remove it.
import { fileURLToPath } from "node:url";
import express, { type Express } from "express";
import { createRecordsService, type RecordsService } from "records-service";

export interface Gallery {
  readonly app: Express;
  readonly service: RecordsService;
}

/** @param folder where records and files are kept */
export async function createGallery(folder: string): Promise<Gallery> {
  const service = createRecordsService({ storage: folder, defaultTenant: "gallery", adminUi: false });
  await service.ready();
  await prepare(service);

  const app = express();
  app.use("/backend", service);
  app.use((_request, response, next) => {
    response.set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'");
    next();
  });
  app.use(express.static(fileURLToPath(new URL("./public/", import.meta.url))));
  return { app, service };
}

/** The tenant with its one collection, on the first start. */
async function prepare(service: RecordsService): Promise<void> {
  if ((await service.tenants.list()).some((tenant) => tenant.slug === "gallery")) return;
  await service.tenants.create({ slug: "gallery", name: "Gallery" });
  const gallery = service.tenant("gallery");
  await gallery.settings.update({ selfRegistration: true });
  await gallery.collections.create({
    name: "photos",
    fields: [
      { name: "title", type: "TEXT", required: true, maxLength: 100 },
      { name: "owner", type: "RELATION", collection: "users", onDelete: "cascade", required: true },
      { name: "image", type: "FILE", required: true, maxSize: 4_000_000, mimeTypes: ["image/jpeg", "image/png", "image/gif"], widths: [160, 480, 1200] },
    ],
    listRule: "@auth.id != null",
    viewRule: "@auth.id != null",
    createRule: "owner = @auth.id",
    updateRule: "owner = @auth.id && !@changed.owner",
    deleteRule: "owner = @auth.id",
  });
}
