// Whether a token that was signed once still stands for its user: read from the user's row at every use, so that a
// revocation by any process counts from the next request (contract 6).
import type { Row } from "../storage/storage.js";

/** False where the user is inactive, the generation was raised, or the token's session was ended. `familyId` null: the token belongs to no session. */
export function tokenHolds({ hidden }: Row, { generation, familyId }: { readonly generation: number; readonly familyId: string | null }): boolean {
  if (hidden["active"] === false || (hidden["generation"] ?? 0) !== generation) return false;
  const revoked = hidden["revokedFamilies"];
  return typeof revoked !== "string" || familyId === null || !revoked.includes(familyId);
}
