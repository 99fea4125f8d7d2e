// Which variants an image gets, and which of them answers a request for a width. Pure.

const scalable: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif"]);

/** Whether images of this type are scaled at all. */
export function isScalable(type: string): boolean {
  return scalable.has(type);
}

/** The widths to make, ascending: never one as wide as the original or wider. None where the image cannot be read. */
export function plannedWidths(configured: readonly number[], type: string, originalWidth: number | undefined): number[] {
  if (!isScalable(type) || originalWidth === undefined) return [];
  return [...new Set(configured)].filter((width) => width < originalWidth).sort((a, b) => a - b);
}

/** The planned widths that may answer, best first: the exact one, else the next larger ones. Never a smaller one. */
export function candidateWidths(planned: readonly number[], wanted: number): number[] {
  return planned.filter((width) => width >= wanted);
}

/** The number that a `width` asks for; undefined where it is not a positive whole number written in digits. */
export function parseWidth(text: string): number | undefined {
  return /^[0-9]{1,512}$/.test(text) && /[1-9]/.test(text) ? Number(text) : undefined;
}
