// Tokens at rest: a sealed token opens only with its key, in its row and unmodified.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  generateKeyLine,
  KeyRing,
  KeyRingInvalid,
  type SecretOwner,
  type TokenOwner,
  TokenUnreadable,
} from '../../src/domain/key-ring.ts';
import { type SealedSecret, Secret } from '../../src/domain/secret.ts';
import type { TokenDigest } from '../../src/domain/token.ts';
import { codePoint } from '../support/domain/code-point.ts';

const owner: TokenOwner = {
  workspaceId: 7,
  environment: 'Customer',
  teamId: 42,
  providedId: 'acme/eu',
  tokenDigest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' as TokenDigest,
};
const token = new Secret('ugt_sealed');

const line = (): string => generateKeyLine().reveal();
const ring = (...lines: string[]): KeyRing => KeyRing.parse(new Secret(lines.join('\n')));
/** Returns the id at the start of a line. */
const idOf = (keyLine: string): string => keyLine.slice(0, 8);

function assertUnreadable(keys: KeyRing, sealed: SealedSecret, of: SecretOwner = owner): void {
  assert.throws(() => keys.open(sealed, of), TokenUnreadable);
}

describe('a sealed token', () => {
  it('opens to the original token, in the process that sealed it and in others', () => {
    const key = line();
    const [sealing, opening] = [ring(key), ring(key)];
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.nat(),
        fc.string({ unit: codePoint }),
        (text, teamId, providedId) => {
          const of: TokenOwner = { ...owner, teamId, providedId };
          const sealed = sealing.seal(new Secret(text), of);
          for (const keys of [sealing, opening, opening]) assert.equal(keys.open(sealed, of).reveal(), text);
        },
      ),
    );
  });

  // Computed by an independent program from the description of the format.
  it('has the documented format', () => {
    const keys = ring('80db35ae:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8');
    const sealed = { keyId: '80db35ae', ciphertext: 'AAECAwQFBgcICQoLMmWiRLaAo3foJZ0CD9KyD73F_iViJSpPK2g' };
    assert.equal(keys.open(sealed, owner).reveal(), 'ugt_sealed');
  });

  it('has a unique ciphertext that does not contain the token', () => {
    const keys = ring(line());
    const sealed = Array.from({ length: 1_000 }, () => keys.seal(token, owner).ciphertext);
    assert.equal(new Set(sealed).size, sealed.length);
    for (const ciphertext of sealed) {
      assert.equal(Buffer.from(ciphertext, 'base64url').includes(token.reveal()), false);
    }
  });

  const others: Record<string, TokenOwner> = {
    'another group': { ...owner, teamId: 43 },
    'another id': { ...owner, providedId: 'acme' },
    'another workspace': { ...owner, workspaceId: 8 },
    'an older token': { ...owner, tokenDigest: 'x'.repeat(43) as TokenDigest },
    'another environment': { ...owner, environment: 'Testing' },
    'a group whose concatenated parts are the same': { ...owner, teamId: 4, providedId: '2/acme/eu' },
  };
  for (const [row, other] of Object.entries(others)) {
    it(`does not open in the row of ${row}, before or after it was opened in its own row`, () => {
      const key = line();
      const [sealing, opening] = [ring(key), ring(key)];
      const sealed = sealing.seal(token, owner);
      for (const keys of [sealing, opening]) {
        assertUnreadable(keys, sealed, other);
        assert.equal(keys.open(sealed, owner).reveal(), token.reveal());
        assertUnreadable(keys, sealed, other);
      }
    });
  }

  it('does not open with any single bit changed', () => {
    const keys = ring(line());
    const { keyId, ciphertext } = keys.seal(token, owner);
    const bytes = Buffer.from(ciphertext, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      assertUnreadable(keys, { keyId, ciphertext: changed.toString('base64url') });
    }
  });

  it('does not open with a character moved between columns, after it was opened unmodified', () => {
    const keys = ring(line());
    const { keyId, ciphertext } = keys.seal(token, owner);
    const tokenDigest = `${ciphertext.at(-1)}${owner.tokenDigest}` as TokenDigest;
    assert.equal(keys.open({ keyId, ciphertext }, owner).reveal(), token.reveal());
    assertUnreadable(keys, { keyId, ciphertext: ciphertext.slice(0, -1) }, { ...owner, tokenDigest });
  });

  it('does not open truncated', () => {
    const keys = ring(line());
    const { keyId, ciphertext } = keys.seal(token, owner);
    for (let length = 0; length < ciphertext.length; length++) {
      assertUnreadable(keys, { keyId, ciphertext: ciphertext.slice(0, length) });
    }
    assertUnreadable(keys, { keyId, ciphertext: ciphertext.slice(4) });
  });

  it('does not open if it is empty', () => {
    const keys = ring(line());
    assertUnreadable(keys, keys.seal(new Secret(''), owner));
  });

  it('does not open without its key or with another key', () => {
    const [first, second] = [ring(line()), ring(line())];
    const sealed = first.seal(token, owner);
    assert.throws(() => second.open(sealed, owner), {
      name: 'TokenUnreadable',
      message: `the key ring has no key ${first.activeKeyId}`,
    });
    assertUnreadable(second, { ...sealed, keyId: second.activeKeyId });
  });
});

