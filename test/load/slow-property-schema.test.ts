// Property schemas that take too long to check: most are refused when they are stored, and the others only
// cost their own tenant.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

describeOnEachDatabase('A property schema', (database) => {
  const service = TestService.of(database);
  let admin: { token: string };
  before(async () => {
    admin = await service.apiToken({ permission: 'admin' });
  });

  const path = '/v1/property-schema';
  const put = (schema: unknown, mode = 'enforce') =>
    service.call('PUT', path, { schema, mode }, { token: admin.token });
  const create = (id: string, properties?: unknown) =>
    service.get({ user_group_id: id, name: id, ...(properties !== undefined && { properties }) });

  /** Each definition refers twice to the one before. */
  const doubling: Record<string, unknown> = { 0: true };
  for (let level = 1; level < 40; level++) {
    const $ref = `#/$defs/${level - 1}`;
    doubling[level] = { allOf: [{ $ref }, { $ref }] };
  }

  const slow = { $ref: '#/$defs/39' };
  /** Schema that is slow only below names that examples do not guess. */
  const hidden = { $defs: doubling, patternProperties: { '^[q-z]{3}[0-4]$': slow } };

  const slowEverywhere: Record<string, unknown> = {
    'the properties': slow,
    'a member': { properties: { a: slow } },
    'a member of a member': { properties: { a: { required: ['c'], properties: { b: slow } } } },
    'an item': { properties: { a: { type: 'array', items: slow } } },
    'a first item': { properties: { a: { prefixItems: [true, slow] } } },
    'an item that must be contained': { properties: { a: { contains: slow } } },
    'any other member': { additionalProperties: slow },
    'a member whose name matches a pattern': { patternProperties: { '^region_': slow } },
    'a branch': { anyOf: [{ allOf: [{ oneOf: [{ properties: { a: slow } }] }] }] },
    'a condition': { if: { required: ['c'] }, else: { properties: { a: slow } } },
    'a member that another one requires': { dependentSchemas: { a: { properties: { b: slow } } } },
    'a referenced member': { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { items: slow } } },
  };
  // One step, in which the thread cannot stop.
  slowEverywhere['a text'] = { additionalProperties: { pattern: '(?:a?){1000}a{1000}' } };
  for (const [what, schema] of Object.entries(slowEverywhere)) {
    it(`that takes exponential time to check ${what} is refused, and delays no other request`, async () => {
      const $defs = { ...doubling, ...((schema as { $defs?: object }).$defs ?? {}) };
      const [refused, delay] = await Promise.all([put({ ...(schema as object), $defs }), healthDelay()]);
      assertProblem(refused, 'invalid_request');
      assert.deepEqual(refused.json.errors, [{ pointer: '/schema', detail: 'takes too long to check' }]);
      assert.ok(delay < 750, `${delay} ms`);
    });
  }

  it('that is large and ordinary is accepted', async () => {
    const member = { type: 'array', uniqueItems: true, items: { type: 'string', pattern: '^[a-z0-9-]+$' } };
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, member]));
    const { status, text } = await put({ properties, additionalProperties: false });
    assert.ok(status < 300, text);
    await service.call('DELETE', path, undefined, { token: admin.token });
  });

  it('rejects properties that take too long to check, and delays no other request', async () => {
    await put(hidden);
    const [rejected, delay] = await Promise.all([create('slow', { xyz3: 1 }), healthDelay()]);
    assertProblem(rejected, 'properties_invalid');
    assert.ok(delay < 750, `${delay} ms`);
    await service.call('DELETE', path, undefined, { token: admin.token });
  });

  it('that times out repeatedly is reported in one event for each of its versions', async () => {
    const timeOut = async () => {
      for (let time = 0; time < 5; time++)
        assertProblem(await create(`slow-${time}`, { xyz3: 1 }), 'properties_invalid');
    };
    const reports = async () => {
      await service.app.context.timedOutSchemas.recorded;
      const { json } = await service.call('GET', '/v1/events?type=property_schema.timed_out');
      return json.events;
    };
    const before = (await reports()).length;
    await put(hidden);
    await timeOut();
    const [event, ...others] = await reports();
    assert.equal(others.length, before);
    assert.deepEqual(event.target, { type: 'property_schema', id: 'default' });
    assert.deepEqual(event.actor, { type: 'service', id: null, name: null, via: 'service' });
    // Another document changes, so the configuration is read again.
    await service.call('PUT', '/v1/schemas/40', { name: 'Orders' }, { token: admin.token });
    await timeOut();
    assert.equal((await reports()).length, before + 1);
    await put({ ...hidden, title: 'Another version' });
    await timeOut();
    assert.equal((await reports()).length, before + 2);
    await service.call('DELETE', path, undefined, { token: admin.token });
    await service.call('DELETE', '/v1/schemas/40?force=true', undefined, { token: admin.token });
  });

  it('keeps neither the figures of another workspace from being counted, nor the service from stopping', async () => {
    await put(hidden, 'off');
    const ids = Array.from({ length: 150 }, (_, index) => `slow-${index}`);
    const properties = '{"xyz3":1}' as JsonText;
    const groups = Object.fromEntries(ids.map((id) => [id, { properties }]));
    await storeUserGroups(service.app.context.store, 'default', groups);
    const [own, other] = await Promise.all([
      ConsoleBrowser.signIn(service, admin.token),
      service
        .apiToken({ permission: 'admin', workspaceName: 'other' })
        .then(({ token }) => ConsoleBrowser.signIn(service, token)),
    ]);
    await own.get('/console');
    await eventually('figures', async () => /as of/.test(textOf(await other.get('/console'))), 15_000);
    assert.doesNotMatch(textOf(await own.get('/console')), /as of/);
    const startedAt = performance.now();
    await service.restart();
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < 5_000, `${tookMs} ms`);
    await service.call('DELETE', path, undefined, { token: admin.token });
  });

  /** Returns the latency of a request that is sent meanwhile, in milliseconds. */
  async function healthDelay(): Promise<number> {
    await sleep(20);
    const startedAt = performance.now();
    assert.equal((await service.call('GET', '/healthz')).status, 200);
    return performance.now() - startedAt;
  }
});
