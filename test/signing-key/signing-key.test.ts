// Contract: a verifier that honours max-age never meets a token whose key it cannot find, and old keys are
// removed.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { operator } from '../../src/domain/api-token.ts';
import { EnvironmentConfig } from '../../src/operations/document/environment-config.ts';
import { SignatureQueue } from '../../src/operations/machinery/signature-queue.ts';
import { ensureKeySet, rotateKeySet } from '../../src/operations/signing-key/key-set.ts';
import { ensureWorkspace } from '../../src/operations/workspace/workspace.ts';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import { EmbedSite, integrations } from '../support/embed-token/site.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Fetches the keys when its copy is older than `max-age`, and never because it does not know a key. */
class Verifier {
  #keys: ReturnType<typeof createLocalJWKSet> | null = null;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #maxAgeMs = 0;
  readonly #offsetMs: number;

  /** Shifts the times at which this verifier fetches. */
  constructor(offsetMs: number) {
    this.#offsetMs = offsetMs;
  }

  async verify(site: EmbedSite, token: string): Promise<void> {
    if (site.now - this.#fetchedAt >= this.#maxAgeMs) {
      const { headers, json } = await site.keySet();
      this.#maxAgeMs = Number(/^max-age=(\d+)$/.exec(headers['cache-control']!)![1]) * SECOND;
      this.#fetchedAt = this.#keys === null ? site.now - this.#offsetMs : site.now;
      this.#keys = createLocalJWKSet(json);
    }
    await jwtVerify(token, this.#keys!, { currentDate: new Date(site.now), audience: 'cube' });
  }
}

describeOnEachDatabase('The signing keys', (database) => {
  const site = EmbedSite.of(database);
  beforeEach(async () => {
    site.service.clockAheadMs += 3 * HOUR;
    await site.createGroup({ user_group_id: 'a', name: 'A', properties: { region: 'r' } });
  });

  const list = () => site.asAdmin('GET', '/v1/signing-keys');
  const rotate = (body?: object) => site.asAdmin('POST', '/v1/signing-keys/rotate', body);
  const mint = () => site.token('jwt', { user_group_id: 'a' });
  const statuses = ({ json }: TestResponse) =>
    json.signing_keys.map((key: { algorithm: string; status: string }) => `${key.algorithm} ${key.status}`);

  it('do not exist before the first integration that needs them, and then sign immediately', async () => {
    assert.deepEqual((await list()).json, { success: 1, issuer: null, jwks_url: null, signing_keys: [] });
    const { secret: _, ...superset } = integrations.superset;
    await site.create('metabase', integrations.metabase);
    assert.equal((await list()).json.issuer, null);
    const refused = await site.put('jwt', integrations.jwt, { 'if-match': '"1-1"' });
    assert.equal(refused.status, 412);
    assert.equal((await list()).json.issuer, null);
    await site.create('superset', { ...superset, settings: { ...superset.settings, algorithm: 'RS256' } });
    const first = await list();
    assert.deepEqual(statuses(first), ['ES256 signing', 'RS256 signing']);
    await site.create('jwt', integrations.jwt);
    assert.deepEqual((await list()).json, first.json);
    assert.equal(first.json.issuer, `${site.service.url}${new URL(first.json.issuer).pathname}`);
  });

  it('are found by a library that knows only the issuer of a token', async () => {
    await site.create('discovered', integrations.jwt);
    const token = await site.token('discovered', { user_group_id: 'a' });
    const { iss } = decodeJwt(token);
    const read = async (url: string) =>
      site.service.call('GET', url.slice(new URL(iss!).origin.length), undefined, { token: null });
    const { status, headers, json } = await read(`${iss}/.well-known/openid-configuration`);
    assert.deepEqual([status, headers['cache-control']], [200, 'max-age=300']);
    assert.deepEqual(Object.keys(json), ['issuer', 'jwks_uri', 'id_token_signing_alg_values_supported']);
    assert.equal(json.issuer, iss);
    const keys = createLocalJWKSet((await read(json.jwks_uri)).json);
    const options = {
      issuer: json.issuer,
      algorithms: json.id_token_signing_alg_values_supported,
      currentDate: new Date(site.now),
    };
    assert.equal((await jwtVerify(token, keys, options)).payload.sub, 'a');
    assertProblem(
      await site.service.call('GET', '/issuers/0/.well-known/openid-configuration', undefined, {
        token: null,
      }),
      'not_found',
    );
    await site.asAdmin('DELETE', '/v1/integrations/discovered');
  });

  it('are published with max-age and an ETag, without their private parts', async () => {
    const { status, headers, json, text } = await site.keySet();
    assert.equal(status, 200);
    assert.equal(headers['cache-control'], 'max-age=300');
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    const members = json.keys.map((key: object) => Object.keys(key).sort().join());
    assert.deepEqual(members, ['alg,crv,kid,kty,use,x,y', 'alg,e,kid,kty,n,use']);
    const [path] = /\/issuers\/.*/.exec((await list()).json.jwks_url)!;
    const read = (method: string, more: Record<string, string | undefined> = {}) =>
      site.service.call(method, path, undefined, { token: null, headers: more });
    const same = await read('GET', { 'if-none-match': headers.etag });
    assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', headers.etag]);
    assert.equal(same.headers['cache-control'], 'max-age=300');
    const head = await read('HEAD');
    assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', headers.etag]);
    assert.equal(head.headers['content-length'], String(Buffer.byteLength(text)));
    assertProblem(await read('POST'), 'method_not_allowed');
  });

  it('are sent whatever else a cache knows, and never instead of another document', async () => {
    const { pathname } = new URL((await list()).json.jwks_url);
    const read = (name: string, headers: Record<string, string | undefined> = {}) =>
      site.service.call('GET', pathname.replace('jwks.json', name), undefined, { token: null, headers });
    const { etag } = (await read('jwks.json')).headers;
    const date = new Date(site.now).toUTCString();
    for (const [name, value, status] of [
      ['if-none-match', `W/${etag}`, 304],
      ['if-none-match', `"1-1", ${etag}`, 304],
      ['if-none-match', '*', 304],
      ['if-none-match', '"1-1"', 200],
      ['if-none-match', etag!.slice(1, -1), 200],
      ['if-match', '"1-1"', 200],
      ['if-modified-since', date, 200],
      ['if-unmodified-since', date, 200],
      ['if-range', etag, 200],
    ] as const)
      assert.equal((await read('jwks.json', { [name]: value })).status, status, `${name}: ${value}`);
    const found = (await read('openid-configuration')).headers.etag;
    await rotate({ revoke: true });
    assert.equal((await read('jwks.json', { 'if-none-match': etag })).status, 200);
    const same = await read('openid-configuration', { 'if-none-match': found });
    assert.equal(same.status, 304, 'depends only on the address of the service');
  });

  it('are not found under another id', async () => {
    const [path] = /\/issuers\/.*/.exec((await list()).json.jwks_url)!;
    const id = path.split('/')[2]!;
    const last = id.at(-1) === '2' ? '4' : '2';
    for (const other of [
      id.slice(0, -1),
      id.slice(0, -1) + last,
      `0${id.slice(1)}`,
      `${id}0`,
      'x',
      'f'.repeat(37),
    ]) {
      if (other === id) continue;
      const response = await site.service.call('GET', path.replace(id, other), undefined, { token: null });
      assertProblem(response, 'not_found');
    }
  });

  it('are rotated without a moment at which a verifier that honours max-age lacks a key', async () => {
    const verifiers = Array.from({ length: 10 }, (_, index) => new Verifier(index * 30 * SECOND));
    const kids = new Set<string>();
    const check = async () => {
      const token = await mint();
      kids.add(decodeProtectedHeader(token).kid!);
      for (const verifier of verifiers) await verifier.verify(site, token);
      return token;
    };
    const step = async (ms: number, stepMs: number) => {
      for (let elapsed = 0; elapsed < ms; elapsed += stepMs) {
        site.service.clockAheadMs += stepMs;
        await check();
      }
    };
    await check();
    await step(10 * MINUTE, 50 * SECOND);
    await rotate();
    await step(20 * MINUTE, 20 * SECOND);
    assert.equal(kids.size, 2);
    await rotate();
    await step(10 * MINUTE, 40 * SECOND);
    assert.equal(kids.size, 3);
  });

  it('sign six minutes after their publication, and are removed when their last token has expired', async () => {
    await rotate();
    assert.deepEqual(statuses(await list()).toSorted(), [
      'ES256 pending',
      'ES256 signing',
      'RS256 pending',
      'RS256 signing',
    ]);
    const old = decodeProtectedHeader(await mint()).kid;
    site.service.clockAheadMs += 6 * MINUTE - 5 * SECOND;
    const ttl = { ...integrations.jwt, ttl_seconds: 3_600 };
    await site.put('jwt', ttl);
    const last = await mint();
    assert.equal(decodeProtectedHeader(last).kid, old);
    const { etag } = (await site.keySet()).headers;
    site.service.clockAheadMs += 6 * SECOND;
    assert.notEqual(decodeProtectedHeader(await mint()).kid, old);
    site.service.clockAheadMs += HOUR - 20 * SECOND;
    await new Verifier(0).verify(site, last);
    assert.equal((await site.service.resolve(last)).status, 200);
    assert.deepEqual(statuses(await list()).toSorted(), [
      'ES256 retiring',
      'ES256 signing',
      'RS256 retiring',
      'RS256 signing',
    ]);
    site.service.clockAheadMs += 6 * MINUTE;
    assert.deepEqual(statuses(await list()), ['ES256 signing', 'RS256 signing']);
    assert.notEqual((await site.keySet()).headers.etag, etag);
    await site.create('jwt', integrations.jwt);
  });

  it('are not rotated again while new ones wait: the call can be repeated', async () => {
    const first = await rotate();
    assert.equal(first.status, 200);
    const again = await Promise.all(Array.from({ length: 5 }, () => rotate({})));
    for (const { json } of again) assert.deepEqual(json, first.json);
  });

  it('are rotated in six minutes when a clock that was ahead is corrected, and never by its date again', async () => {
    const { token } = await site.service.apiToken({ permission: 'admin', environment: 'Testing' });
    const call = (method: string, path: string, body?: object) =>
      served(() => site.service.call(method, path, body, { token }));
    const kid = async () => {
      const body = { integration: 'jwt', user_group_id: 'a' };
      return decodeProtectedHeader((await call('POST', '/v1/embed-tokens', body)).json.embed_token.token).kid;
    };
    const rotateAt = async (aheadMs: number) => {
      site.service.clockAheadMs = aheadMs;
      return (await call('POST', '/v1/signing-keys/rotate')).json.signing_keys;
    };
    const now = site.service.clockAheadMs;
    site.service.clockAheadMs = now + 24 * HOUR;
    await call('PUT', '/v1/integrations/jwt', integrations.jwt);
    site.service.clockAheadMs = now;
    await call('POST', '/v1/user-groups', { user_group_id: 'a', name: 'A', properties: { region: 'r' } });
    const first = await kid();
    assert.equal((await rotateAt(now + 48 * HOUR)).length, 4);
    const keys = await rotateAt(now);
    assert.deepEqual(
      keys.map(({ status }: { status: string }) => status),
      ['signing', 'signing', 'pending', 'pending'],
    );
    assert.deepEqual(await rotateAt(now - 5 * MINUTE), keys);
    assert.equal(await kid(), first);
    site.service.clockAheadMs = now + 7 * MINUTE;
    const second = await kid();
    assert.notEqual(second, first);
    site.service.clockAheadMs = now + 72 * HOUR;
    assert.equal(await kid(), second);
    site.service.clockAheadMs = now;
  });

  it('are replaced immediately if they are revoked', async () => {
    await rotate();
    const old = await mint();
    const revoked = await rotate({ revoke: true });
    assert.deepEqual(statuses(revoked), ['ES256 signing', 'RS256 signing']);
    const kids = (await site.keySet()).json.keys.map(({ kid }: { kid: string }) => kid);
    assert.equal(kids.includes(decodeProtectedHeader(old).kid), false);
    assert.ok(kids.includes(decodeProtectedHeader(await mint()).kid));
    await assert.rejects(new Verifier(0).verify(site, old), /no applicable key/);
  });

  it('are generated in turns of the tenants, like slow signatures', async () => {
    const tenants: number[] = [];
    class Recorder extends SignatureQueue {
      override run<Signed>(tenant: number, sign: () => Promise<Signed>): Promise<Signed> {
        tenants.push(tenant);
        return super.run(tenant, sign);
      }
    }
    const context = { ...site.service.app.context, signatures: new Recorder() };
    await rotateKeySet(context, operator({ workspaceId: 1, environment: 'Customer' }), { revoke: true });
    assert.deepEqual(tenants, [1]);
  });

  it('are not generated again for each call that waits for the first', async () => {
    let generated = 0;
    class Recorder extends SignatureQueue {
      override run<Signed>(tenant: number, sign: () => Promise<Signed>): Promise<Signed> {
        return super.run(tenant, async () => {
          const keys = await sign();
          if (keys !== null) generated++;
          return keys;
        });
      }
    }
    const { context } = site.service.app;
    const { workspaceId } = (await ensureWorkspace(context.store, 'eager', context.clock())).workspace;
    const creation = { ...context, signatures: new Recorder(1) };
    const caller = operator({ workspaceId, environment: 'Customer' });
    await Promise.allSettled(Array.from({ length: 200 }, () => ensureKeySet(creation, caller)));
    // The keys of the first call may not be stored yet when the next ones have their turn.
    assert.ok(generated >= 1 && generated <= 3, `${generated} times`);
  });

  it('keep their issuer', async () => {
    const { issuer } = (await list()).json;
    await rotate({ revoke: true });
    assert.equal((await list()).json.issuer, issuer);
  });

  it('are recorded as events without a private part, and encrypted at rest', async () => {
    const { store } = site.service.app.context;
    const tenant = { workspaceId: 1, environment: 'Customer' } as const;
    const events = await site.service.eventsAbout({ type: 'key_set', id: 'default' });
    assert.equal(events[0]!.type, 'key_set.created');
    assert.ok(events.slice(1).every(({ type }) => type === 'key_set.rotated') && events.length > 3);
    const { documents } = await EnvironmentConfig.read(store, tenant);
    const { body, secret } = documents.find(({ kind }) => kind === 'key_set')!;
    for (const text of [JSON.stringify(events), body, secret!.ciphertext]) {
      assert.doesNotMatch(text, /"(d|p|q|dp|dq|qi|pkcs8)"|PRIVATE/);
    }
    assert.match(secret!.keyId, /^[0-9a-f]{8}$/);
  });
});

describe('Two processes on one PostgreSQL database', () => {
  const env = { UGS_PUBLIC_URL: 'https://groups.example.com' };
  const stack = suiteStack();
  let first: EmbedSite;
  let second: TestService;
  before(async () => {
    first = stack.use(await EmbedSite.start(postgres, { env }));
    second = await TestService.start(postgres, { database: first.service.database, env });
    stack.defer(() => second.stop());
    await first.createGroup({ user_group_id: 'a', name: 'A', properties: { region: 'r' } });
  });

  const on = (service: TestService, method: string, path: string, body?: unknown) =>
    served(() => service.call(method, path, body, { token: first.admin }));

  it('create one key set, sign with the same key and rotate together', async () => {
    const puts = [0, 1, 2, 3].map((index) =>
      on(index % 2 === 0 ? first.service : second, 'PUT', `/v1/integrations/jwt-${index}`, integrations.jwt),
    );
    assert.deepEqual(
      (await Promise.all(puts)).map(({ status }) => status),
      [201, 201, 201, 201],
    );
    const kidOf = async (service: TestService) => {
      const minted = await on(service, 'POST', '/v1/embed-tokens', {
        integration: 'jwt-0',
        user_group_id: 'a',
      });
      const { token } = minted.json.embed_token;
      for (const each of [first.service, second]) assert.equal((await each.resolve(token)).status, 200);
      return decodeProtectedHeader(token).kid;
    };
    const kids = [await kidOf(first.service), await kidOf(second)];
    assert.equal(kids[0], kids[1]);
    const rotated = await Promise.all(
      [first.service, second].map((each) => on(each, 'POST', '/v1/signing-keys/rotate')),
    );
    assert.deepEqual(rotated[0]!.json, rotated[1]!.json);
    assert.deepEqual([await kidOf(first.service), await kidOf(second)], kids);
    first.service.clockAheadMs = second.clockAheadMs = 6 * MINUTE + SECOND;
    const later = [await kidOf(first.service), await kidOf(second)];
    assert.equal(later[0], later[1]);
    assert.notEqual(later[0], kids[0]);
  });
});
