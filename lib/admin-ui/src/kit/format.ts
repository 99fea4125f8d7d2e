// How times, sizes and values are written for people.

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const whole = new Intl.NumberFormat();

export const formatTime = (iso: string | null | undefined): string => (isTime(iso) ? dateTime.format(new Date(iso)) : "—");
export const formatExactTime = (iso: string | null | undefined): string => (isTime(iso) ? exact.format(new Date(iso)) : "—");
export const formatCount = (value: number): string => whole.format(value);

export function formatAgo(iso: string | null | undefined): string {
  if (!isTime(iso)) return "never";
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size < 60) return relative.format(Math.round(seconds), "second");
  if (size < 3600) return relative.format(Math.round(seconds / 60), "minute");
  if (size < 86_400) return relative.format(Math.round(seconds / 3600), "hour");
  return size < 86_400 * 30 ? relative.format(Math.round(seconds / 86_400), "day") : formatTime(iso);
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

export const formatMs = (value: number): string => (value < 10 ? `${Math.round(value * 10) / 10} ms` : value < 10_000 ? `${Math.round(value)} ms` : `${Math.round(value / 100) / 10} s`);

/** The end of an id tells more than its start, which is a time. */
export const shortId = (id: string): string => (id.length > 14 ? `…${id.slice(-8)}` : id);

function isTime(iso: string | null | undefined): iso is string {
  return typeof iso === "string" && !Number.isNaN(Date.parse(iso));
}

/** The value of a `datetime-local` input for a timestamp, in local time. */
export function toLocalInput(iso: string): string {
  if (!isTime(iso)) return "";
  const date = new Date(iso);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, date.getSeconds() === 0 && date.getMilliseconds() === 0 ? 16 : 23);
}

/** The timestamp of a `datetime-local` input; null where it is empty. */
export function fromLocalInput(text: string): string | null {
  if (text === "") return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
