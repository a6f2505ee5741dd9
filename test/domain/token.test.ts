// The text of tokens: its form can never change, since callers hold tokens for years.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BUCKETS, parseBucket } from '../../src/domain/bucket.ts';
import {
  addressOfUserGroupToken,
  digestOf,
  digestOfApiToken,
  digestOfImportedToken,
  isImported,
  mintApiToken,
  mintUserGroupToken,
  sameDigest,
} from '../../src/domain/token.ts';

// Made by another program, from the description of the form: 43 digits, CRC-32 and SHA-256.
const OF_FIRST_BUCKET = 'ugt_000ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq0mBNcO';
const OF_LAST_BUCKET = 'ugt_4GFABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq2P5Y19';
const BEYOND_LAST_BUCKET = 'ugt_4GGABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq36LDbJ';
const API_TOKEN = 'uga_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq3CBtGB';

const DIGITS = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const bucketOfNumber = (value: number) => parseBucket(value)!;
const bucket = fc.nat({ max: BUCKETS - 1 }).map(bucketOfNumber);

describe('a user group token', () => {
  it('has the form that is written down', () => {
    assert.deepEqual(addressOfUserGroupToken(OF_FIRST_BUCKET), {
      bucket: 0,
      digest: '0xm5xm1A93kRfjRKA5OTyGAdf_ZG-96Ri5eGH1LlfsQ',
    });
    assert.deepEqual(addressOfUserGroupToken(OF_LAST_BUCKET), {
      bucket: BUCKETS - 1,
      digest: 'S_dnIs381PV-13tACU8zaI3cL_drirtR76Zvmk-ATyg',
    });
  });

  it('names its bucket, whichever it is', () => {
    fc.assert(
      fc.property(bucket, (of) => {
        const text = mintUserGroupToken(of).reveal();
        assert.match(text, /^ugt_[0-9A-Za-z]{52}$/);
        assert.deepEqual(addressOfUserGroupToken(text), { bucket: of, digest: digestOf(text) });
      }),
    );
  });

  it('of a bucket that there is not is none', () => {
    assert.equal(addressOfUserGroupToken(BEYOND_LAST_BUCKET), null);
  });

  it('is found to be none with any one digit changed', () => {
    for (let index = 4; index < OF_LAST_BUCKET.length; index++) {
      for (const digit of DIGITS.filter((each) => each !== OF_LAST_BUCKET[index])) {
        const mistyped = OF_LAST_BUCKET.slice(0, index) + digit + OF_LAST_BUCKET.slice(index + 1);
        assert.equal(addressOfUserGroupToken(mistyped), null, mistyped);
      }
    }
  });

  it('is found to be none with two neighbouring digits swapped', () => {
    const token = mintUserGroupToken(bucketOfNumber(5_025)).reveal();
    for (let index = 4; index + 1 < token.length; index++) {
      const [a, b] = [token[index]!, token[index + 1]!];
      if (a === b) continue;
      assert.equal(addressOfUserGroupToken(token.slice(0, index) + b + a + token.slice(index + 2)), null);
    }
  });

  const junk: Record<string, string> = {
    'an empty text': '',
    'a space before': ` ${OF_LAST_BUCKET}`,
    'a line break behind': `${OF_LAST_BUCKET}\n`,
    'a digit less': OF_LAST_BUCKET.slice(0, -1),
    'a digit more': `${OF_LAST_BUCKET}0`,
    'twice the same': OF_LAST_BUCKET.repeat(2),
    capitals: OF_LAST_BUCKET.toUpperCase(),
    'another prefix': OF_LAST_BUCKET.replace('ugt', 'ugx'),
    'a sign that is no digit': OF_LAST_BUCKET.replace('M', '-'),
    'an API token': API_TOKEN,
    'a digest': digestOf(OF_LAST_BUCKET),
  };
  for (const [what, text] of Object.entries(junk)) {
    it(`is not: ${what}`, () => assert.equal(addressOfUserGroupToken(text), null));
  }

  it('is not any other text', () => {
    fc.assert(fc.property(fc.string(), (text) => assert.equal(addressOfUserGroupToken(text), null)));
  });
});

