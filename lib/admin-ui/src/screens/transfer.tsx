export function TransferTab(_: object) { return null; }
