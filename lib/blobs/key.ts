// Keys of blobs: what a store may be given, checked in one place for every store.

const segmentPattern = /^[A-Za-z0-9._-]{1,128}$/;

/** The key's segments. Throws a TypeError where the key could leave its place: an empty, `.` or `..` segment, or other characters. */
export function keySegments(key: string): string[] {
  const segments = key.split("/");
  for (const segment of segments) {
    if (!segmentPattern.test(segment) || segment === "." || segment === "..") {
      throw new TypeError("A blob's key must be segments of A-Z a-z 0-9 . _ - parted by /, none of them . or ..");
    }
  }
  return segments;
}

/** The segments of a prefix; none where it is empty and means every blob. */
export function prefixSegments(prefix: string): string[] {
  return prefix === "" ? [] : keySegments(prefix);
}
