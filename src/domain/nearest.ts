import { closest, distance } from 'fastest-levenshtein';

/** Names the known name that is nearest to one that is not known. */
export function nearest(unknown: string, known: readonly string[]): string {
  const start = unknown.slice(0, 64);
  const candidate = closest(start, known);
  return distance(start, candidate) <= 3
    ? ` (did you mean ${candidate}?)`
    : ` (the nearest is ${candidate}; all are ${known.join(', ')})`;
}
