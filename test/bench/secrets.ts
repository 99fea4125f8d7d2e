// The secrets of the bench's services on MongoDB, which has no folder to keep any in.
import { createHash } from "node:crypto";

const hex = (of: string): string => createHash("sha256").update(of).digest("hex");

export const secrets = { application: hex("a"), token: hex("b"), sessionCookie: hex("c"), authenticationCookie: hex("d"), flashCookie: hex("e") };
