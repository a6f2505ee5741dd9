// Contract: /v1/api-tokens creates, lists, reads, rotates and revokes the API tokens of the caller's
// workspace and environment.

import assert from 'node:assert/strict';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { permissions } from '../../src/domain/api-token.ts';
import { limits } from '../../src/domain/field.ts';
import { copyApiToken } from '../support/api-token.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { mapConcurrently, type TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const HOUR_MS = 3_600_000;
const UNKNOWN = 999_999_999;
const EMPTY_BODY = { name: 'reader', permission: 'read-only' };

interface Issued {
  id: number;
  token: string;
}

describeOnEachDatabase('/v1/api-tokens', (database) => {
  // The default grace period of user group tokens does not apply to API tokens.
  const service = TestService.of(database, { env: { UGS_DEFAULT_GRACE_PERIOD_SECONDS: '600' } });
  let admin: Issued;
  let start: number;
  before(async () => {
    start = Date.now();
    admin = await service.apiToken({ permission: 'admin', name: 'admin' });
  });
  afterEach(() => {
    service.clockAheadMs = 0;
  });

  const call = (method: string, path: string, body?: unknown, token = admin.token) =>
    service.call(method, `/v1/api-tokens${path}`, body, { token });
  const create = async (body: object = EMPTY_BODY, token = admin.token): Promise<Issued> => {
    const { status, json } = await call('POST', '', body, token);
    assert.equal(status, 201);
    return { id: json.api_token.api_token_id, token: json.api_token.token };
  };
  const rotate = (id: number, seconds?: number) =>
    call('POST', `/${id}/rotate`, seconds === undefined ? undefined : { grace_period_seconds: seconds });
  const read = async (id: number) => (await call('GET', `/${id}`)).json.api_token;
  /** Sends a request that every permission but `embed` allows: 404 if the API token is accepted. */
  const use = async (token: string) =>
    (await service.resolve('ugt_unknown', { token })).status === 404 ? 'accepted' : 'rejected';

  describe('GET /v1/whoami', () => {
    it('tells every API token what it may do, and where, without its text', async () => {
      for (const permission of permissions) {
        const { id, token } = await service.apiToken({
          permission,
          name: `as ${permission}`,
          workspaceName: 'w',
        });
        const { status, json, text } = await service.call('GET', '/v1/whoami', undefined, { token });
        assert.equal(status, 200);
        const { workspace, api_token } = json;
        assert.deepEqual(
          [workspace, api_token.api_token_id, api_token.name, api_token.permission, api_token.environment],
          ['w', id, `as ${permission}`, permission, 'Customer'],
        );
        assert.equal(api_token.status, 'active');
        assert.equal(text.includes(token), false);
      }
    });

    it('does not wait for lists', async () => {
      const { store } = service.app.context;
      const list = () => store.forTenant(1).read({ kind: 'listWorkspaces', after: null, limit: 1 });
      const lists = Array.from({ length: 500 }, list);
      assert.equal((await service.call('GET', '/v1/whoami')).status, 200);
      assert.ok(store.queueLengths.list > 0);
      await Promise.all(lists);
    });

    it('tells nothing to a revoked one', async () => {
      const { id, token } = await service.apiToken({ permission: 'resolve' });
      await call('DELETE', `/${id}`);
      assertProblem(await service.call('GET', '/v1/whoami', undefined, { token }), 'unauthenticated');
    });
  });

  describe('POST', () => {
    it('returns 201 with the text, which authenticates with the permission', async () => {
      const response = await call('POST', '', { name: 'wall \u{1f642}', permission: 'resolve' });
      assert.equal(response.status, 201);
      const { api_token_id: id, token, created_at: createdAt, ...rest } = response.json.api_token;
      assert.ok(Number.isSafeInteger(id));
      assert.match(token, /^uga_[0-9A-Za-z]{49}$/);
      assert.ok(Date.parse(createdAt) >= start);
      assert.deepEqual(rest, {
        name: 'wall \u{1f642}',
        permission: 'resolve',
        environment: 'Customer',
        status: 'active',
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
        previous_token_expires_at: null,
      });
      assert.equal(await use(token), 'accepted');
      assert.equal((await service.get({ user_group_id: 'a' }, { token })).status, 403);
    });

    it('creates tokens of every permission', async () => {
      for (const permission of permissions) {
        const { id } = await create({ name: permission, permission });
        assert.equal((await read(id)).permission, permission);
      }
    });

    it('creates tokens that expire at the exact millisecond', async () => {
      using clock = service.stopClock();
      const { now } = clock;
      const { id, token } = await create({ ...EMPTY_BODY, expires_in_seconds: 60 });
      assert.equal((await read(id)).expires_at, new Date(now + 60_000).toISOString());
      service.clockAheadMs = 59_999;
      assert.equal(await use(token), 'accepted');
      service.clockAheadMs = 60_000;
      assert.equal(await use(token), 'rejected');
      assert.equal((await read(id)).status, 'expired');
    });

    it('accepts values at their limits', async () => {
      const name = '\u{1f642}'.repeat(limits.textCodePoints);
      const { id } = await create({
        name,
        permission: 'resolve',
        expires_in_seconds: limits.apiTokenSeconds,
      });
      const { expires_at: expiresAt, created_at: createdAt, ...stored } = await read(id);
      assert.equal(stored.name, name);
      const lifetimeMs = Date.parse(expiresAt) - Date.parse(createdAt);
      assert.ok(Math.abs(lifetimeMs - limits.apiTokenSeconds * 1_000) < 1_000);
      assert.equal((await call('POST', '', { ...EMPTY_BODY, expires_in_seconds: 1 })).status, 201);
    });

    const invalid: Record<string, [body: unknown, pointer: string | null, code?: string]> = {
      'no name': [{ permission: 'resolve' }, '/name'],
      'an empty name': [{ ...EMPTY_BODY, name: '' }, '/name'],
      'a blank name': [{ ...EMPTY_BODY, name: ' ' }, '/name'],
      'a name with a control character': [{ ...EMPTY_BODY, name: 'a\nb' }, '/name'],
      'a name that is too long': [{ ...EMPTY_BODY, name: 'x'.repeat(256) }, '/name'],
      'no permission': [{ name: 'a' }, '/permission'],
      'an unknown permission': [{ name: 'a', permission: 'owner' }, '/permission'],
      'a permission in upper case': [{ name: 'a', permission: 'ADMIN' }, '/permission'],
      'no lifetime': [{ ...EMPTY_BODY, expires_in_seconds: 0 }, '/expires_in_seconds'],
      'part of a second': [{ ...EMPTY_BODY, expires_in_seconds: 1.5 }, '/expires_in_seconds'],
      'a lifetime of null': [{ ...EMPTY_BODY, expires_in_seconds: null }, '/expires_in_seconds'],
      'a lifetime that is too long': [
        { ...EMPTY_BODY, expires_in_seconds: limits.apiTokenSeconds + 1 },
        '/expires_in_seconds',
      ],
      'an environment': [{ ...EMPTY_BODY, environment: 'Testing' }, '/environment', 'unknown_field'],
      'a text': [{ ...EMPTY_BODY, token: 'mine' }, '/token', 'unknown_field'],
      'no body': [undefined, null, 'body_missing'],
    };
    for (const [what, [body, pointer, code = 'invalid_request']] of Object.entries(invalid)) {
      it(`returns 400 and creates nothing: ${what}`, async () => {
        const count = async () => (await runSql(service.database, 'select 1 from api_tokens')).length;
        const before = await count();
        const { status, json } = await call('POST', '', body);
        assert.deepEqual([status, json.code, json.errors?.[0].pointer ?? null], [400, code, pointer]);
        assert.equal(await count(), before);
      });
    }

    it('names the permissions if the permission is unknown', async () => {
      const { json } = await call('POST', '', { name: 'a', permission: 'owner' });
      assert.equal(json.detail, `permission must be one of ${permissions.join(', ')}.`);
    });

    it(`creates at most ${limits.activeApiTokens} active tokens per workspace and environment, even concurrently`, async () => {
      const full = await service.apiToken({ permission: 'admin', workspaceName: 'full' });
      await copyApiToken(service.database, full.id, limits.activeApiTokens - 4);
      const responses = await mapConcurrently(Array.from({ length: 8 }), () =>
        call('POST', '', EMPTY_BODY, full.token),
      );
      const created = responses.filter(({ status }) => status === 201);
      assert.equal(created.length, 3);
      for (const response of responses.filter(({ status }) => status !== 201))
        assertProblem(response, 'limit_reached');
      // Neither expired nor revoked tokens count, nor those of another environment.
      const [one, two] = created.map(({ json }) => json.api_token.api_token_id);
      await call('DELETE', `/${one}`, undefined, full.token);
      await runSql(
        service.database,
        `update api_tokens set expires_at = ${start} where api_token_id = ${two}`,
      );
      await create(EMPTY_BODY, full.token);
      await create(EMPTY_BODY, full.token);
      assertProblem(await call('POST', '', EMPTY_BODY, full.token), 'limit_reached');
      const testing = { permission: 'admin', workspaceName: 'full', environment: 'Testing' } as const;
      await create(EMPTY_BODY, (await service.apiToken(testing)).token);
    });
  });

  describe('GET', () => {
    it('lists every token of the workspace and environment once, page by page in the order of their ids', async () => {
      const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'listed' });
      const ids: number[] = [];
      while (ids.length < 7)
        ids.push((await create({ name: `n${ids.length}`, permission: 'resolve' }, token)).id);
      await call('DELETE', `/${ids[2]}`, undefined, token);
      const seen: { api_token_id: number; status: string }[] = [];
      let cursor: string | null = null;
      let pages = 0;
      do {
        const { json }: TestResponse = await call(
          'GET',
          `?limit=3${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
          undefined,
          token,
        );
        seen.push(...json.api_tokens);
        cursor = json.next_cursor;
        pages++;
      } while (cursor !== null);
      assert.equal(pages, 3);
      assert.deepEqual(
        seen.slice(1).map(({ api_token_id: id }) => id),
        ids,
      );
      assert.deepEqual(
        seen.map(({ status }) => status),
        ['active', 'active', 'active', 'revoked', 'active', 'active', 'active', 'active'],
      );
      const [, second] = seen;
      assert.deepEqual((await call('GET', `/${ids[0]}`, undefined, token)).json.api_token, second);
    });

    it('has 50 tokens on a page by default, and ends exactly at the limit', async () => {
      const { id, token } = await service.apiToken({ permission: 'admin', workspaceName: 'many' });
      await copyApiToken(service.database, id, 50);
      const { json } = await call('GET', '', undefined, token);
      assert.equal(json.api_tokens.length, 50);
      assert.notEqual(json.next_cursor, null);
      const all = (await call('GET', '?limit=51', undefined, token)).json;
      assert.deepEqual([all.api_tokens.length, all.next_cursor], [51, null]);
    });

    it('rejects invalid parameters, and cursors of other lists', async () => {
      const other = await service.apiToken({ permission: 'admin', workspaceName: 'other list' });
      await create(EMPTY_BODY, other.token);
      const foreign = (await call('GET', '?limit=1', undefined, other.token)).json.next_cursor;
      const own: string = (await call('GET', '?limit=1')).json.next_cursor;
      await service.get({ user_group_id: 'a', name: 'A' });
      await service.get({ user_group_id: 'b', name: 'B' });
      const groups = (await service.call('GET', '/v1/user-groups?limit=1')).json.next_cursor;
      for (const cursor of [foreign, groups, `${own}A`, own.slice(1), 'x'])
        assertProblem(await call('GET', `?cursor=${encodeURIComponent(cursor)}`), 'invalid_request');
      for (const query of [
        '?limit=0',
        '?limit=1001',
        '?limit=a',
        '?cursor=',
        '?search=a',
        '?limit=1&limit=2',
      ])
        assertProblem(await call('GET', query), 'invalid_request');
      assert.equal((await call('GET', `?cursor=${encodeURIComponent(own)}`)).status, 200);
    });

    it('rejects ids that are not numbers, without showing them', async () => {
      for (const id of ['abc', '0', '-1', '1.5', '01', '9007199254740992', admin.token, '%00']) {
        const response = await call('GET', `/${id}`);
        assertProblem(response, 'invalid_request');
        assert.equal(response.text.includes(admin.token), false);
      }
    });
  });

  describe('DELETE', () => {
    it('revokes: rejected from the next request on, and listed as revoked', async () => {
      const { id, token } = await create();
      const response = await call('DELETE', `/${id}`);
      assert.deepEqual([response.status, response.text], [204, '']);
      assert.equal(await use(token), 'rejected');
      const { status, revoked_at: revokedAt } = await read(id);
      assert.equal(status, 'revoked');
      assert.ok(Date.parse(revokedAt) >= start);
    });

    it('is idempotent, and keeps the time of the first revocation', async () => {
      const { id } = await create();
      await call('DELETE', `/${id}`);
      const first = await read(id);
      service.clockAheadMs = HOUR_MS;
      assert.equal((await call('DELETE', `/${id}`)).status, 204);
      assert.deepEqual(await read(id), first);
    });

    it('revokes a replaced text in its grace period too', async () => {
      const { id, token } = await create();
      const { token: next } = (await rotate(id, 60)).json.api_token;
      await call('DELETE', `/${id}`);
      assert.deepEqual([await use(token), await use(next)], ['rejected', 'rejected']);
      assert.equal((await read(id)).previous_token_expires_at, null);
    });

    it('lets a caller revoke its own token', async () => {
      const { id, token } = await create({ name: 'me', permission: 'admin' });
      assert.equal((await call('DELETE', `/${id}`, undefined, token)).status, 204);
      assertProblem(await call('GET', '', undefined, token), 'unauthenticated');
    });

    it('does not revive a token if the clock is set back', async () => {
      const { id, token } = await create();
      await call('DELETE', `/${id}`);
      service.clockAheadMs = -HOUR_MS;
      assert.equal(await use(token), 'rejected');
    });
  });

  describe('POST …/rotate', () => {
    it('replaces the text immediately, and keeps everything else', async () => {
      const { id, token } = await create({ ...EMPTY_BODY, expires_in_seconds: 600 });
      const before = await read(id);
      const response = await rotate(id);
      assert.equal(response.status, 200);
      const { token: next, ...rest } = response.json.api_token;
      assert.match(next, /^uga_[0-9A-Za-z]{49}$/);
      assert.deepEqual(rest, before);
      assert.deepEqual([await use(token), await use(next)], ['rejected', 'accepted']);
    });

    it('keeps the replaced text for the grace period, to the exact millisecond', async () => {
      using clock = service.stopClock();
      const { now } = clock;
      const { id, token } = await create();
      const { token: next, previous_token_expires_at: until } = (await rotate(id, 3_600)).json.api_token;
      assert.equal(until, new Date(now + HOUR_MS).toISOString());
      assert.equal((await read(id)).previous_token_expires_at, until);
      service.clockAheadMs = HOUR_MS - 1;
      assert.deepEqual([await use(token), await use(next)], ['accepted', 'accepted']);
      service.clockAheadMs = HOUR_MS;
      assert.deepEqual([await use(token), await use(next)], ['rejected', 'accepted']);
      assert.equal((await read(id)).previous_token_expires_at, null);
    });

    it('ends the grace period of an earlier rotation', async () => {
      const { id, token } = await create();
      const second = (await rotate(id, 600)).json.api_token.token;
      const third = (await rotate(id, 600)).json.api_token.token;
      assert.deepEqual(await Promise.all([token, second, third].map(use)), [
        'rejected',
        'accepted',
        'accepted',
      ]);
      await rotate(id, 0);
      assert.deepEqual(await Promise.all([second, third].map(use)), ['rejected', 'rejected']);
      // A clock that is set back revives no text.
      service.clockAheadMs = -HOUR_MS;
      assert.equal(await use(third), 'rejected');
    });

    it('grants no grace period beyond the expiry of the token', async () => {
      const { id, token } = await create({ ...EMPTY_BODY, expires_in_seconds: 60 });
      const { expires_at: end, previous_token_expires_at: until } = (await rotate(id, 3_600)).json.api_token;
      assert.equal(until, end);
      service.clockAheadMs = 61_000;
      assert.equal(await use(token), 'rejected');
    });

    it('lets a caller rotate its own token, even with the replaced text in its grace period', async () => {
      const { id, token } = await create({ name: 'me', permission: 'admin' });
      const path = `/${id}/rotate`;
      const second = (await call('POST', path, { grace_period_seconds: 60 }, token)).json.api_token.token;
      const third = (await call('POST', path, {}, token)).json.api_token.token;
      assert.deepEqual(await Promise.all([token, second, third].map(use)), [
        'rejected',
        'rejected',
        'accepted',
      ]);
    });

    it('rotates once for each of many concurrent calls; the last text is the valid one', async () => {
      const { id } = await create();
      const responses = await mapConcurrently(Array.from({ length: 8 }), () => rotate(id));
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
      const tokens: string[] = responses.map(({ json }) => json.api_token.token);
      assert.equal(new Set(tokens).size, 8);
      const accepted = (await Promise.all(tokens.map(use))).filter((result) => result === 'accepted');
      assert.equal(accepted.length, 1);
    });

    it('does not rotate a revoked or expired token', async () => {
      const revoked = await create();
      await call('DELETE', `/${revoked.id}`);
      assertProblem(await rotate(revoked.id), 'api_token_inactive');
      const expiring = await create({ ...EMPTY_BODY, expires_in_seconds: 1 });
      service.clockAheadMs = 1_001;
      const response = await rotate(expiring.id, 60);
      assertProblem(response, 'api_token_inactive');
      assert.match(response.json.detail, /expired/);
      service.clockAheadMs = 0;
      assert.equal(await use(revoked.token), 'rejected');
    });

    it('accepts grace periods up to the limit', async () => {
      const { id } = await create();
      assert.equal((await rotate(id, limits.gracePeriodSeconds)).status, 200);
      for (const seconds of [-1, 1.5, limits.gracePeriodSeconds + 1])
        assertProblem(await rotate(id, seconds), 'invalid_request');
    });
  });

  describe('only for the caller', () => {
    it('hides tokens of other workspaces and environments like unknown ones', async () => {
      const others = [
        await service.apiToken({ permission: 'admin', workspaceName: 'elsewhere' }),
        await service.apiToken({ permission: 'admin', environment: 'Testing' }),
      ];
      for (const { id, token } of others) {
        const paths: [method: string, path: (id: number) => string][] = [
          ['GET', (of) => `/${of}`],
          ['DELETE', (of) => `/${of}`],
          ['POST', (of) => `/${of}/rotate`],
        ];
        for (const [method, path] of paths) {
          const foreign = await call(method, path(id));
          const unknown = await call(method, path(UNKNOWN));
          assertProblem(foreign, 'api_token_not_found');
          const { request_id: _, ...expected } = unknown.json;
          const { request_id: __, ...actual } = foreign.json;
          assert.deepEqual(actual, expected);
        }
        assert.equal(await use(token), 'accepted');
        const { json } = await call('GET', '?limit=1000');
        assert.ok(!json.api_tokens.some((each: { api_token_id: number }) => each.api_token_id === id));
        const own = await call('GET', '', undefined, token);
        assert.deepEqual(
          own.json.api_tokens.map((each: { api_token_id: number }) => each.api_token_id).includes(id),
          true,
        );
        assert.ok(
          !own.json.api_tokens.some((each: { api_token_id: number }) => each.api_token_id === admin.id),
        );
      }
    });

    it('refuses preconditions, which it cannot honour', async () => {
      const headers = { 'if-match': '"1-1"' };
      const requests: [method: string, path: string, body?: unknown][] = [
        ['POST', '', EMPTY_BODY],
        ['GET', ''],
        ['GET', `/${admin.id}`],
        ['DELETE', `/${admin.id}`],
        ['POST', `/${admin.id}/rotate`],
      ];
      for (const [method, path, body] of requests) {
        const options = { token: admin.token, headers };
        const response = await service.call(method, `/v1/api-tokens${path}`, body, options);
        assertProblem(response, 'invalid_request');
        assert.equal(response.headers.etag, undefined);
      }
      assert.equal((await read(admin.id)).status, 'active');
    });
  });

  it('shows the text nowhere but in the response that issues it', async () => {
    const { id, token } = await create({ name: 'secret', permission: 'read-write' });
    const next: string = (await rotate(id, 600)).json.api_token.token;
    await use(token);
    await service.writeUsage();
    const part = (text: string) => text.slice(6, 40);
    const responses = [
      await call('GET', '?limit=1000'),
      await call('GET', `/${id}`),
      await call('DELETE', `/${id}`),
    ];
    const shown = [
      ...responses.map(({ text, headers }) => text + JSON.stringify(headers)),
      ...service.logLines,
      JSON.stringify(await runSql(service.database, 'select * from events')),
      JSON.stringify(await runSql(service.database, 'select * from api_tokens')),
    ].join('\n');
    for (const text of [token, next]) assert.equal(shown.includes(part(text)), false);
  });

  it('records who created, rotated and revoked a token, once each', async () => {
    const { id } = await create({ name: 'audited', permission: 'resolve', expires_in_seconds: 60 });
    const { expires_at: expiresAt } = await read(id);
    await rotate(id);
    await call('DELETE', `/${id}`);
    await call('DELETE', `/${id}`);
    await rotate(id);
    const events = await service.eventsAbout({ type: 'api_token', id: String(id) });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['api_token.created', 'api_token.rotated', 'api_token.revoked'],
    );
    for (const { actor, requestId } of events) {
      assert.deepEqual(actor, { type: 'api_token', id: admin.id, name: 'admin', via: 'api' });
      assert.match(String(requestId), /^[\w-]{8,}$/);
    }
    assert.deepEqual(JSON.parse(events[0]!.changes!), {
      from: null,
      to: { name: 'audited', permission: 'resolve', expires_at: expiresAt },
    });
    assert.deepEqual([events[1]!.changes, events[2]!.changes], [null, null]);
  });

  describe('last_used_at', () => {
    /** How far ahead half past the next hour is, so that no test runs across a full hour. */
    let halfPastMs = 0;
    const setHour = (hours: number) => {
      service.clockAheadMs = halfPastMs + hours * HOUR_MS;
    };
    const hourAt = (hours: number) => {
      const now = Date.now() + halfPastMs + hours * HOUR_MS;
      return new Date(now - (now % HOUR_MS)).toISOString();
    };
    beforeEach(() => {
      halfPastMs = HOUR_MS - (Date.now() % HOUR_MS) + HOUR_MS / 2;
      setHour(0);
    });
    const lastUsed = async (id: number) => (await read(id)).last_used_at;

    it('is the hour of the last use, written on shutdown at the latest', async () => {
      const { id, token } = await create();
      assert.equal(await lastUsed(id), null);
      const hour = hourAt(0);
      await use(token);
      await service.restart();
      assert.equal(await lastUsed(id), hour);
    });

    it('counts uses of a replaced text, and of requests without permission, but not rejected ones', async () => {
      const { id, token } = await create();
      await rotate(id, 600);
      assert.equal((await call('GET', '', undefined, token)).status, 403);
      const dead = await create();
      await call('DELETE', `/${dead.id}`);
      await use(dead.token);
      await service.writeUsage();
      assert.equal(await lastUsed(id), hourAt(0));
      assert.equal(await lastUsed(dead.id), null);
    });

    it('moves to each later hour, and never back', async () => {
      const { id, token } = await create();
      for (const hours of [1, 3]) {
        setHour(hours);
        await use(token);
        await service.writeUsage();
        assert.equal(await lastUsed(id), hourAt(hours));
      }
      const latest = hourAt(3);
      setHour(2);
      await use(token);
      await service.restart();
      setHour(0);
      await use(token);
      await service.writeUsage();
      assert.equal(await lastUsed(id), latest);
      // Simulates a process with a slow clock that collected the use before the later one was written.
      const { store } = service.app.context;
      await store.write({ kind: 'markApiTokensUsed', apiTokenIds: [id], at: Date.parse(hourAt(0)) });
      assert.equal(await lastUsed(id), latest);
    });

    it('is written under the hour in which it was collected', async () => {
      const { id, token } = await create();
      const other = await create();
      const hour = hourAt(0);
      await use(token);
      setHour(1);
      await use(other.token);
      await service.writeUsage();
      setHour(0);
      assert.equal(await lastUsed(id), hour);
      assert.equal(await lastUsed(other.id), hourAt(1));
    });
  });
});
