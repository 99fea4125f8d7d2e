// Starts the gallery on port 3000 (or PORT), in the folder ./data/gallery (or FOLDER).
import { createGallery } from "./gallery.js";

const { app, service } = await createGallery(process.env["FOLDER"] ?? "./data/gallery");
const port = Number(process.env["PORT"] ?? 3000);
const server = app.listen(port, "127.0.0.1", () => console.log(`the gallery is at http://127.0.0.1:${port}`));
process.once("SIGINT", () => {
  server.close();
  void service.close();
});
