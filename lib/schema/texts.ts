// What a text may hold, and how long it is.

const broken = /[\0\p{Surrogate}]/u;

/** Whether the text has a NUL or half of a surrogate pair in it: no text of the service may. */
export function hasBrokenText(text: string): boolean {
  return broken.test(text);
}

/** The length in Unicode code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}
