// What is wrong with a request is told in its own words, and these may be as long as the request.

import { redact } from './secret.ts';

/** Characters of a name; one that is right has fewer. */
const START = /^.{0,300}/su;

/** The text; the beginning of one that is long. */
export function excerpt(text: string): string {
  if (startOf(text) === text) return text;
  // Redacted later, the beginning of a token would pass for something else.
  return `${startOf(redact(text))}… (cut off)`;
}

function startOf(text: string): string {
  return START.exec(text)?.[0] ?? '';
}
