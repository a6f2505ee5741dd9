// Contract: calls are serializable. Calls that arrive too early, too late or concurrently leave the database in the state
// of one of their sequential orders.

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
import {
  assertRejected,
  assertUnchanged,
  type BadCase,
  differencesOf,
} from '../support/bad-input/refusal.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';

const CALLS = 40;
const userGroupNotFound = { status: 404, code: 'user_group_not_found' } as const;
const tokenNotFound = { status: 404, code: 'user_group_token_not_found' } as const;
const versionMismatch = { status: 412, code: 'version_mismatch' } as const;

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

  it('on a user group does not affect the one with the same id in the other environment', async () => {
    const { testing } = victim.apiTokens;
    const ours = { user_group_id: 'twin', name: 'Customer', properties: { of: 'Customer' } };
    const theirs = { user_group_id: 'twin', name: 'Testing', properties: { of: 'Testing' } };
    const [ourToken, theirToken] = await Promise.all([
      service.get(ours).then(tokenOf),
      service.get(theirs, { token: testing }).then(tokenOf),
    ]);
    assert.notEqual(ourToken, theirToken);
    await service.put({ user_group_id: 'twin', name: 'Changed' });
    await service.post({ current_token: ourToken });
    const unchanged = await service.get(theirs, { token: testing });
    assert.equal(unchanged.headers['user-group-drift'], undefined);
    assert.equal(tokenOf(unchanged), theirToken);
    const foreign = [service.resolve(theirToken), service.post({ current_token: theirToken })];
    for (const response of await Promise.all(foreign))
      assert.deepEqual(differencesOf('theirs', tokenNotFound, response), []);
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

  it('rotates once among parallel calls with the same token, and all get the same new token', async () => {
    const token = tokenOf(await service.get({ user_group_id: 'spun', name: 'Spun' }));
    const responses = await Promise.all(
      Array.from({ length: CALLS }, () => service.post({ current_token: token, grace_period_seconds: 60 })),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(responses.map(tokenOf)).size, 1);
    assert.equal(versionOf(responses[0]!), 2);
    assert.equal((await service.resolve(tokenOf(responses[0]!))).json.token.status, 'current');
    assert.equal((await service.resolve(token)).json.token.status, 'retiring');
  });

  it('updates once among parallel calls with the same If-Match', async () => {
    const { etag } = (await service.get({ user_group_id: 'guarded', name: 'Guarded' })).headers;
    const responses = await Promise.all(
      Array.from({ length: CALLS }, (_, index) =>
        service.put({ user_group_id: 'guarded', name: `${index}` }, { headers: { 'if-match': etag } }),
      ),
    );
    const [winner, ...others] = responses.filter(({ status }) => status === 200);
    assert.equal(others.length, 0);
    const losers = responses.filter((response) => response !== winner);
    assert.deepEqual(
      losers.flatMap((response) => differencesOf('a late update', versionMismatch, response)),
      [],
    );
    const final = await service.get({ user_group_id: 'guarded' });
    assert.equal(final.json.user_group.name, winner?.json.user_group.name);
    assert.equal(versionOf(final), 2);
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
    const good = Array.from({ length: CALLS }, (_, index) =>
      service.get({ user_group_id: `good ${index}`, name: 'G' }),
    );
    const resolved = Array.from({ length: CALLS }, () => service.resolve(victim.token));
    assert.ok((await Promise.all([...good, ...resolved])).every(({ json }) => json.success === 1));
    const statuses = (await Promise.all(bad)).map(({ status }) => status);
    assert.deepEqual(statuses, Array.from({ length: CALLS }, () => [400, 404, 400, 404, 401]).flat());
  });

  it('is rejected as soon as its API token is revoked, and earlier changes stay', async () => {
    const { id, token } = await service.apiToken();
    const created = await service.get({ user_group_id: 'left', name: 'Left' }, { token });
    await service.revokeApiToken(id);
    await assertUnchanged(victim, async () => {
      const response = await service.put({ user_group_id: 'left', name: 'Changed' }, { token });
      assert.deepEqual(differencesOf('revoked', { status: 401, code: 'unauthenticated' }, response), []);
    });
    assert.equal(tokenOf(await service.get({ user_group_id: 'left' })), tokenOf(created));
  });
});

/** Updates, patches, and lookups without a name, with ids of missing groups. */
function onMissingGroups(operations: readonly Operation[], ids: readonly string[]): BadCase[] {
  return (
    operations
      // An upsert requires no group.
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

/** The version in an entity tag: the team id, a dash, and the number of versions. */
function versionOf({ headers }: TestResponse): number {
  return Number(/^"\d+-(\d+)"$/.exec(headers.etag ?? '')?.[1]);
}
