// The token format: it can never change, because callers store tokens for years.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BUCKETS, parseBucket } from '../../src/domain/bucket.ts';
import {
  addressOfUserGroupToken,
  digestOfApiToken,
  digestOfImportedToken,
  digestToken,
  isImported,
  isSameAddress,
  mintApiToken,
  mintUserGroupToken,
  PresentedToken,
  sameDigest,
} from '../../src/domain/token.ts';
import { codePoint } from '../support/domain/code-point.ts';

// Computed by an independent program from the description of the format: 43 digits, CRC-32 and SHA-256.
const OF_FIRST_BUCKET = 'ugt_000ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq0mBNcO';
const OF_LAST_BUCKET = 'ugt_4GFABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq2P5Y19';
const BEYOND_LAST_BUCKET = 'ugt_4GGABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq36LDbJ';
const API_TOKEN = 'uga_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq3CBtGB';

const DIGITS = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const validBucket = (value: number) => parseBucket(value)!;
const bucket = fc.nat({ max: BUCKETS - 1 }).map(validBucket);

describe('a user group token', () => {
  it('has the documented format', () => {
    assert.deepEqual(addressOfUserGroupToken(OF_FIRST_BUCKET), {
      bucket: 0,
      digest: '0xm5xm1A93kRfjRKA5OTyGAdf_ZG-96Ri5eGH1LlfsQ',
    });
    assert.deepEqual(addressOfUserGroupToken(OF_LAST_BUCKET), {
      bucket: BUCKETS - 1,
      digest: 'S_dnIs381PV-13tACU8zaI3cL_drirtR76Zvmk-ATyg',
    });
  });

  it('contains its bucket', () => {
    fc.assert(
      fc.property(bucket, (of) => {
        const text = mintUserGroupToken(of).reveal();
        assert.match(text, /^ugt_[0-9A-Za-z]{52}$/);
        assert.deepEqual(addressOfUserGroupToken(text), { bucket: of, digest: digestToken(text) });
      }),
    );
  });

  it('is invalid with an invalid bucket', () => {
    assert.equal(addressOfUserGroupToken(BEYOND_LAST_BUCKET), null);
  });

  it('is invalid with any single digit changed', () => {
    for (let index = 4; index < OF_LAST_BUCKET.length; index++) {
      for (const digit of DIGITS.filter((each) => each !== OF_LAST_BUCKET[index])) {
        const mistyped = OF_LAST_BUCKET.slice(0, index) + digit + OF_LAST_BUCKET.slice(index + 1);
        assert.equal(addressOfUserGroupToken(mistyped), null, mistyped);
      }
    }
  });

  it('is invalid with two adjacent digits swapped', () => {
    const token = mintUserGroupToken(validBucket(5_025)).reveal();
    for (let index = 4; index + 1 < token.length; index++) {
      const [a, b] = [token[index]!, token[index + 1]!];
      if (a === b) continue;
      assert.equal(addressOfUserGroupToken(token.slice(0, index) + b + a + token.slice(index + 2)), null);
    }
  });

  const junk: Record<string, string> = {
    'an empty text': '',
    'a leading space': ` ${OF_LAST_BUCKET}`,
    'a trailing line break': `${OF_LAST_BUCKET}\n`,
    'a missing digit': OF_LAST_BUCKET.slice(0, -1),
    'an extra digit': `${OF_LAST_BUCKET}0`,
    'a repeated token': OF_LAST_BUCKET.repeat(2),
    capitals: OF_LAST_BUCKET.toUpperCase(),
    'another prefix': OF_LAST_BUCKET.replace('ugt', 'ugx'),
    'a character that is not a digit': OF_LAST_BUCKET.replace('M', '-'),
    'an API token': API_TOKEN,
    'a digest': digestToken(OF_LAST_BUCKET),
  };
  for (const [what, text] of Object.entries(junk)) {
    it(`is not: ${what}`, () => assert.equal(addressOfUserGroupToken(text), null));
  }

  it('is not an arbitrary text', () => {
    fc.assert(fc.property(fc.string(), (text) => assert.equal(addressOfUserGroupToken(text), null)));
  });
});

