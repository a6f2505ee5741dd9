import { closest, distance } from 'fastest-levenshtein';

const MAX_TYPOS = 3;

/** Suggests the known name most similar to an unknown one. */
export function suggest(unknown: string, known: readonly string[]): string {
  const start = unknown.slice(0, 64);
  // Counting typing errors alone, expires_in would be closer to permission than to expires_in_seconds.
  const continued = start === '' ? undefined : known.find((name) => name.startsWith(start));
  const candidate = continued ?? closest(start, known);
  return continued !== undefined || distance(start, candidate) <= MAX_TYPOS
    ? didYouMean(candidate)
    : ` (the most similar is ${candidate}; known are ${known.join(', ')})`;
}

/** Completes a message about an unknown name; empty without a similar one. */
export function didYouMean(similar: string | null): string {
  return similar === null ? '' : ` (did you mean ${similar}?)`;
}

/** The known name most similar to an unknown one, regardless of case; null if none is similar. */
export function similarName(unknown: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let leastTypos = Math.min(MAX_TYPOS, [...unknown].length - 1);
  for (const name of known) {
    const typos = distance(unknown.toLowerCase(), name.toLowerCase());
    if (typos > leastTypos || (typos === leastTypos && best !== null)) continue;
    best = name;
    leastTypos = typos;
  }
  return best;
}

/**
 * Suggests a field or a parameter. No request sets the environment, so no known name is similar to it. Responses name
 * the id of a user group differently.
 */
export function suggestField(
  unknown: string,
  known: readonly string[],
  environmentSource = 'the API token',
): string {
  if (unknown === 'provided_id' && known.includes('user_group_id')) return didYouMean('user_group_id');
  const isEnvironment = unknown === 'api_environment_tag' || unknown === 'environment';
  return isEnvironment ? `: ${environmentSource} determines the environment` : suggest(unknown, known);
}
