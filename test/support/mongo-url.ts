// The database in a mongodb:// URL. Several hosts are no URL for Node's parser, so it is cut out by hand.

/** The URL with another database in its path. */
export function withDatabase(url: string, name: string): string {
  return url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);
}

/** The database in the URL's path; "" where there is none. */
export function databaseOf(url: string): string {
  return /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^?]*)/.exec(url)?.[1] ?? "";
}
