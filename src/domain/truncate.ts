// Error details quote names of the request, which may be as long as the request.

import { redact } from './secret.ts';

/** Longer than any valid name. */
const START = /^.{0,300}/su;

export function truncate(text: string): string {
  if (textStart(text) === text) return text;
  // Redact first: a truncated token might no longer be recognized.
  return `${textStart(redact(text))}… (cut off)`;
}

function textStart(text: string): string {
  return START.exec(text)![0];
}
