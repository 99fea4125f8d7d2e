// How the storage option names a place: a folder, or the URL of MongoDB servers with the system database in its path.

/** MongoDB's own limit on a database's name, in bytes. */
const longestDatabase = 63;
/** Databases of MongoDB itself. */
const reserved = new Set(["admin", "config", "local"]);

export function isMongoUrl(storage: string): boolean {
  return /^mongodb(?:\+srv)?:\/\//.test(storage);
}

/** The system database's name where the URL has it. Throws TypeError, without the URL, where it cannot name one. */
export function systemDatabase(url: string): string {
  // Several hosts are no URL for Node's parser, so the path is cut out by hand.
  const name = decoded(/^mongodb(?:\+srv)?:\/\/[^/]*(?:\/([^?]*))?/.exec(url)?.[1] ?? "");
  if (name === "") return "records";
  if (name === undefined || !/^[A-Za-z0-9_-]+$/.test(name) || name.length + 33 > longestDatabase) {
    throw new TypeError(`The database of a mongodb:// URL must be named by up to ${longestDatabase - 33} letters, digits, _ and -: tenants' databases are called after it`);
  }
  if (reserved.has(name.toLowerCase())) throw new TypeError(`The database ${name} is MongoDB's own: name another in the path of the URL (who signs in there says ?authSource=${name})`);
  return name;
}

/** What is wrong with the text as a place, to be put behind the option's name; undefined where it may be one. Never repeats it: it may hold a password. */
export function placeFault(storage: string): string | undefined {
  if (storage.trim() === "") return "must name a folder, or be a mongodb:// URL";
  if (!isMongoUrl(storage)) return storage.includes("://") ? "must be a folder, or a URL that begins with mongodb:// or mongodb+srv://" : undefined;
  try {
    systemDatabase(storage);
    return undefined;
  } catch (error) {
    return `cannot be used: ${(error as Error).message}`;
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
