// Contract: each call stands on what the calls before it have left, in whatever order and however many at once.
// Calls that come too early, too late or against each other leave the database as one of their orders would.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDatabase } from '../database.ts';
import type { TestAnswer } from '../http.ts';
import type { TestService } from '../service.ts';
import { nameOf, type Operation, objectText, onGroup, operationsOn, requestOf } from './operation.ts';
import { type BadCase, faultsOf, leavesNoTrace, refuses } from './refusal.ts';
import { Victim } from './victim.ts';

const CALLS = 40;
const userGroupNotFound = { status: 404, code: 'user_group_not_found' } as const;
const tokenNotFound = { status: 404, code: 'user_group_token_not_found' } as const;
const versionMismatch = { status: 412, code: 'version_mismatch' } as const;

describeOnEachDatabase('A call', (database) => {
  let victim: Victim;
  let service: TestService;
  before(async () => {
    victim = await Victim.start(database);
    service = victim.service;
  });
  after(() => victim.end());

  it('finds no group before one is created, under any id that resembles one that is there', async (t) => {
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
    const alike = [
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
    await refuses(t, victim, tooEarly(operationsOn(victim), [...absent, ...alike]));
  });

  it('of a user group leaves the one of the same id in the other environment alone', async () => {
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
    const crossing = [service.resolve(theirToken), service.post({ current_token: theirToken })];
    for (const answer of await Promise.all(crossing))
      assert.deepEqual(faultsOf('theirs', tokenNotFound, answer), []);
  });

  it('that creates what is there already returns what other calls have made of it', async () => {
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

  it('to create is one of many at once, with updates between them: one creates, and every update counts once', async () => {
    const calls = Array.from({ length: CALLS }, (_, index) => [
      service.get({ user_group_id: 'contested', name: `created ${index}` }),
      service.put({ user_group_id: 'contested', name: `updated ${index}` }),
      service.call('POST', '/v1/user-groups', { user_group_id: 'contested', name: `made ${index}` }),
    ]);
    const answers = await Promise.all(calls.flat());
    const made = answers.filter(({ json }) => json.success === 1);
    const early = answers.filter(({ json }) => json.success === 0);
    assert.deepEqual(
      early.flatMap((answer) => faultsOf('an update before', userGroupNotFound, answer)),
      [],
    );
    assert.equal(made.filter(({ json }) => json.new_user_group === true).length, 1);
    assert.equal(new Set(made.map(tokenOf)).size, 1);
    const updates = made.filter(({ json }) => json.new_user_group === undefined);
    const final = await service.get({ user_group_id: 'contested' });
    assert.equal(versionOf(final), 1 + updates.length);
    const names = updates.map(({ json }) => json.user_group.name);
    assert.ok(updates.length === 0 || names.includes(final.json.user_group.name));
  });

  it('to rotate is one of many at once with the same token: all get the same new one', async () => {
    const token = tokenOf(await service.get({ user_group_id: 'spun', name: 'Spun' }));
    const answers = await Promise.all(
      Array.from({ length: CALLS }, () => service.post({ current_token: token, grace_period_seconds: 60 })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(tokenOf)).size, 1);
    assert.equal(versionOf(answers[0]!), 2);
    assert.equal((await service.resolve(tokenOf(answers[0]!))).json.token.status, 'current');
    assert.equal((await service.resolve(token)).json.token.status, 'retiring');
  });

  it('to update is one of many at once with the same If-Match: one changes the group, the others nothing', async () => {
    const { etag } = (await service.get({ user_group_id: 'guarded', name: 'Guarded' })).headers;
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, index) =>
        service.put({ user_group_id: 'guarded', name: `${index}` }, { headers: { 'if-match': etag } }),
      ),
    );
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    assert.equal(others.length, 0);
    const losers = answers.filter((answer) => answer !== winner);
    assert.deepEqual(
      losers.flatMap((answer) => faultsOf('a late update', versionMismatch, answer)),
      [],
    );
    const final = await service.get({ user_group_id: 'guarded' });
    assert.equal(final.json.user_group.name, winner?.json.user_group.name);
    assert.equal(versionOf(final), 2);
  });

  it('to rotate, to update and to look up race: every answer is whole, and every change counts once', async () => {
    const id = 'raced';
    const first = tokenOf(await service.get({ user_group_id: id, name: 'Raced' }));
    const spin = async (): Promise<string[]> => {
      const tokens = [first];
      for (let turn = 0; turn < 10; turn++)
        tokens.push(tokenOf(await service.post({ current_token: tokens.at(-1) })));
      return tokens;
    };
    const [tokens, updates, found] = await Promise.all([
      spin(),
      Promise.all(
        Array.from({ length: CALLS }, (_, index) => service.put({ user_group_id: id, name: `${index}` })),
      ),
      Promise.all(Array.from({ length: CALLS }, () => service.get({ user_group_id: id }))),
    ]);
    assert.ok([...updates, ...found].every(({ status }) => status === 200));
    assert.ok([...updates, ...found].every((answer) => tokens.includes(tokenOf(answer))));
    const final = await service.get({ user_group_id: id });
    assert.equal(tokenOf(final), tokens.at(-1));
    assert.equal(versionOf(final), 1 + CALLS + 10);
  });

  it('that is good is not harmed by bad ones that arrive with it', async () => {
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

  it('is refused from the moment when its API token is revoked, and what it made stays', async () => {
    const { id, token } = await service.apiToken();
    const made = await service.get({ user_group_id: 'left', name: 'Left' }, { token });
    await service.revokeApiToken(id);
    await leavesNoTrace(victim, async () => {
      const answer = await service.put({ user_group_id: 'left', name: 'Changed' }, { token });
      assert.deepEqual(faultsOf('revoked', { status: 401, code: 'unauthenticated' }, answer), []);
    });
    assert.equal(tokenOf(await service.get({ user_group_id: 'left' })), tokenOf(made));
  });
});

/** Updates, patches, and look-ups without a name, of ids of which there is no group. */
function tooEarly(operations: readonly Operation[], ids: readonly string[]): BadCase[] {
  return operations
    .filter(({ idIn }) => idIn !== null)
    .flatMap((operation) => {
      const { name, mapping, properties } = operation.members as Record<string, string>;
      const fields = [
        {},
        { mapping: mapping! },
        { properties: properties! },
        { mapping: 'null', properties: 'null' },
      ];
      const creates = operation.path === '/v1/user-groups' || operation.method === 'GET';
      const named = creates ? [] : fields.map((each) => ({ ...each, name: name! }));
      return [...fields, ...named].flatMap((each) =>
        ids.map((id) => {
          const onId = onGroup({ ...operation, members: {} }, id);
          return {
            name: `${nameOf(operation)} of ${id} with ${Object.entries(each)}`,
            request: requestOf(onId, { body: objectText({ ...onId.members, ...each }) }),
            ...userGroupNotFound,
          };
        }),
      );
    });
}

function tokenOf({ json }: TestAnswer): string {
  return json.user_group.token;
}

/** The version in an entity tag: the team id, a dash, and how often the group has changed. */
function versionOf({ headers }: TestAnswer): number {
  return Number(/^"\d+-(\d+)"$/.exec(headers.etag ?? '')?.[1]);
}
