// Makes photographs to try the gallery with: skies and hills out of gradients and noise, some as a camera held upright
// stores them, lying on their side with a note that says so.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";

export interface Photograph {
  readonly name: string;
  readonly bytes: Buffer;
  /** As it is to be shown. */
  readonly width: number;
  readonly height: number;
}

const scenes = [
  { name: "morning.jpg", width: 3000, height: 2000, sky: "#f6b26b", land: "#38761d" },
  { name: "tower.jpg", width: 1500, height: 2400, sky: "#6fa8dc", land: "#783f04", turned: true },
  { name: "pond.png", width: 900, height: 700, sky: "#a2c4c9", land: "#134f5c" },
  { name: "stamp.jpg", width: 140, height: 100, sky: "#ead1dc", land: "#741b47" },
] as const;

/** The photographs, each drawn anew. */
export async function makePhotographs(): Promise<Photograph[]> {
  return Promise.all(scenes.map(async (scene) => {
    const { name, width, height } = scene;
    const grain = await sharp({ create: { width, height, channels: 3, background: "#808080", noise: { type: "gaussian", mean: 128, sigma: 12 } } }).png().toBuffer();
    const upright = sharp(drawing(width, height, scene.sky, scene.land, name)).composite([{ input: grain, blend: "soft-light" }]);
    const pixels = await upright.png().toBuffer();
    const turned = "turned" in scene;
    const image = turned ? sharp(pixels).rotate(270).withMetadata({ orientation: 6 }) : sharp(pixels);
    return { name, width, height, bytes: await (name.endsWith(".png") ? image.png({ palette: true }) : image.jpeg({ quality: 82 })).toBuffer() };
  }));
}

function drawing(width: number, height: number, sky: string, land: string, title: string): Buffer {
  const hill = `M0 ${height * 0.7} Q${width * 0.3} ${height * 0.45} ${width * 0.55} ${height * 0.65} T${width} ${height * 0.55} V${height} H0 Z`;
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <defs><linearGradient id="s" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${sky}"/><stop offset="1" stop-color="white"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#s)"/>
    <circle cx="${width * 0.75}" cy="${height * 0.25}" r="${Math.min(width, height) * 0.08}" fill="#fff2cc"/>
    <path d="${hill}" fill="${land}"/>
    <text x="50%" y="92%" text-anchor="middle" font-family="sans-serif" font-size="${height * 0.08}" fill="white">${title}</text>
  </svg>`);
}

if (process.argv[1]?.endsWith("photographs.ts") === true) {
  const folder = process.argv[2] ?? "./data/photographs";
  await mkdir(folder, { recursive: true });
  for (const { name, bytes } of await makePhotographs()) await writeFile(join(folder, name), bytes);
  console.log(`photographs are in ${folder}`);
}
