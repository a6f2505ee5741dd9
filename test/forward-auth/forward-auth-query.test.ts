// The names and sources of forward authentication, with generated input.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { headerNamePart } from '../../src/http/endpoints/user-group/forward-auth.ts';
import { presentedViewerToken } from '../../src/http/request/viewer-token.ts';
import { codePoint } from '../support/domain/code-point.ts';

/** Generates ids with characters that header names could confuse. */
const schemaId = fc.string({
  unit: fc.oneof(fc.constantFrom(...'aAbB019-_2d %./\u00e9\u0130\u212a'), codePoint),
  minLength: 1,
  maxLength: 6,
});

/** Returns the name as CGI and nginx variables see it. */
const folded = (name: string) => name.toLowerCase().replaceAll('-', '_');

describe('The name of the header of a schema', () => {
  it('is valid and unique to its schema, even without case and with - and _ treated alike', () => {
    fc.assert(
      fc.property(schemaId, schemaId, (one, other) => {
        const [first, second] = [headerNamePart(one), headerNamePart(other)];
        assert.match(first, /^[0-9a-z-]+$/);
        assert.equal(folded(first) === folded(second), one === other);
      }),
      { numRuns: 20_000 },
    );
  });

  it('can be decoded', () => {
    fc.assert(
      fc.property(schemaId, (id) => {
        const percentEncoded = headerNamePart(id).replaceAll('-', '%');
        assert.equal(decodeURIComponent(percentEncoded), id);
      }),
    );
  });
});

describe('The token of a viewer', () => {
  const tokenOf = (headers: Record<string, string>) =>
    presentedViewerToken({ headers } as unknown as IncomingMessage)?.reveal() ?? null;
  const name = 'user_group_token';
  const pair = fc
    .tuple(
      fc.constantFrom(name, 'other', ` ${name}`, `x${name}`, ''),
      fc.constantFrom('=', '', '=='),
      fc.constantFrom('a', 'b', ''),
    )
    .map((parts) => parts.join(''));

  it('is from a cookie only if exactly one has the name', () => {
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 4 }), (pairs) => {
        const token = tokenOf({ cookie: pairs.join(';') });
        const named = pairs
          .map((text) => text.trim())
          .filter((text) => text.split('=', 1)[0] === name && text.includes('='));
        assert.equal(token, named.length === 1 ? named[0]!.slice(name.length + 1) : null);
      }),
    );
  });

  it('is never from a cookie if there is a header', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        assert.notEqual(tokenOf({ 'x-user-group-token': `x${text}`, cookie: `${name}=cookie` }), 'cookie');
      }),
    );
  });
});
