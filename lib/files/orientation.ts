// EXIF orientation: whether an image is stored lying on its side.

const orientationTag = 0x0112;

/** Whether the TIFF data of an EXIF block says that width and height are to be swapped (orientations 5 to 8). */
export function isTurned(tiff: Buffer): boolean {
  const order = tiff.toString("latin1", 0, 2);
  if (tiff.length < 8 || (order !== "II" && order !== "MM")) return false;
  const little = order === "II";
  const short = (offset: number): number => (little ? tiff.readUInt16LE(offset) : tiff.readUInt16BE(offset));
  const directory = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return false;
  const entries = short(directory);
  for (let index = 0; index < entries; index += 1) {
    const entry = directory + 2 + index * 12;
    if (entry + 12 > tiff.length) return false;
    if (short(entry) === orientationTag) {
      const value = short(entry + 8);
      return value >= 5 && value <= 8;
    }
  }
  return false;
}
