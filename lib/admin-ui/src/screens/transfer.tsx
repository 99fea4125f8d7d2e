export function TransferTab(_: object) { return <p>Export</p>; }