describe('an API token', () => {
  it('has the form that is written down', () => {
    assert.equal(digestOfApiToken(API_TOKEN), 'n_Aq7xNVGGopG9-JlTxAwRmQHIOrF9TvaRNsPbguH48');
    const text = mintApiToken().reveal();
    assert.match(text, /^uga_[0-9A-Za-z]{49}$/);
    assert.equal(digestOfApiToken(text), digestOf(text));
  });

  it('is found to be none with any one digit changed', () => {
    for (let index = 4; index < API_TOKEN.length; index++) {
      for (const digit of DIGITS.filter((each) => each !== API_TOKEN[index])) {
        assert.equal(digestOfApiToken(API_TOKEN.slice(0, index) + digit + API_TOKEN.slice(index + 1)), null);
      }
    }
  });

  it('is not a user group token, nor anything else', () => {
    for (const text of ['', OF_LAST_BUCKET, `${API_TOKEN} `, `${API_TOKEN}0`, API_TOKEN.slice(0, -1)]) {
      assert.equal(digestOfApiToken(text), null);
    }
  });
});

describe('minting', () => {
  const minted = Array.from({ length: 3_000 }, () => mintApiToken().reveal());

  it('never gives the same token twice', () => {
    assert.equal(new Set(minted).size, minted.length);
  });

  it('draws every digit equally often, at every place', () => {
    const counts = new Map<string, number>();
    const places = Array.from({ length: 43 }, () => new Set<string>());
    for (const token of minted) {
      for (const [place, digit] of [...token.slice(4, 47)].entries()) {
        counts.set(digit, (counts.get(digit) ?? 0) + 1);
        places[place]!.add(digit);
      }
    }
    const expected = (minted.length * 43) / 62;
    // Seven standard deviations: chance goes there once in a billion runs.
    const tolerance = 7 * Math.sqrt(expected);
    for (const digit of DIGITS) assert.ok(Math.abs(counts.get(digit)! - expected) < tolerance, digit);
    assert.ok(places.every((seen) => seen.size === 62));
  });
});

describe('a digest', () => {
  it('is SHA-256 in base64url', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.equal(digestOf(text), createHash('sha256').update(text).digest('base64url'));
      }),
    );
  });

  it('is the same as itself and as no other', () => {
    const digest = digestOf('a');
    assert.equal(sameDigest(digest, digestOf('a')), true);
    assert.equal(sameDigest(digest, digestOf('b')), false);
    assert.equal(sameDigest(digest, digest.slice(1) as typeof digest), false);
  });
});

describe('a token that an import may have brought', () => {
  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));

  it('is any text of 16 to 200 visible ASCII characters, and its digest is marked', () => {
    fc.assert(
      fc.property(fc.string({ unit: visible, minLength: 16, maxLength: 200 }), (text) => {
        const digest = digestOfImportedToken(text)!;
        assert.equal(digest, `~${digestOf(text)}`);
        assert.equal(isImported(digest), true);
        assert.equal(isImported(digestOf(text)), false);
      }),
    );
  });

  it('may be one that was issued here, to another group', () => {
    assert.equal(digestOfImportedToken(OF_LAST_BUCKET), `~${digestOf(OF_LAST_BUCKET)}`);
  });

  const none: Record<string, string> = {
    'too short': 'x'.repeat(15),
    'too long': 'x'.repeat(201),
    'with white space': `${'x'.repeat(16)} x`,
    'with a line break at its end': `${'x'.repeat(16)}\n`,
    'with a control character': `${'x'.repeat(16)}\u007f`,
    'with a character beyond ASCII': `${'x'.repeat(16)}é`,
    'an API token': API_TOKEN,
    'a mistyped API token': `${API_TOKEN.slice(0, -1)}A`,
    'a mistyped user group token': `${OF_LAST_BUCKET.slice(0, -1)}A`,
  };
  for (const [what, text] of Object.entries(none)) {
    it(`is not: ${what}`, () => assert.equal(digestOfImportedToken(text), null));
  }
});
