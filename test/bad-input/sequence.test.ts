// Contract: calls are serializable. Calls that arrive too early, too late or concurrently leave the database
// in the state of one of their sequential orders.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  nameOf,
  type Operation,
  objectText,
  onGroup,
  operationsOn,
  requestOf,
} from '../support/bad-input/operation.ts';
import { assertRejected, type BadCase, differencesOf } from '../support/bad-input/refusal.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send, type TestResponse } from '../support/http.ts';

const CALLS = 40;
const userGroupNotFound = { status: 404, code: 'user_group_not_found' } as const;

describeOnEachDatabase('A call', (database) => {
  const victim = Victim.of(database);
  const { service } = victim;

  it('finds no missing group, even if its id resembles an existing one', async (t) => {
    const { testing, workspace } = victim.apiTokens;
    await service.get({ user_group_id: 'Café', name: 'Café' });
    await service.get({ user_group_id: 'only in testing', name: 'T' }, { token: testing });
    await service.get({ user_group_id: 'only in another workspace', name: 'W' }, { token: workspace });
    const absent = [
      'absent',
      'only in testing',
      'only in another workspace',
      'CAFÉ',
      'café',
      'Cafe\u0301',
      'Cafe',
    ];
    const lookalikes = [
      'Caf%',
      'Caf_',
      'Café\u200b',
      'Café*',
      'Caf\u00c9',
      "Café' --",
      'resent',
      'presen',
      'present\u2060',
      'p',
    ];
    await assertRejected(t, victim, onMissingGroups(operationsOn(victim), [...absent, ...lookalikes]));
  });

  it('that creates an existing group returns its current state', async () => {
    const group = { user_group_id: 'again', name: 'First', properties: { a: 1 } };
    const created = await service.get(group);
    await service.put({ user_group_id: 'again', name: 'Second', properties: null, mapping: { 1: 'one' } });
    const rotated = await service.post({ current_token: tokenOf(created) });
    const again = await service.call('POST', '/v1/user-groups', group);
    assert.equal(again.status, 200);
    assert.equal(again.json.new_user_group, false);
    const { api_environment_tag: _, ...stored } = rotated.json.user_group;
    assert.deepEqual(again.json.user_group, { ...stored, properties: null });
    assert.equal(again.headers['user-group-drift'], 'name, properties');
    assert.equal(again.headers.etag, rotated.headers.etag);
  });

  it('creates a group once among parallel creates and updates, and each update increments the version once', async () => {
    const calls = Array.from({ length: CALLS }, (_, index) => [
      service.get({ user_group_id: 'contested', name: `created ${index}` }),
      service.put({ user_group_id: 'contested', name: `updated ${index}` }),
      service.call('POST', '/v1/user-groups', { user_group_id: 'contested', name: `posted ${index}` }),
    ]);
    const responses = await Promise.all(calls.flat());
    const successes = responses.filter(({ json }) => json.success === 1);
    const errors = responses.filter(({ json }) => json.success === 0);
    assert.deepEqual(
      errors.flatMap((response) => differencesOf('an early update', userGroupNotFound, response)),
      [],
    );
    assert.equal(successes.filter(({ json }) => json.new_user_group === true).length, 1);
    assert.equal(new Set(successes.map(tokenOf)).size, 1);
    const updates = successes.filter(({ json }) => json.new_user_group === undefined);
    const final = await service.get({ user_group_id: 'contested' });
    assert.equal(versionOf(final), 1 + updates.length);
    const names = updates.map(({ json }) => json.user_group.name);
    assert.ok(updates.length === 0 || names.includes(final.json.user_group.name));
  });

  it('is atomic among parallel rotations, updates and lookups, and each change increments the version once', async () => {
    const id = 'raced';
    const first = tokenOf(await service.get({ user_group_id: id, name: 'Raced' }));
    const rotateRepeatedly = async (): Promise<string[]> => {
      const tokens = [first];
      for (let turn = 0; turn < 10; turn++)
        tokens.push(tokenOf(await service.post({ current_token: tokens.at(-1) })));
      return tokens;
    };
    const [tokens, updates, found] = await Promise.all([
      rotateRepeatedly(),
      Promise.all(
        Array.from({ length: CALLS }, (_, index) => service.put({ user_group_id: id, name: `${index}` })),
      ),
      Promise.all(Array.from({ length: CALLS }, () => service.get({ user_group_id: id }))),
    ]);
    assert.ok([...updates, ...found].every(({ status }) => status === 200));
    assert.ok([...updates, ...found].every((response) => tokens.includes(tokenOf(response))));
    const final = await service.get({ user_group_id: id });
    assert.equal(tokenOf(final), tokens.at(-1));
    assert.equal(versionOf(final), 1 + CALLS + 10);
  });

  it('that is valid succeeds among parallel invalid ones', async () => {
    const bad = Array.from({ length: CALLS }, (_, index) => [
      service.get('{'),
      service.put({ user_group_id: `absent ${index}`, name: 'N' }),
      service.get({ user_group_id: 'x', name: '' }),
      service.resolve(victim.foreign.workspace),
      service.get({ user_group_id: 'x', name: 'X' }, { token: null }),
    ]).flat();
    // Without repetition: invalid calls must not keep valid ones out.
    const { url, token } = service;
    const good = Array.from({ length: CALLS }, (_, index) =>
      send(url, { token, body: { user_group_id: `good ${index}`, name: 'G' } }),
    );
    const resolve = { method: 'POST', path: '/v1/resolve', token, body: { token: victim.token } };
    const resolved = Array.from({ length: CALLS }, () => send(url, resolve));
    assert.ok((await Promise.all([...good, ...resolved])).every(({ json }) => json.success === 1));
    const statuses = (await Promise.all(bad)).map(({ status }) => status);
    assert.deepEqual(statuses, Array.from({ length: CALLS }, () => [400, 404, 400, 404, 401]).flat());
  });
});

/** Returns updates, patches, and lookups without a name, with ids of missing groups. */
function onMissingGroups(operations: readonly Operation[], ids: readonly string[]): BadCase[] {
  return (
    operations
      // An upsert does not require the group to exist.
      .filter(({ idIn, method }) => idIn === 'body' || (idIn === 'path' && method !== 'PUT'))
      .flatMap((operation) => {
        const { name, mapping, properties } = operation.members as Record<string, string>;
        const fields = [
          {},
          { mapping: mapping! },
          { properties: properties! },
          { mapping: 'null', properties: 'null' },
        ];
        const creates = operation.path === '/v1/user-groups' || operation.method === 'GET';
        const withName = creates ? [] : fields.map((each) => ({ ...each, name: name! }));
        return [...fields, ...withName].flatMap((each) =>
          ids.map((id) => {
            const onId = onGroup({ ...operation, members: {} }, id);
            return {
              name: `${nameOf(operation)} of ${id} with ${Object.entries(each)}`,
              request: requestOf(onId, { body: objectText({ ...onId.members, ...each }) }),
              ...userGroupNotFound,
            };
          }),
        );
      })
  );
}

function tokenOf({ json }: TestResponse): string {
  return json.user_group.token;
}

/** Returns the version in an entity tag, which is the team id, a dash, and the number of versions. */
function versionOf({ headers }: TestResponse): number {
  return Number(/^"\d+-(\d+)"$/.exec(headers.etag ?? '')?.[1]);
}
