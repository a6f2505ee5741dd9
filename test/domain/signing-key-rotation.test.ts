// Instants alone determine which key signs, and which keys are published.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { calculateJwkThumbprint, exportJWK, importJWK, jwtVerify } from 'jose';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { Secret } from '../../src/domain/secret.ts';
import {
  isSignedBy,
  parseJwt,
  type SignatureAlgorithm,
  signWithKey,
  signWithSecret,
} from '../../src/domain/signing-key/json-web-token.ts';
import {
  createPublicKeyObject,
  createSigner,
  generateSigningKeys,
  hasPendingKeys,
  issuerUrl,
  jsonWebKeySet,
  type KeySet,
  keySetKey,
  keySetText,
  keysToKeep,
  MAX_AGE_SECONDS,
  newIssuerId,
  PUBLISHED_BEFORE_MS,
  parseKeySet,
  parsePrivateKeys,
  privateKeysText,
  publishedKeys,
  publishedUntil,
  type SigningKey,
  signingKeyAt,
  statusOfSigningKey,
  tenantOfIssuer,
} from '../../src/domain/signing-key/key-set.ts';

const HOUR_MS = 3_600_000;
const AFTER_MS = HOUR_MS + 5 * 60_000;
const key = (kid: string, algorithm: SignatureAlgorithm, signsFrom: number): SigningKey => ({
  kid,
  algorithm,
  signsFrom,
  jwk: { kty: 'EC' },
});
const first = key('first', 'ES256', 1_000);
const other = key('other', 'RS256', 1_500);
const second = key('second', 'ES256', 2_000);
const third = key('third', 'ES256', 9_000_000);
const keySet: KeySet = { issuerId: 'a', keys: [first, other, second, third] };

describe('the signing key', () => {
  it('is the last of its algorithm whose instant has come', () => {
    const at = (now: number) => signingKeyAt(keySet, 'ES256', now).kid;
    assert.deepEqual(
      [at(1_000), at(1_999), at(2_000), at(8_999_999), at(9_000_000)],
      ['first', 'first', 'second', 'second', 'third'],
    );
    assert.equal(signingKeyAt(keySet, 'RS256', 9_000_000).kid, 'other');
  });

  it('is the first one before its instant, for a clock that is behind', () => {
    assert.equal(signingKeyAt(keySet, 'ES256', 0).kid, 'first');
    assert.equal(signingKeyAt(keySet, 'RS256', 0).kid, 'other');
  });

  it('is published until its last token has expired, an hour and five minutes after the next one signs', () => {
    assert.equal(publishedUntil(first, keySet.keys), 2_000 + AFTER_MS);
    assert.equal(publishedUntil(second, keySet.keys), 9_000_000 + AFTER_MS);
    for (const last of [third, other]) assert.equal(publishedUntil(last, keySet.keys), null);
    const at = (now: number) => publishedKeys(keySet, now).map(({ kid }) => kid);
    assert.deepEqual(at(0), ['first', 'other', 'second', 'third']);
    assert.deepEqual(at(2_000 + AFTER_MS - 1), ['first', 'other', 'second', 'third']);
    assert.deepEqual(at(2_000 + AFTER_MS), ['other', 'second', 'third']);
    assert.deepEqual(at(9_000_000 + AFTER_MS), ['other', 'third']);
  });

  it('is pending before it signs and retiring afterwards', () => {
    assert.equal(statusOfSigningKey(second, keySet, 1_999), 'pending');
    assert.equal(statusOfSigningKey(second, keySet, 2_000), 'signing');
    assert.equal(statusOfSigningKey(second, keySet, 9_000_000), 'retiring');
    assert.equal(statusOfSigningKey(first, keySet, 2_000), 'retiring');
    assert.equal(statusOfSigningKey(first, keySet, 0), 'signing');
  });
});

describe('a rotation', () => {
  const waiting = (now: number) => hasPendingKeys(keySet, now);
  const kept = (now: number) => keysToKeep(keySet, now).map(({ kid, signsFrom }) => [kid, signsFrom]);

  it('returns keys that wait to sign, unless they would wait for more than twice the usual time', () => {
    const from = third.signsFrom - 2 * PUBLISHED_BEFORE_MS;
    assert.deepEqual(
      [waiting(from - 1), waiting(from), waiting(third.signsFrom - 1), waiting(third.signsFrom)],
      [false, true, true, false],
    );
  });

  it('keeps no key that would sign after the new ones', () => {
    assert.deepEqual(kept(3_000), [
      ['first', 1_000],
      ['other', 1_500],
      ['second', 2_000],
    ]);
    assert.deepEqual(kept(500), [
      ['first', 500],
      ['other', 500],
    ]);
  });
});

describe('a new key', () => {
  it('is published for longer than verifiers keep a key set before it signs', () => {
    assert.ok(PUBLISHED_BEFORE_MS > MAX_AGE_SECONDS * 1_000);
  });
});

describe('a stored key set', () => {
  it('is read in the order in which its keys sign', () => {
    const stored = { ...keySet, keys: [third, second, first, other] };
    assert.deepEqual(parseKeySet({ body: keySetText(stored) }), {
      ...keySet,
      keys: [first, other, second, third],
    });
  });

  it('is the only one of its workspace and environment', () => {
    assert.deepEqual(keySetKey({ workspaceId: 2, environment: 'Testing' }), {
      workspaceId: 2,
      environment: 'Testing',
      kind: 'key_set',
      id: 'default',
    });
  });
});

