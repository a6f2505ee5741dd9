const conjunction = new Intl.ListFormat('en-GB');

/** A text such as "a, b and c". */
export function listText(parts: readonly string[]): string {
  return conjunction.format(parts);
}