describe('a sealed secret', () => {
  const document = { workspaceId: 7, environment: 'Customer', kind: 'webhook_endpoint', id: 'a' } as const;
  const owners: [noun: string, SecretOwner][] = [
    ['document', document],
    ['document', { ...document, workspaceId: 8 }],
    ['document', { ...document, environment: 'Testing' }],
    ['document', { ...document, kind: 'integration' }],
    ['document', { ...document, id: 'b' }],
    ['session', { session: 'console' }],
    ['session', { session: 'new-api-token' }],
    ['user group', owner],
  ];

  it('opens only for the document, session or user group that it was sealed for', () => {
    const keys = ring(line());
    for (const [, sealedFor] of owners) {
      const sealed = keys.seal(token, sealedFor);
      for (const [noun, other] of owners) {
        if (other === sealedFor) assert.equal(keys.open(sealed, other).reveal(), token.reveal());
        else
          assert.throws(() => keys.open(sealed, other), {
            name: 'TokenUnreadable',
            message: `the encrypted token does not decrypt with key ${keys.activeKeyId} for this ${noun}`,
          });
      }
    }
  });
});

describe('a key ring', () => {
  it('lists its keys, the active one first', () => {
    const lines = [line(), line()];
    assert.deepEqual(ring(...lines).keyIds, lines.map(idOf));
  });

  it('seals with its first key and opens with any key', () => {
    const [oldKey, newKey] = [line(), line()];
    const before = ring(oldKey);
    const after = ring(newKey, oldKey);
    assert.deepEqual(before.missing([idOf(newKey), idOf(oldKey)]), [idOf(newKey)]);
    assert.deepEqual(after.missing([idOf(newKey), idOf(oldKey)]), []);
    assert.equal(after.activeKeyId, idOf(newKey));
    const sealedBefore = before.seal(token, owner);
    const sealedAfter = after.seal(token, owner);
    assert.deepEqual([sealedBefore.keyId, sealedAfter.keyId], [idOf(oldKey), idOf(newKey)]);
    for (const sealed of [sealedBefore, sealedAfter]) {
      assert.equal(ring(newKey, oldKey).open(sealed, owner).reveal(), token.reveal());
    }
    assertUnreadable(before, sealedAfter);
  });

  it('may be separated by line breaks, commas or spaces, and surrounded by white space', () => {
    const lines = [line(), line(), line()];
    for (const separator of ['\n', '\r\n', ',', ', ', ' ', '\n\n']) {
      const keys = KeyRing.parse(new Secret(` ${lines.join(separator)}\n`));
      assert.equal(keys.activeKeyId, idOf(lines[0]!));
      assert.deepEqual(keys.missing([...lines.map(idOf), 'another']), ['another']);
    }
  });

  it('accepts the output of "key generate", which is unique', () => {
    const lines = Array.from({ length: 100 }, line);
    assert.equal(new Set(lines).size, 100);
    for (const each of lines) assert.match(each, /^[0-9a-f]{8}:[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(ring(...lines).missing(lines.map(idOf)), []);
  });

  describe('rejects, with an error that contains no part of the key:', () => {
    const valid = '80db35ae:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
    const invalid: Record<string, [text: string, message: RegExp]> = {
      'no key': ['', /the key ring is empty: restore it/],
      'only white space': [' \n,', /the key ring is empty/],
      'a duplicate key': [`${valid}\n${valid}`, /duplicate key/],
      'a changed digit of the key': [
        valid.replace('AAEC', 'ABEC'),
        /key 1 of the ring does not match its id 80db35ae/,
      ],
      'a changed digit of the id': [
        valid.replace('80db', '80da'),
        /key 1 of the ring does not match its id 80da35ae/,
      ],
      'a truncated key': [valid.slice(0, -1), /key 1 of the ring does not have the format/],
      'a key that is too long': [`${valid}A`, /key 1 of the ring does not have the format/],
      'a character before the id': [`0${valid}`, /key 1 of the ring does not have the format/],
      'no id': [valid.slice(9), /key 1 of the ring does not have the format/],
      'standard base64': [valid.replace('Q', '+'), /key 1 of the ring does not have the format/],
      'capitals in the id': [valid.replace('db', 'DB'), /key 1 of the ring does not have the format/],
      quotes: [`"${valid}"`, /key 1 of the ring does not have the format/],
      'an invalid second key': [
        `${line()}\n${valid.slice(0, -1)}`,
        /key 2 of the ring does not have the format/,
      ],
    };
    for (const [what, [text, message]] of Object.entries(invalid)) {
      it(what, () => {
        assert.throws(
          () => KeyRing.parse(new Secret(text)),
          (error) => {
            assert.ok(error instanceof KeyRingInvalid);
            assert.match(error.message, message);
            for (const part of ['CQoLDA0ODx', 'REhMUFRYX']) assert.equal(error.stack?.includes(part), false);
            return true;
          },
        );
      });
    }
  });
});
