// Results and effects of an operation whose group changes between its query and its command.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Caller } from '../../src/domain/api-token.ts';
import { computeBucket } from '../../src/domain/bucket.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { generateKeyLine, KeyRing } from '../../src/domain/key-ring.ts';
import { Secret } from '../../src/domain/secret.ts';
import { digestOfApiToken, PresentedToken } from '../../src/domain/token.ts';
import { versionTag } from '../../src/domain/user-group/user-group.ts';
import { rotateApiToken } from '../../src/operations/api-token/api-token.ts';
import { authenticate } from '../../src/operations/api-token/authenticate.ts';
import type { Context } from '../../src/operations/context.ts';
import { OtherKeyInUse, reencryptTokens } from '../../src/operations/database/reencrypt.ts';
import { listEvents } from '../../src/operations/event/list.ts';
import { deleteUserGroup } from '../../src/operations/user-group/delete.ts';
import { HistoryErasures } from '../../src/operations/user-group/erase-history.ts';
import {
  type GetOrCreateResult,
  getOrCreateUserGroup,
} from '../../src/operations/user-group/get-or-create.ts';
import { importLine } from '../../src/operations/user-group/import.ts';
import type { LineResult } from '../../src/operations/user-group/line-result.ts';
import { listUserGroups } from '../../src/operations/user-group/list.ts';
import { patchUserGroup } from '../../src/operations/user-group/patch.ts';
import { renameUserGroup } from '../../src/operations/user-group/rename.ts';
import { revealToken } from '../../src/operations/user-group/reveal-token.ts';
import { rotateToken } from '../../src/operations/user-group/rotate.ts';
import type { Query } from '../../src/store/port.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { intercept } from '../support/intercept.ts';
import { TestService } from '../support/service.ts';

const GRACE_SECONDS = 3_600;