describe('the id of an issuer', () => {
  it('names its workspace and environment, and cannot be guessed', () => {
    for (const workspaceId of [0, 1, 77, 2 ** 51 - 1])
      for (const environment of ['Customer', 'Testing'] as const) {
        const tenant = { workspaceId, environment };
        const issuerId = newIssuerId(tenant);
        assert.match(issuerId, /^[0-9a-f]{25,37}$/);
        assert.deepEqual(tenantOfIssuer(issuerId), tenant);
        assert.notEqual(newIssuerId(tenant), issuerId);
      }
  });

  it('is no other text', () => {
    for (const text of [
      '',
      '0'.repeat(24),
      '0'.repeat(38),
      `${'0'.repeat(25)}g`,
      `x${'0'.repeat(25)}`,
      'A'.repeat(25),
    ])
      assert.equal(tenantOfIssuer(text), null, text);
  });

  it('is the end of its URL', () => {
    assert.equal(issuerUrl('https://groups.example.com/x', keySet), 'https://groups.example.com/x/issuers/a');
  });
});

describe('a token', async () => {
  const payload = '{"sub":"a","seats":9007199254740993}' as JsonText;
  const generated = await generateSigningKeys(0);
  const privateKeys = parsePrivateKeys(
    privateKeysText(Object.fromEntries(generated.map(({ kid, pkcs8 }) => [kid, pkcs8.reveal()]))),
  );

  it('is signed by a key of each algorithm, and jose verifies it with the published key', async () => {
    assert.deepEqual(
      generated.map(({ algorithm }) => algorithm),
      ['ES256', 'RS256'],
    );
    const published = JSON.parse(jsonWebKeySet(generated)).keys;
    for (const [index, each] of generated.entries()) {
      const token = await signWithKey(payload, createSigner(each, privateKeys));
      const { alg, use, kid, ...jwk } = published[index];
      assert.deepEqual([alg, use, kid], [each.algorithm, 'sig', await calculateJwkThumbprint(each.jwk)]);
      assert.equal('d' in jwk, false);
      const { protectedHeader } = await jwtVerify(token, await importJWK({ ...jwk, alg }));
      assert.deepEqual(protectedHeader, { alg, typ: 'JWT', kid });
      assert.equal(Buffer.from(token.split('.')[1]!, 'base64url').toString(), payload);
      assert.deepEqual(await exportJWK(createPublicKeyObject(each)), jwk);
    }
  });

  it('is verified only with the key and the algorithm that signed it', async () => {
    const [ec, rsa] = [generated[0]!, generated[1]!];
    const publicKey = createPublicKeyObject(ec);
    const parsed = parseJwt(await signWithKey(payload, createSigner(ec, privateKeys)))!;
    const anotherKey = createPublicKeyObject((await generateSigningKeys(0))[0]!);
    assert.deepEqual([parsed.kid, parsed.algorithm, parsed.payload.sub], [ec.kid, 'ES256', 'a']);
    assert.equal(isSignedBy(parsed, { algorithm: 'ES256', publicKey }), true);
    assert.equal(isSignedBy(parsed, { algorithm: 'RS256', publicKey }), false);
    assert.equal(isSignedBy(parsed, { algorithm: 'ES256', publicKey: anotherKey }), false);
    assert.equal(isSignedBy({ ...parsed, algorithm: 'RS256' }, { algorithm: 'ES256', publicKey }), false);
    assert.equal(
      isSignedBy({ ...parsed, input: `${parsed.input}A` }, { algorithm: 'ES256', publicKey }),
      false,
    );
    const byRsa = parseJwt(await signWithKey(payload, createSigner(rsa, privateKeys)))!;
    assert.equal(isSignedBy(byRsa, { algorithm: 'RS256', publicKey: createPublicKeyObject(rsa) }), true);
  });

  it('is signed with a secret by HS256', async () => {
    const secret = 'a secret of at least thirty-two bytes';
    const token = signWithSecret(payload, new Secret(secret));
    const { protectedHeader } = await jwtVerify(token, Buffer.from(secret));
    assert.deepEqual(protectedHeader, { alg: 'HS256', typ: 'JWT' });
    assert.equal(parseJwt(token), null);
  });

  it('is read only if it has a key id, a payload, and no critical extension', () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const header = { alg: 'ES256', kid: 'a' };
    const text = (head: unknown, body: unknown = {}) => `${encode(head)}.${encode(body)}.AAAA`;
    assert.deepEqual(parseJwt(text(header, { a: 1 }))?.payload, { a: 1 });
    for (const head of [
      null,
      1,
      {},
      { alg: 'ES256' },
      { kid: 'a' },
      { ...header, kid: 1 },
      { ...header, alg: 1 },
    ])
      assert.equal(parseJwt(text(head)), null, JSON.stringify(head));
    assert.equal(parseJwt(text({ ...header, crit: [] })), null);
    for (const body of [null, 1, 'a']) assert.equal(parseJwt(text(header, body)), null);
    for (const invalid of [
      '',
      'a',
      'a.b',
      'a.b.c',
      '..',
      `${text(header)}.AA`,
      `${text(header)}=`,
      ` ${text(header)}`,
    ])
      assert.equal(parseJwt(invalid), null, invalid);
    assert.equal(parseJwt(`${encode(header)}.${Buffer.from('{').toString('base64url')}.AAAA`), null);
  });
});
