/** Compares ids in the order of both databases: byte for byte in UTF-8. */
export function compareIds(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
