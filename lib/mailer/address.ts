// What may stand as the one recipient of a mail.

/**
 * Whether the text is one plain address: one `@`, nothing that could add a recipient or a header. Stricter than the
 * EMAIL type needs to be, since this is the last look before the mail server.
 */
export function isPlainAddress(value: unknown): value is string {
  return typeof value === "string" && value.length <= 254 && /^[^\s\p{Cc}\p{Cs}@,;:<>()[\]\\"]{1,64}@[^\s\p{Cc}\p{Cs}@,;:<>()[\]\\"]+$/u.test(value);
}
