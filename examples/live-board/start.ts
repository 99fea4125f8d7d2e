// Starts the board on port 3001 (or PORT), in the folder ./data/live-board (or FOLDER).
import { createLiveBoard } from "./live-board.js";

const { app, service } = await createLiveBoard(process.env["FOLDER"] ?? "./data/live-board");
const port = Number(process.env["PORT"] ?? 3001);
const server = app.listen(port, "127.0.0.1", () => console.log(`the board is at http://127.0.0.1:${port}`));
process.once("SIGINT", () => {
  server.close();
  void service.close();
});
