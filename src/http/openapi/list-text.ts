/** A text such as "a, b and c". */
export function listText(parts: readonly string[]): string {
  return parts.join(', ').replace(/, ([^,]*)$/, ' and $1');
}
