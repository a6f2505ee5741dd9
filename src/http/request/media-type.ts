// Checks the declared media type of a body. A missing one is accepted.

import type { IncomingMessage } from 'node:http';
import { Problem } from '../../problem.ts';

/** The charset is UTF-8 or absent. Unambiguous, so that the pattern does not backtrack. */
const PARAMETERS = String.raw`(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?[ \t]*(?:;[ \t]*)?$`;
const patterns = {
  'application/x-www-form-urlencoded': new RegExp(`^application/x-www-form-urlencoded${PARAMETERS}`, 'i'),
  'application/json': new RegExp(`^application/json${PARAMETERS}`, 'i'),
  'application/merge-patch+json': new RegExp(String.raw`^application/merge-patch\+json${PARAMETERS}`, 'i'),
};

export type MediaType = keyof typeof patterns;

/** Throws `unsupported_media_type` for other types and for compressed bodies. */
export function checkMediaType(
  { headers }: Pick<IncomingMessage, 'headers'>,
  accepted: readonly MediaType[],
): void {
  const type = headers['content-type'];
  if (type !== undefined && !accepted.some((each) => patterns[each].test(type))) {
    const wanted = accepted.map((each) => `"Content-Type: ${each}"`).join(' or ');
    throw new Problem('unsupported_media_type', `Send the body with ${wanted} (UTF-8).`);
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    throw new Problem(
      'unsupported_media_type',
      'Send the body without Content-Encoding: compressed bodies are not supported.',
    );
  }
}
