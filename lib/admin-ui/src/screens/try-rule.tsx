export function TryRule(_: { readonly tenant: unknown; readonly collection: unknown; readonly unsaved: boolean }) { return null; }