describe('an API token', () => {
  it('has the documented format', () => {
    assert.equal(digestOfApiToken(API_TOKEN), 'n_Aq7xNVGGopG9-JlTxAwRmQHIOrF9TvaRNsPbguH48');
    const text = mintApiToken().reveal();
    assert.match(text, /^uga_[0-9A-Za-z]{49}$/);
    assert.equal(digestOfApiToken(text), digestToken(text));
  });

  it('is invalid with any single digit changed', () => {
    for (let index = 4; index < API_TOKEN.length; index++) {
      for (const digit of DIGITS.filter((each) => each !== API_TOKEN[index])) {
        assert.equal(digestOfApiToken(API_TOKEN.slice(0, index) + digit + API_TOKEN.slice(index + 1)), null);
      }
    }
  });

  it('is not a user group token or any other text', () => {
    for (const text of ['', OF_LAST_BUCKET, `${API_TOKEN} `, `${API_TOKEN}0`, API_TOKEN.slice(0, -1)]) {
      assert.equal(digestOfApiToken(text), null);
    }
  });
});

describe('issuing', () => {
  const minted = Array.from({ length: 3_000 }, () => mintApiToken().reveal());

  it('creates unique tokens', () => {
    assert.equal(new Set(minted).size, minted.length);
  });

  it('draws digits uniformly, at every position', () => {
    const counts = new Map<string, number>();
    const digitsAt = Array.from({ length: 43 }, () => new Set<string>());
    for (const token of minted) {
      for (const [position, digit] of [...token.slice(4, 47)].entries()) {
        counts.set(digit, (counts.get(digit) ?? 0) + 1);
        digitsAt[position]!.add(digit);
      }
    }
    const expected = (minted.length * 43) / 62;
    // Seven standard deviations: exceeded by chance once in a billion runs.
    const tolerance = 7 * Math.sqrt(expected);
    for (const digit of DIGITS) assert.ok(Math.abs(counts.get(digit)! - expected) < tolerance, digit);
    assert.ok(digitsAt.every((seen) => seen.size === 62));
  });
});

describe('the address of a token', () => {
  it('is the same only with the same digest and bucket', () => {
    const address = addressOfUserGroupToken(OF_FIRST_BUCKET)!;
    const { bucket: otherBucket, digest } = addressOfUserGroupToken(OF_LAST_BUCKET)!;
    assert.equal(isSameAddress(address, { ...address }), true);
    assert.equal(isSameAddress(address, { ...address, digest }), false);
    assert.equal(isSameAddress(address, { ...address, bucket: otherBucket }), false);
  });

  it('is known of every token that is presented', () => {
    for (const text of [OF_FIRST_BUCKET, API_TOKEN, '']) {
      const presented = new PresentedToken(text);
      for (let time = 0; time < 2; time++) assert.deepEqual(presented.address, addressOfUserGroupToken(text));
    }
  });
});

describe('a digest', () => {
  it('is SHA-256 in base64url', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => {
        assert.equal(digestToken(text), createHash('sha256').update(text).digest('base64url'));
      }),
    );
  });

  it('equals only the same digest', () => {
    const digest = digestToken('a');
    assert.equal(sameDigest(digest, digestToken('a')), true);
    assert.equal(sameDigest(digest, digestToken('b')), false);
    assert.equal(sameDigest(digest, digest.slice(1) as typeof digest), false);
  });
});

describe('a token that can be imported', () => {
  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));

  it('is any text of 16 to 200 visible ASCII characters, and its digest is marked', () => {
    fc.assert(
      fc.property(fc.string({ unit: visible, minLength: 16, maxLength: 200 }), (text) => {
        const digest = digestOfImportedToken(text)!;
        assert.equal(digest, `~${digestToken(text)}`);
        assert.equal(isImported(digest), true);
        assert.equal(isImported(digestToken(text)), false);
      }),
    );
  });

  it('may have the length or the start of one that this service issues', () => {
    for (const text of ['x'.repeat(56), 'x'.repeat(53), `ugt_${'x'.repeat(20)}`, `uga_${'x'.repeat(20)}`])
      assert.equal(digestOfImportedToken(text), `~${digestToken(text)}`, text);
  });

  it('may be one that this service issued to another group', () => {
    assert.equal(digestOfImportedToken(OF_LAST_BUCKET), `~${digestToken(OF_LAST_BUCKET)}`);
  });

  const invalid: Record<string, string> = {
    'too short': 'x'.repeat(15),
    'too long': 'x'.repeat(201),
    'with white space': `${'x'.repeat(16)} x`,
    'with a trailing line break': `${'x'.repeat(16)}\n`,
    'with a control character': `${'x'.repeat(16)}\u007f`,
    'with a non-ASCII character': `${'x'.repeat(16)}é`,
    'an API token': API_TOKEN,
    'a mistyped API token': `${API_TOKEN.slice(0, -1)}A`,
    'a mistyped user group token': `${OF_LAST_BUCKET.slice(0, -1)}A`,
  };
  for (const [what, text] of Object.entries(invalid)) {
    it(`is not: ${what}`, () => assert.equal(digestOfImportedToken(text), null));
  }
});
