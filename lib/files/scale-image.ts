// Scales one image with sharp. Runs in the image process only: what libvips does with hostile bytes stays there.
import sharp, { type Sharp } from "sharp";

// Only the decoders that are needed, one thread, no cache of earlier images.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadNsgif"] });
sharp.cache(false);
sharp.concurrency(1);

/** Pixels of all frames together. */
const maxPixels = 50_000_000;
/** Seconds for one step; the service ends the whole process where it takes longer altogether. */
const stepSeconds = 20;
const inputOptions = { limitInputPixels: maxPixels, sequentialRead: true, failOn: "warning" } as const;

export type Emit = (width: number, bytes: Buffer) => void;

/**
 * Gives a smaller copy for each width below the image's own, upright, without metadata, in the image's own format:
 * one decode at the largest width, each smaller one from that. An animated GIF stays animated.
 * Rejects where the image cannot be read whole, or is too large.
 */
export async function scaleImage(image: Buffer, widths: readonly number[], emit: Emit): Promise<void> {
  const source = sharp(image, inputOptions);
  const { format, autoOrient, pages = 1, isPalette } = await source.metadata();
  const wanted = [...new Set(widths)].filter((one) => one < autoOrient.width).sort((a, b) => b - a);
  if (wanted.length === 0) return;
  if (pages > 1) return scaleAnimation(image, wanted, emit);

  const encode = encoder(format, isPalette);
  let pixels = await source.autoOrient().resize({ width: wanted[0]! }).timeout({ seconds: stepSeconds }).raw().toBuffer({ resolveWithObject: true });
  for (const one of wanted) {
    const { width: rawWidth, height: rawHeight, channels } = pixels.info;
    const raw = { raw: { width: rawWidth, height: rawHeight, channels }, limitInputPixels: false } as const;
    if (rawWidth !== one) pixels = await sharp(pixels.data, raw).resize({ width: one }).raw().toBuffer({ resolveWithObject: true });
    const { info, data } = pixels;
    emit(one, await encode(sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels }, limitInputPixels: false })).toBuffer());
  }
}

async function scaleAnimation(image: Buffer, widths: readonly number[], emit: Emit): Promise<void> {
  for (const width of widths) {
    emit(width, await sharp(image, { ...inputOptions, animated: true }).resize({ width }).gif({ effort: 4 }).timeout({ seconds: stepSeconds }).toBuffer());
  }
}

function encoder(format: string | undefined, palette: boolean): (image: Sharp) => Sharp {
  switch (format) {
    case "jpeg":
      return (image) => image.jpeg({ quality: 80 });
    case "png":
      return (image) => image.png({ compressionLevel: 7, palette });
    case "gif":
      return (image) => image.gif({ effort: 4 });
    default:
      throw new Error(`images of format ${format ?? "unknown"} are not scaled`);
  }
}
