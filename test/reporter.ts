// What `npm test` prints: the report of the runner, in which no token shows, also where a test fails that compares
// tokens.

import { compose } from 'node:stream';
import { spec } from 'node:test/reporters';
import { stripVTControlCharacters } from 'node:util';
import { redact } from '../src/domain/secret.ts';

// biome-ignore lint/style/noDefaultExport: the runner asks for it.
export default async function* report(events: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const text of compose(events, new spec())) yield withoutSecrets(String(text));
}

/** A difference is coloured character by character, and so is a token in it: such a line loses its colours. */
export function withoutSecrets(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const plain = stripVTControlCharacters(line);
      const redacted = redact(plain);
      return redacted === plain ? line : redacted;
    })
    .join('\n');
}