describeOnEachDatabase('An operation interrupted by another one', (database) => {
  const [oldKey, newKey] = [generateKeyLine().reveal(), generateKeyLine().reveal()];
  const service = TestService.of(database, { env: { UGS_TOKEN_KEYS: `${oldKey}\n${newKey}` } });
  let caller: Caller;
  before(async () => {
    caller = await authenticate(service.app.context, digestOfApiToken(service.token));
  });

  /** Returns the context of an operation, with `between` run after its first query. */
  function interrupted(between: () => Promise<unknown>): Context {
    const { context } = service.app;
    return { ...context, store: intercept(context.store, { afterFirstRead: between }) };
  }

  const create = async (id: string, name = 'Name') =>
    (await service.get({ user_group_id: id, name })).json.user_group;
  const read = async (id: string) =>
    (await service.call('GET', `/v1/user-groups/${encodeURIComponent(id)}`)).json.user_group;
  const remove = (id: string) => service.call('DELETE', `/v1/user-groups/${encodeURIComponent(id)}`);

  describe('get or create', () => {
    const getOrCreate = (context: Context, userGroupId: string, fields: object = {}) =>
      getOrCreateUserGroup(context, caller, { userGroupId, name: 'Mine', ...fields });

    it('returns the drift if it loses the race', async () => {
      const context = interrupted(() => create('lost', 'Theirs'));
      const result = await getOrCreate(context, 'lost', { mapping: '{}' });
      assert.deepEqual([result.created, result.drift], [false, ['name', 'mapping']]);
      assert.equal(result.token.reveal(), (await read('lost')).token);
    });

    it('returns no drift if it loses the race to the same fields', async () => {
      const result = await getOrCreate(
        interrupted(() => create('same', 'Mine')),
        'same',
      );
      assert.deepEqual([result.created, result.drift], [false, []]);
    });

    /** Returns a context that runs `instead` in place of the first create, and reports it as `unsettled`. */
    function unsettled(instead: Parameters<typeof intercept>[1]['firstWrite']): Context {
      const { context } = service.app;
      const store = intercept(context.store, {
        firstWrite: async (command, real) => {
          await instead?.(command, real);
          return 'unsettled';
        },
      });
      return { ...context, store };
    }

    async function assertStored(id: string, { userGroup, token }: GetOrCreateResult): Promise<void> {
      const stored = await read(id);
      assert.deepEqual([stored.team_id, stored.token], [userGroup.teamId, token.reveal()]);
    }

    it('returns created if an attempt reported as unsettled did create the group', async () => {
      const result = await getOrCreate(
        unsettled((command, store) => store.write(command)),
        'after all',
      );
      assert.deepEqual([result.created, result.drift], [true, []]);
      await assertStored('after all', result);
    });

    it('returns not created if another caller creates the group between two attempts', async () => {
      const result = await getOrCreate(
        unsettled(async () => {
          await create('between attempts', 'Theirs');
          return null;
        }),
        'between attempts',
      );
      assert.deepEqual([result.created, result.drift], [false, ['name']]);
      await assertStored('between attempts', result);
    });

    it('creates the group in its second attempt if the first one did not', async () => {
      const result = await getOrCreate(
        unsettled(async () => null),
        'second attempt',
      );
      assert.deepEqual([result.created, result.drift], [true, []]);
      await assertStored('second attempt', result);
    });
  });

  describe('import', () => {
    const importing = (context: Context, group: object): Promise<LineResult> =>
      importLine({ context, caller, replaces: true }, Buffer.from(JSON.stringify(group)));

    it('with --update rejects a line if its group is deleted before the update', async () => {
      await create('deleted');
      const context = interrupted(() => remove('deleted'));
      const result = await importing(context, { user_group_id: 'deleted', name: 'New' });
      assert.equal(result.result, 'refused');
      assert.deepEqual([result.code, result.errors[0]?.pointer], ['user_group_not_found', '/user_group_id']);
      assert.equal(await read('deleted'), undefined);
    });

    it('with --update does not change a group with another token that gets the id before the update', async () => {
      const { token } = await create('replaced');
      const context = interrupted(async () => {
        await remove('replaced');
        await create('replaced', 'Theirs');
      });
      const result = await importing(context, { user_group_id: 'replaced', name: 'New', token });
      assert.equal(result.result, 'refused');
      assert.equal(result.code, 'token_differs');
      assert.equal((await read('replaced')).name, 'Theirs');
    });

    it('with --update updates a group that is created between its query and its create', async () => {
      const context = interrupted(() => create('created', 'Theirs'));
      const result = await importing(context, { user_group_id: 'created', name: 'New' });
      assert.deepEqual(result, { result: 'updated' });
      assert.equal((await read('created')).name, 'New');
    });
  });

  describe('rotate', () => {
    it('rotates the token of a group that is deleted and imported again with the same token', async () => {
      const { token, team_id } = await create('imported');
      const context = interrupted(async () => {
        await remove('imported');
        const group = { user_group_id: 'imported', name: 'Imported', token };
        assert.deepEqual(await service.importGroup(group), { result: 'created' });
      });
      const rotated = await rotateToken(context, caller, { currentToken: new PresentedToken(token) });
      const stored = await read('imported');
      assert.notEqual(stored.team_id, team_id);
      assert.deepEqual([stored.name, stored.token], ['Imported', rotated.token.reveal()]);
    });

    it('rotates the token of a group that is renamed, and that can still be read', async () => {
      // Both ids have the same bucket, so the token is found where it was.
      const ids = Array.from({ length: 1_000 }, (_, index) => `bucket-${index}`);
      const byBucket = Map.groupBy(ids, (id) => computeBucket(1, 'Customer', id));
      const [id, other] = [...byBucket.values()].find((found) => found.length > 1)!;
      const { token } = await create(id!);
      const path = `/v1/user-groups/${id}/rename`;
      const context = interrupted(() => service.call('POST', path, { user_group_id: other }));
      const rotated = await rotateToken(context, caller, { currentToken: new PresentedToken(token) });
      assert.equal((await read(other!)).token, rotated.token.reveal());
    });

    it('returns the result of a concurrent rotation and does not rotate again', async () => {
      const { token } = await create('rotated');
      const context = interrupted(() => service.post({ current_token: token, grace_period_seconds: 0 }));
      const rotated = await rotateToken(context, caller, {
        currentToken: new PresentedToken(token),
        gracePeriodSeconds: GRACE_SECONDS,
      });
      const stored = await read('rotated');
      assert.deepEqual([stored.version, stored.token], [2, rotated.token.reveal()]);
    });

    it('gives up after four attempts by token', async () => {
      const currentToken = new PresentedToken((await create('four attempts')).token);
      const { context } = service.app;
      const rotateAfter = (failures: number) => {
        const failOnce = (store: Context['store']) => intercept(store, { firstWrite: async () => null });
        const store = Array.from({ length: failures }).reduce(failOnce, context.store);
        return rotateToken({ ...context, store }, caller, { currentToken });
      };
      await assert.rejects(rotateAfter(4), /too often/);
      assert.equal((await rotateAfter(3)).userGroup.version, 2);
    });
  });

  describe('delete', () => {
    const deleteDuring = async (id: string, between: () => Promise<unknown>): Promise<void> => {
      const { context } = service.app;
      const store = intercept(context.store, {
        firstWrite: async (command, real) => {
          await between();
          return real.write(command);
        },
      });
      await deleteUserGroup({ ...context, store }, caller, id, undefined);
    };
    const rename = async (from: string, to: string) => {
      const body = { user_group_id: to };
      assert.equal((await service.call('POST', `/v1/user-groups/${from}/rename`, body)).status, 200);
    };

    /** Returns the events that still have values. */
    async function keptOf(...ids: readonly string[]): Promise<string[]> {
      const { json } = await service.call('GET', '/v1/events?limit=1000');
      const events = json.events as { type: string; target: { id: string }; changes: object | null }[];
      const kept = events.filter(({ target, changes }) => ids.includes(target.id) && changes !== null);
      return kept.map(({ type, target }) => `${type} ${target.id}`);
    }

    it('removes the values from all events of a group that is renamed twice meanwhile', async () => {
      await create('there');
      await deleteDuring('there', async () => {
        await rename('there', 'away');
        await service.put({ user_group_id: 'away', name: 'A value' });
        await rename('away', 'there');
      });
      assert.equal(await read('there'), undefined);
      assert.deepEqual(await keptOf('there', 'away'), [
        'user_group.renamed there',
        'user_group.renamed away',
      ]);
    });

    it('removes the values from the events of the group that gets the id meanwhile, and from no others', async () => {
      await create('first');
      await create('second');
      await deleteDuring('first', async () => {
        await rename('first', 'moved');
        await rename('second', 'first');
      });
      assert.equal(await read('first'), undefined);
      assert.equal((await read('moved')).provided_id, 'moved');
      assert.deepEqual(await keptOf('first', 'second', 'moved'), [
        'user_group.renamed first',
        'user_group.renamed moved',
        'user_group.created first',
      ]);
    });

    it('removes no values from the events of the group that gets the id meanwhile, if it fails', async () => {
      await create('mine');
      await create('theirs');
      const ifMatch = [versionTag({ teamId: (await read('mine')).team_id, version: 1 })];
      const context = interrupted(async () => {
        await rename('mine', 'elsewhere');
        await rename('theirs', 'mine');
      });
      const deletion = deleteUserGroup(context, caller, 'mine', { ifMatch });
      await assert.rejects(deletion, { code: 'version_mismatch' });
      assert.ok((await keptOf('theirs')).includes('user_group.created theirs'));
    });

    it('removes no values of the group that gets the id while a long history is being removed', async () => {
      await create('long');
      await create('short');
      await service.put({ user_group_id: 'long', name: 'Mine' });
      const { context } = service.app;
      const store = intercept(context.store, {
        kind: 'eraseChanges',
        firstWrite: async (command, real) => {
          const result = await real.write(command);
          await rename('long', 'longer');
          await rename('short', 'long');
          await service.put({ user_group_id: 'long', name: 'Theirs' });
          return result;
        },
      });
      const endless = new Proxy(store, {
        get: (target, name) => (name === 'until' ? () => store : Reflect.get(target, name)),
      });
      const stored = (await store.read({ kind: 'findUserGroup', key: store.userGroupKey(caller, 'long') }))!;
      await new HistoryErasures().run(endless, stored);
      assert.deepEqual(await keptOf('short', 'long'), [
        'user_group.updated long',
        'user_group.renamed long',
        'user_group.created short',
      ]);
    });

    it('is 404 and leaves the group alone if it is renamed meanwhile', async () => {
      await create('source');
      const deletion = deleteDuring('source', () => rename('source', 'target'));
      await assert.rejects(deletion, { code: 'user_group_not_found' });
      assert.equal((await read('target')).provided_id, 'target');
    });
  });

  it('patch merges into the result of a concurrent update', async () => {
    await create('patched');
    const context = interrupted(() => service.put({ user_group_id: 'patched', properties: { a: 1 } }));
    await patchUserGroup(context, caller, 'patched', { properties: '{"b":2}' as JsonText }, undefined);
    assert.deepEqual((await read('patched')).properties, { a: 1, b: 2 });
  });

  it('rename renames a group again that gets its id back meanwhile', async () => {
    await create('back');
    const rename = (from: string, to: string) =>
      service.call('POST', `/v1/user-groups/${from}/rename`, { user_group_id: to });
    await rename('back', 'forth');
    const context = interrupted(() => rename('forth', 'back'));
    const { userGroup } = await renameUserGroup(context, caller, 'back', 'forth', undefined);
    assert.deepEqual([userGroup.providedId, userGroup.version], ['forth', 4]);
    assert.equal((await read('forth')).version, 4);
  });

  it('rename applies only to the version in the precondition', async () => {
    await create('renamed');
    const { version, team_id } = await read('renamed');
    const context = interrupted(() => service.put({ user_group_id: 'renamed', name: 'Theirs' }));
    const precondition = { ifMatch: [versionTag({ teamId: team_id, version })] };
    await assert.rejects(renameUserGroup(context, caller, 'renamed', 'new', precondition), {
      code: 'version_mismatch',
    });
    assert.equal((await read('renamed')).name, 'Theirs');
  });

  it('delete removes the history although an earlier attempt to do so has failed', async () => {
    const { store } = service.app.context;
    const broken = new Proxy(store, {
      get: (target, name) => {
        if (name === 'until') return () => ({ read: () => Promise.reject(new Error('unreachable')) });
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await create('erased');
    const key = store.userGroupKey(caller, 'erased');
    const stored = (await store.read({ kind: 'findUserGroup', key }))!;
    const erasures = new HistoryErasures();
    await assert.rejects(erasures.run(broken, stored), /unreachable/);
    assert.ok((await erasures.run(store, stored)) > 0);
  });

  for (const order of ['newest', 'oldest'] as const)
    it(`a history, ${order} first, has no events of another group that gets the id meanwhile`, async () => {
      const id = `${order} first`;
      await create(id);
      const { context } = service.app;
      let isReplaced = false;
      const replace = async () => {
        isReplaced = true;
        const path = `/v1/user-groups/${encodeURIComponent(id)}/rename`;
        await service.call('POST', path, { user_group_id: `${id}, renamed` });
        await create(id);
      };
      const read = async (query: Query) => {
        if (query.kind === 'listEvents' && !isReplaced) await replace();
        return context.store.read(query);
      };
      const store = new Proxy(context.store, {
        get: (target, name) => (name === 'read' ? read : Reflect.get(target, name)),
      });
      const target = { type: 'user_group', id } as const;
      const { events } = await listEvents({ ...context, store }, caller, { order, limit: 10, target });
      assert.equal(events.filter(({ type }) => type === 'user_group.created').length, 1);
    });

  it('a filtered list leaves out a group that no longer meets the filter', async () => {
    await create('suspended meanwhile');
    const suspend = () => service.call('POST', '/v1/user-groups/suspended%20meanwhile/suspend');
    const query = { search: 'suspended meanwhile', suspended: false, limit: 10 };
    const { userGroups } = await listUserGroups(interrupted(suspend), caller, query);
    assert.deepEqual(userGroups, []);
  });

  it('a token is not shown if the event about it cannot be stored', async () => {
    await create('revealed');
    const { context } = service.app;
    const store = intercept(context.store, { firstWrite: () => Promise.reject(new Error('not stored')) });
    await assert.rejects(revealToken({ ...context, store }, caller, 'revealed'), /not stored/);
  });

  it('a token is not shown if the event about it concerns another user group', async () => {
    await create('shown');
    const rename = () => service.call('POST', '/v1/user-groups/shown/rename', { user_group_id: 'hidden' });
    await assert.rejects(revealToken(interrupted(rename), caller, 'shown'), { code: 'user_group_not_found' });
  });

  it('a token that is rotated before the event about it is not shown, but its successor', async () => {
    const { token } = await create('succeeded');
    const context = interrupted(() => service.post({ current_token: token }));
    const shown = await revealToken(context, caller, 'succeeded');
    assert.notEqual(shown.token.reveal(), token);
    assert.equal(shown.token.reveal(), (await read('succeeded')).token);
  });

  it('an API token is not rotated if it has been revoked', async () => {
    const { id } = await service.apiToken();
    const context = interrupted(() => service.revokeApiToken(id));
    await assert.rejects(rotateApiToken(context, caller, id, 0), { code: 'api_token_inactive' });
    assert.deepEqual(
      (await service.eventsAbout({ type: 'api_token', id: String(id) })).map(({ type }) => type),
      ['api_token.created', 'api_token.revoked'],
    );
  });

  it('key reencrypt keeps a concurrently rotated token readable', async () => {
    const { token } = await create('resealed');
    const store = intercept(service.app.context.store, {
      afterFirstRead: () => service.post({ current_token: token }),
    });
    const keyRing = KeyRing.parse(new Secret(`${newKey}\n${oldKey}`));
    // The service still encrypts under the old key.
    await assert.rejects(
      reencryptTokens({ store, keyRing }, () => {}),
      OtherKeyInUse,
    );
    const stored = await read('resealed');
    assert.notEqual(stored.token, token);
    assert.equal((await service.resolve(stored.token)).status, 200);
    assert.equal((await service.post({ current_token: stored.token })).status, 200);
  });
});
