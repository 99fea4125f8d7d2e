// A host of its own for the image process: scales an image, tells the process's id, then waits to be killed, or ends.
import { createImageProcess } from "../../../lib/files/image-process.js";
import { photo } from "./scene.js";

const images = createImageProcess();
const image = await photo(100, 100).jpeg().toBuffer();
const awake = setInterval(() => undefined, 1000);
await images.scale(image, [50]);
process.stdout.write(`${images.pid()}\n`);
if (process.argv[2] === "end") clearInterval(awake);
