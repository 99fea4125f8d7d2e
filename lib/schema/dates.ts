// DATE values: reads ISO 8601 dates and timestamps, gives UTC milliseconds as text.

const pattern = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * The timestamp as the service keeps it (`2026-01-31T10:00:00.000Z`), or null where the text is no calendar date or
 * timestamp of the years 1 to 9999. Without an offset it is taken as UTC, without a time as midnight; digits beyond
 * milliseconds are cut.
 */
export function parseTimestamp(text: string): string | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const offset = zoneMinutes(zone);
  if (offset === null) return null;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (Number(year) < 1 || date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const time = date.getTime() + ((Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second)) * 1000 + milliseconds;
  const result = new Date(time).toISOString();
  return result.length === 24 && !result.startsWith("0000") ? result : null;
}

function zoneMinutes(zone: string): number | null {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = zone.length > 3 ? Number(zone.slice(-2)) : 0;
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
