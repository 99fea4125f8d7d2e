// S11: upload a 12-megapixel JPEG with three widths, against the same cascade with sharp alone; reads go on meanwhile.
import sharp from "sharp";
import { ratio } from "../figures.js";
import { load } from "../load.js";
import { bearer, withServers, type Bench, type Scenario } from "../scenario.js";

const widths = [1280, 640, 320];

async function photograph(): Promise<Buffer> {
  const noise = await sharp({ create: { width: 500, height: 375, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 40 } } }).png().toBuffer();
  return await sharp(noise).resize(4000, 3000).jpeg({ quality: 85 }).toBuffer();
}

/** One decode, each smaller copy from the one before. */
async function cascade(image: Buffer): Promise<number> {
  const start = performance.now();
  let pixels = await sharp(image, { sequentialRead: true }).resize({ width: widths[0]! }).raw().toBuffer({ resolveWithObject: true });
  for (const width of widths) {
    const { info } = pixels;
    const raw = { raw: { width: info.width, height: info.height, channels: info.channels } };
    if (info.width !== width) pixels = await sharp(pixels.data, raw).resize({ width }).raw().toBuffer({ resolveWithObject: true });
    await sharp(pixels.data, { raw: { width: pixels.info.width, height: pixels.info.height, channels: pixels.info.channels } }).jpeg({ quality: 80 }).toBuffer();
  }
  return performance.now() - start;
}

/** Milliseconds from the upload to the smallest copy, which is made last. */
async function upload({ seeded }: Bench, url: string, image: Buffer): Promise<number> {
  const headers = bearer(seeded.accessToken);
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(image)], { type: "image/jpeg" }), "photograph.jpg");
  const start = performance.now();
  const answer = await fetch(`${url}/api/collections/files`, { method: "POST", headers, body: form });
  const { id } = (await answer.json()) as { id: string };
  if (answer.status !== 201) throw new Error(`upload: ${answer.status}`);
  for (;;) {
    const copy = await fetch(`${url}/api/collections/files/${id}/files/file?width=${widths.at(-1)!}`, { method: "HEAD", headers });
    if (copy.headers.get("x-image-width") === String(widths.at(-1))) return performance.now() - start;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const images: Scenario = {
  id: "S11",
  run: (bench) => withServers(bench, async ({ own, mounted }) => {
    sharp.concurrency(1);
    sharp.cache(false);
    const image = await photograph();
    const subjects: Record<string, Record<string, number[]>> = { cascade: { ms: [] }, mounted: { ms: [], idleP99Ms: [], besideP99Ms: [] }, own: { ms: [], idleP99Ms: [], besideP99Ms: [] } };
    for (let round = 0; round <= bench.rounds; round += 1) {
      const alone = await cascade(image);
      if (round > 0) subjects["cascade"]!["ms"]!.push(alone);
      for (const [name, server] of Object.entries({ mounted, own })) {
        const ms = await upload(bench, server.url, image);
        const read = () => load({ url: `${server.url}/api/collections/items/${bench.seeded.ids[0]}`, connections: 8, seconds: bench.seconds, headers: bearer(bench.seeded.accessToken), folder: bench.folder });
        const idle = await read();
        let going = true;
        const uploads = (async () => {
          while (going) await upload(bench, server.url, image);
        })();
        const beside = await read();
        going = false;
        await uploads;
        if (round === 0) continue;
        subjects[name]!["ms"]!.push(ms);
        subjects[name]!["idleP99Ms"]!.push(idle.p99);
        subjects[name]!["besideP99Ms"]!.push(beside.p99);
      }
    }
    const goals = ["mounted", "own"].flatMap((name) => [
      { text: `${name}: upload until the last copy / the cascade alone`, atMost: 1.15, value: ratio(subjects[name]!["ms"]!, subjects["cascade"]!["ms"]!) },
      { text: `${name}: p99 of reads during uploads / idle`, atMost: 2, value: ratio(subjects[name]!["besideP99Ms"]!, subjects[name]!["idleP99Ms"]!) },
    ]);
    return { title: `upload a 12-megapixel JPEG (${Math.round(image.length / 1024)} KiB), three widths`, subjects, goals };
  }),
};
