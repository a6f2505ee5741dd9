// Tokens at rest: what is sealed opens with its key, for its group, unchanged, and in no other way.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  generateKeyLine,
  KeyRing,
  KeyRingInvalid,
  type TokenOwner,
  TokenUnreadable,
} from '../../src/domain/key-ring.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { TokenDigest } from '../../src/domain/token.ts';
import type { SealedToken } from '../../src/domain/user-group.ts';

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
/** A line begins with it. */
const idOf = (keyLine: string): string => keyLine.slice(0, 8);

function assertUnreadable(keys: KeyRing, sealed: SealedToken, of: TokenOwner = owner): void {
  assert.throws(() => keys.open(sealed, of), TokenUnreadable);
}

describe('a sealed token', () => {
  it('opens to what was sealed, in the process that sealed it and in others', () => {
    const key = line();
    const [sealing, opening] = [ring(key), ring(key)];
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.nat(),
        fc.string({ unit: 'binary' }),
        (text, teamId, providedId) => {
          const of: TokenOwner = { ...owner, teamId, providedId };
          const sealed = sealing.seal(new Secret(text), of);
          for (const keys of [sealing, opening, opening]) assert.equal(keys.open(sealed, of).reveal(), text);
        },
      ),
    );
  });

  // Made by another program, from the description of the form.
  it('has the form that is written down', () => {
    const keys = ring('80db35ae:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8');
    const sealed = { keyId: '80db35ae', ciphertext: 'AAECAwQFBgcICQoLMmWiRLaAo3foJZ0CD9KyD73F_iViJSpPK2g' };
    assert.equal(keys.open(sealed, owner).reveal(), 'ugt_sealed');
  });

  it('is never sealed to the same text twice, and does not hold the token', () => {
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
    'a group whose parts, put together, look the same': { ...owner, teamId: 4, providedId: '2/acme/eu' },
  };
  for (const [whose, other] of Object.entries(others)) {
    it(`does not open in the row of ${whose}, neither before nor after it was opened in its own`, () => {
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

  it('does not open with any one bit changed', () => {
    const keys = ring(line());
    const { keyId, ciphertext } = keys.seal(token, owner);
    const bytes = Buffer.from(ciphertext, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      assertUnreadable(keys, { keyId, ciphertext: changed.toString('base64url') });
    }
  });

  it('does not open with a character moved from one column to the next, after it was opened as it was', () => {
    const keys = ring(line());
    const { keyId, ciphertext } = keys.seal(token, owner);
    const tokenDigest = `${ciphertext.at(-1)}${owner.tokenDigest}` as TokenDigest;
    assert.equal(keys.open({ keyId, ciphertext }, owner).reveal(), token.reveal());
    assertUnreadable(keys, { keyId, ciphertext: ciphertext.slice(0, -1) }, { ...owner, tokenDigest });
  });

  it('does not open with a part missing', () => {
    const keys = ring(line());
    const { keyId, ciphertext } = keys.seal(token, owner);
    for (let length = 0; length < ciphertext.length; length++) {
      assertUnreadable(keys, { keyId, ciphertext: ciphertext.slice(0, length) });
    }
    assertUnreadable(keys, { keyId, ciphertext: ciphertext.slice(4) });
  });

  it('does not open without its key, nor with another one', () => {
    const [first, second] = [ring(line()), ring(line())];
    const sealed = first.seal(token, owner);
    assert.throws(() => second.open(sealed, owner), {
      name: 'TokenUnreadable',
      message: `the key ring has no key ${first.activeKeyId}`,
    });
    assertUnreadable(second, { ...sealed, keyId: second.activeKeyId });
  });
});

describe('a key ring', () => {
  it('seals with its first key and opens with any', () => {
    const [old, young] = [line(), line()];
    const before = ring(old);
    const after = ring(young, old);
    assert.deepEqual(before.missing([idOf(young), idOf(old)]), [idOf(young)]);
    assert.deepEqual(after.missing([idOf(young), idOf(old)]), []);
    assert.equal(after.activeKeyId, idOf(young));
    const sealedBefore = before.seal(token, owner);
    const sealedAfter = after.seal(token, owner);
    assert.deepEqual([sealedBefore.keyId, sealedAfter.keyId], [idOf(old), idOf(young)]);
    for (const sealed of [sealedBefore, sealedAfter]) {
      assert.equal(ring(young, old).open(sealed, owner).reveal(), token.reveal());
    }
    assertUnreadable(before, sealedAfter);
  });

  it('may be written in lines, with commas or with spaces, and with white space around', () => {
    const lines = [line(), line(), line()];
    for (const separator of ['\n', '\r\n', ',', ', ', ' ', '\n\n']) {
      const keys = KeyRing.parse(new Secret(` ${lines.join(separator)}\n`));
      assert.equal(keys.activeKeyId, idOf(lines[0]!));
      assert.deepEqual(keys.missing([...lines.map(idOf), 'another']), ['another']);
    }
  });

  it('takes what "key generate" prints, which is never the same', () => {
    const lines = Array.from({ length: 100 }, line);
    assert.equal(new Set(lines).size, 100);
    for (const each of lines) assert.match(each, /^[0-9a-f]{8}:[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(ring(...lines).missing(lines.map(idOf)), []);
  });

  describe('refuses, and shows nothing of the key in what it says', () => {
    const good = '80db35ae:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
    const bad: Record<string, [text: string, message: RegExp]> = {
      'no key': ['', /the key ring is empty/],
      'only white space': [' \n,', /the key ring is empty/],
      'a key twice': [`${good}\n${good}`, /a key stands twice/],
      'a changed digit of the key': [
        good.replace('AAEC', 'ABEC'),
        /key 1 of the ring does not belong to its id 80db35ae/,
      ],
      'a changed digit of the id': [
        good.replace('80db', '80da'),
        /key 1 of the ring does not belong to its id 80da35ae/,
      ],
      'a key cut short': [good.slice(0, -1), /key 1 of the ring is not of the form/],
      'a key too long': [`${good}A`, /key 1 of the ring is not of the form/],
      'no id': [good.slice(9), /key 1 of the ring is not of the form/],
      'standard base64': [good.replace('Q', '+'), /key 1 of the ring is not of the form/],
      'capitals in the id': [good.replace('db', 'DB'), /key 1 of the ring is not of the form/],
      quotes: [`"${good}"`, /key 1 of the ring is not of the form/],
      'a bad second key': [`${line()}\n${good.slice(0, -1)}`, /key 2 of the ring is not of the form/],
    };
    for (const [what, [text, message]] of Object.entries(bad)) {
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
