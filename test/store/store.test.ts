// The store port, for each adapter: commands and queries affect only the group that they name, results have
// the order of their commands, compare-and-set compares, and a batch is atomic.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import type { Bucket } from '../../src/domain/bucket.ts';
import { type Document, type DocumentKey, UNLIMITED } from '../../src/domain/document.ts';
import {
  bucketOfTarget,
  type EventTarget,
  type EventType,
  type NewEvent,
  newEventId,
} from '../../src/domain/event/event.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { SealedSecret } from '../../src/domain/secret.ts';
import { type Environment, isSameTenant, type Tenant } from '../../src/domain/tenant.ts';
import { digestOfImportedToken, digestToken, type TokenDigest } from '../../src/domain/token.ts';
import {
  listStart,
  type Position,
  startOfNextOrder,
  type UserGroupList,
} from '../../src/domain/user-group/cursor.ts';
import {
  type UserGroup,
  type UserGroupKey,
  userGroupKey,
  type VersionTag,
  versionTag,
} from '../../src/domain/user-group/user-group.ts';
import type { FinishedAttempt } from '../../src/domain/webhook-endpoint/delivery.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import {
  CONFIG_PAGE,
  type Command,
  type CommandKind,
  type CommandResult,
  type Config,
  type LeasedIds,
  type Query,
  type QueryKind,
  type QueryResult,
  type Store,
  StoreUnavailable,
} from '../../src/store/port.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { openStore, storeOf } from '../support/store.ts';

const CREATED_AT = 1_000;
const CHANGED_AT = 2_000;
const LIMITS = { maxBatch: 256, maxInFlight: 1, maxLingerMs: 0, maxQueued: 100 };
const NO_LIMITS = { limit: 1_000, maxBytes: 1_000_000 };

describeOnEachDatabase('A store', (kind) => {
  const opened = storeOf(kind);
  let store: Store;
  let leased: LeasedIds;
  let used = 0;
  /** Unique to each test. */
  let workspaceId = 0;

  before(async () => {
    store = opened.store;
    leased = await write({ kind: 'leaseIds', sequence: 'team_id', count: 10_000 });
  });
  beforeEach(async () => {
    workspaceId += 2;
    for (const id of [workspaceId, workspaceId + 1])
      await write({ kind: 'ensureWorkspace', workspaceId: id, name: `workspace ${id}`, now: CREATED_AT });
  });

  /** Writes the commands in as many batches as the store needs. */
  async function writeAll(commands: readonly Command[]): Promise<CommandResult[]> {
    const results = await store.write(commands);
    while (results.length < commands.length)
      results.push(...(await store.write(commands.slice(results.length))));
    return results;
  }

  async function write<Kind extends CommandKind>(command: Command<Kind>): Promise<CommandResult<Kind>> {
    return (await store.write([command as Command]))[0] as CommandResult<Kind>;
  }

  async function read<Kind extends QueryKind>(query: Query<Kind>): Promise<QueryResult<Kind>> {
    return (await store.read([query as Query]))[0] as QueryResult<Kind>;
  }

  /** Returns a key in the bucket of all keys, so that only its other parts distinguish two groups. */
  function keyOf(providedId: string, parts: Partial<UserGroupKey> = {}): UserGroupKey {
    return { bucket: 7 as Bucket, workspaceId, environment: 'Customer', providedId, ...parts };
  }

  function newGroup(key: UserGroupKey): Command<'createUserGroup'> {
    const number = used++;
    return {
      kind: 'createUserGroup',
      key,
      teamId: leased.first + number,
      lease: leased.lease,
      name: `Name of ${key.providedId}`,
      mapping: null,
      properties: null,
      suspendedAt: null,
      tokenDigest: digestToken(`token ${number}`),
      sealedToken: { keyId: 'old', ciphertext: `ciphertext ${number}` },
      now: CREATED_AT,
    };
  }

  function newImport(key: UserGroupKey, tokenName: string): Command<'importUserGroup'> {
    const claim = importedDigest(tokenName);
    return { ...newGroup(key), kind: 'importUserGroup', tokenDigest: claim, claim, issued: null };
  }

  async function create(key: UserGroupKey): Promise<UserGroup> {
    const result = await write(newGroup(key));
    assert.ok(result !== 'unsettled' && result.created);
    return result.userGroup;
  }

  async function createAll(keys: readonly UserGroupKey[]): Promise<UserGroup[]> {
    const groups: UserGroup[] = [];
    for (const key of keys) groups.push(await create(key));
    return groups;
  }

  function rotation(userGroup: UserGroup): Command<'rotateToken'> {
    const { tokenDigest, sealedToken } = newGroup(userGroup);
    return {
      kind: 'rotateToken',
      bucket: userGroup.bucket,
      providedId: userGroup.providedId,
      teamId: userGroup.teamId,
      currentDigest: userGroup.tokenDigest,
      forgottenDigest: userGroup.previousTokenDigest,
      tokenDigest,
      sealedToken,
      previousTokenExpiresAt: CHANGED_AT + 1,
      now: CHANGED_AT,
    };
  }

  function reseal(userGroup: UserGroup, expected: SealedSecret): Command<'resealToken'> {
    const sealedToken = { keyId: 'new', ciphertext: `${userGroup.sealedToken.ciphertext}, resealed` };
    return { kind: 'resealToken', key: userGroup, expected, sealedToken };
  }

  function update(key: UserGroupKey, name: string, ifMatch?: VersionTag[]): Command<'updateUserGroup'> {
    return {
      kind: 'updateUserGroup',
      key,
      name,
      now: CHANGED_AT,
      ...(ifMatch && { precondition: { ifMatch } }),
    };
  }

  function eventOf(tenant: Tenant, target: EventTarget, type: EventType, number: number): NewEvent {
    const { workspaceId, environment } = tenant;
    return {
      workspaceId,
      environment,
      bucket: bucketOfTarget(tenant, target),
      target,
      eventId: `evt_${number}`,
      type,
      occurredAt: CHANGED_AT,
      actor: { type: 'service', id: null, name: null, via: 'service' },
      requestId: null,
      endpoints: [],
    };
  }

  function deletion(
    group: UserGroupKey & Pick<UserGroup, 'sealedToken'>,
    ifMatch?: VersionTag[],
  ): Command<'deleteUserGroup'> {
    return {
      kind: 'deleteUserGroup',
      key: group,
      eraseAfter: 0,
      expected: group.sealedToken,
      ...(ifMatch && { precondition: { ifMatch } }),
    };
  }

  /** Returns the ids and versions of the events of a target, oldest first. */
  async function eventsOf(tenant: Tenant, target: EventTarget): Promise<[string, number | null][]> {
    const { events } = await read({
      kind: 'listEvents',
      tenant,
      target,
      order: 'oldest',
      type: null,
      after: null,
      scanLimit: 1_000,
      ...NO_LIMITS,
    });
    return events.map(({ eventId, version }) => [eventId, version]);
  }

  /** Returns the groups of this test's workspaces, in the order of their keys. */
  async function storedGroups(): Promise<UserGroup[]> {
    const all = await read({ kind: 'scanUserGroups', after: null, limit: 10_000 });
    return all.filter((group) => group.workspaceId === workspaceId || group.workspaceId === workspaceId + 1);
  }

  describe('isolates groups whose keys differ in only one part:', () => {
    let own: UserGroup;
    let others: UserGroup[];
    beforeEach(async () => {
      own = await create(keyOf('a'));
      others = await createAll([
        keyOf('b'),
        keyOf('a', { environment: 'Testing' }),
        keyOf('a', { workspaceId: workspaceId + 1 }),
      ]);
    });

    const changes: Record<string, () => Command> = {
      'an update': () => update(own, 'New'),
      'a deletion': () => deletion(own),
      'a rotation': () => rotation(own),
    };
    for (const [what, command] of Object.entries(changes)) {
      it(`${what} changes only its own group`, async () => {
        await write(command());
        const stored = await storedGroups();
        const unchanged = stored.filter(({ teamId }) => teamId !== own.teamId);
        assert.deepEqual(new Set(unchanged), new Set(others));
        const found = stored.find(({ teamId }) => teamId === own.teamId);
        assert.notDeepEqual(found, own);
      });
    }

    it('a reseal changes only its own group, even if other groups have the same ciphertext', async () => {
      const key = keyOf('same');
      const sealedToken = { keyId: 'old', ciphertext: `same ${workspaceId}` };
      const keys = [key, { ...key, environment: 'Testing' as Environment }];
      keys.push({ ...key, workspaceId: workspaceId + 1 }, keyOf('same too'));
      for (const each of keys) await write({ ...newGroup(each), sealedToken });
      const resealed = { keyId: 'new', ciphertext: 'resealed' };
      await write({ kind: 'resealToken', key, expected: sealedToken, sealedToken: resealed });
      const stored = await storedGroups();
      const changed = stored.filter((group) => group.sealedToken.ciphertext === 'resealed');
      assert.deepEqual(
        changed.map((group) => [group.workspaceId, group.environment, group.providedId]),
        [[workspaceId, 'Customer', 'same']],
      );
    });

    it('a lookup by key finds its own group', async () => {
      for (const group of [own, ...others]) {
        assert.deepEqual(await read({ kind: 'findUserGroup', key: group }), group);
      }
      const missing = [
        keyOf('c'),
        keyOf('b', { environment: 'Testing' }),
        keyOf('b', { workspaceId: workspaceId + 1 }),
      ];
      for (const key of missing) assert.equal(await read({ kind: 'findUserGroup', key }), null);
    });

    it('commands of one batch change one group each', async () => {
      const groups = [own, ...others];
      const updated = await store.write(groups.map((group, index) => update(group, `New ${index}`)));
      const names = (updated as UserGroup[]).map(({ teamId, name }) => [teamId, name]);
      assert.deepEqual(
        names,
        groups.map(({ teamId }, index) => [teamId, `New ${index}`]),
      );
      const rotated = await store.write((updated as UserGroup[]).map(rotation));
      assert.deepEqual(new Set(await storedGroups()), new Set(rotated));
      const creates = groups.map((key) => newGroup({ ...key, providedId: `${key.providedId}, too` }));
      const created = (await store.write(creates)) as { created: boolean; userGroup: UserGroup }[];
      assert.deepEqual(
        created.map(({ userGroup }) => userGroup.teamId),
        creates.map(({ teamId }) => teamId),
      );
      const deleted = await store.write((rotated as UserGroup[]).map((group) => deletion(group)));
      assert.deepEqual(deleted, new Array(groups.length).fill('deleted'));
      assert.equal((await storedGroups()).length, groups.length);
    });

    const ofToken = (
      { bucket, tokenDigest: digest }: UserGroup,
      tenant: Tenant | null = null,
    ): Query<'findUserGroupByToken'> => ({
      kind: 'findUserGroupByToken',
      address: { bucket, digest },
      tenant,
    });

    it('a lookup by token finds only groups of the tenant, or of any without one', async () => {
      const imported = newImport(keyOf('imported'), `imported-${workspaceId}`);
      await write(imported);
      for (const group of [own, ...others]) {
        const rotated = (await write(rotation(group))) as UserGroup;
        for (const tenant of [null, own, ...others]) {
          const isFound = tenant === null || isSameTenant(tenant, group);
          const expected = isFound ? rotated : null;
          assert.deepEqual(await read(ofToken(group, tenant)), expected);
          assert.deepEqual(await read(ofToken(rotated, tenant)), expected);
          const kind = 'findUserGroupByImportedToken';
          const found = await read({ kind, digest: imported.claim!, tenant });
          assert.equal(found !== null, tenant === null || isSameTenant(tenant, own));
        }
      }
    });

    it('a prefetched result is used only for an identical query', async () => {
      const batched = BatchingStore.create(store, { read: LIMITS, write: LIMITS });
      for (const other of others) {
        const request = batched.until(Number.POSITIVE_INFINITY);
        request.prefetch({ kind: 'findUserGroup', key: own });
        assert.deepEqual(await request.read({ kind: 'findUserGroup', key: other }), other);
        request.prefetch(ofToken(own));
        assert.deepEqual(await request.read(ofToken(other)), other);
      }
      const request = batched.until(Number.POSITIVE_INFINITY);
      request.prefetch(ofToken({ ...own, bucket: 8 as Bucket }));
      assert.deepEqual(await request.read(ofToken(own)), own);
      request.prefetch(ofToken(own, others[1]!));
      assert.deepEqual(await request.read(ofToken(own, own)), own);
    });

    const environments: Environment[] = ['Customer', 'Testing'];
    const listOf = (environment: Environment, search: string): UserGroupList => ({
      workspaceId,
      environment,
      search,
    });
    const search = async (list: UserGroupList, from: Position): Promise<string[]> => {
      const { userGroups } = await read({ kind: 'listUserGroups', list, from, ...NO_LIMITS });
      return userGroups.map((group) => `${group.workspaceId} ${group.environment} ${group.providedId}`);
    };
    const expected: Record<Environment, string[]> = { Customer: ['a', 'b'], Testing: ['a'] };

    it('a list and a search by id return the groups of one workspace and environment', async () => {
      for (const environment of environments) {
        const own = expected[environment].map((id) => `${workspaceId} ${environment} ${id}`);
        const all = listOf(environment, '');
        assert.deepEqual(await search(all, listStart(all)), own);
        const some = listOf(environment, 'a');
        assert.deepEqual(await search(some, listStart(some)), own.slice(0, 1));
      }
    });

    it('a search by name returns the groups of one workspace and environment', async () => {
      for (const environment of environments) {
        const list = listOf(environment, 'Name');
        const own = expected[environment].map((id) => `${workspaceId} ${environment} ${id}`);
        assert.deepEqual(await search(list, startOfNextOrder('id', list)!), own);
      }
    });

    it('a search for a text returns the groups of one workspace and environment', async () => {
      for (const environment of environments) {
        const from = { name: '', providedId: '' };
        const bounds = { text: 'name', scanLimit: 100, limit: 100 };
        const tenant = { workspaceId, environment };
        const found = await read({ kind: 'searchUserGroups', tenant, from, ...bounds });
        assert.deepEqual(
          found.summaries.map(({ providedId }) => providedId),
          expected[environment],
        );
        assert.equal(found.scanned, expected[environment].length);
      }
    });

    it('a list and a search by name count only the sizes of these groups', async () => {
      const key = keyOf('large', { environment: 'Testing' });
      await write({ ...newGroup(key), name: 'Name', properties: `"${'x'.repeat(1_000)}"` as never });
      const list = listOf('Customer', 'Name');
      for (const from of [listStart({ ...list, search: '' }), startOfNextOrder('id', list)!]) {
        const tenant = from.order === 'id' ? { ...list, search: '' } : list;
        const found = await read({ kind: 'listUserGroups', list: tenant, from, limit: 10, maxBytes: 500 });
        assert.deepEqual([found.userGroups.length, found.isEnd], [2, true]);
      }
    });

    it('a count counts the groups of one workspace and environment, or the rows of all', async () => {
      const count = (tenant: Query<'countUserGroups'>['tenant']) => read({ kind: 'countUserGroups', tenant });
      assert.equal(await count({ workspaceId, environment: 'Customer' }), 2);
      assert.equal(await count({ workspaceId, environment: 'Testing' }), 1);
      assert.equal(await count({ workspaceId: workspaceId + 1, environment: 'Customer' }), 1);
      assert.equal(await count({ workspaceId: workspaceId + 1, environment: 'Testing' }), 0);
      const all = await read({ kind: 'scanUserGroups', after: null, limit: 10_000 });
      assert.equal(await read({ kind: 'countRows', table: 'user_groups' }), all.length);
    });

    it('a paged scan returns every group exactly once', async () => {
      const stored = await storedGroups();
      const paged: UserGroup[] = [];
      let last: UserGroupKey | null = keyOf('', { environment: '' as Environment });
      while (paged.length <= stored.length) {
        const query: Query<'scanUserGroups'> = { kind: 'scanUserGroups', after: last, limit: 1 };
        const [next]: UserGroup[] = await read(query);
        if (next === undefined) break;
        paged.push(next);
        last = next;
      }
      assert.deepEqual(paged, stored);
    });
  });

  describe('isolates workspaces and environments:', () => {
    const DAY = 7;
    const NEXT_CLAIM = CHANGED_AT + 9;
    const TARGET = { type: 'user_group', id: 'a' } as const;
    let own: Tenant;
    let others: Tenant[];
    let ownDelivery: string;

    const endpointOf = (tenant: Tenant) => ({ ...tenant, endpointId: 'crm' });

    /** Stores rows that differ from those of other environments only in the environment. */
    async function fill(tenant: Tenant): Promise<string> {
      const event = eventOf(tenant, TARGET, 'user_group.updated', 0);
      const eventId = newEventId(CREATED_AT);
      await write({ kind: 'recordEvent', event: { ...event, eventId, endpoints: ['crm'] } });
      const key = userGroupKey(tenant, 'a');
      const rename = {
        direction: 'from',
        otherId: 'b',
        position: 1,
        eventId: `evt_${used++}`,
        teamId: 1,
      } as const;
      await write({ kind: 'copyRenames', renames: [{ ...key, ...rename }] });
      const count = { ...key, day: DAY, kind: 'resolves', integration: '', count: 1 } as const;
      await write({ kind: 'addUsage', counts: [count] });
      await write({ kind: 'putFigures', tenant, expected: null, countingUntil: 1, counted: null });
      await write({ kind: 'setFailingSince', endpoint: endpointOf(tenant), since: 1 });
      // Another body in each environment: a replacement by the same one stores nothing.
      await write(replacement({ ...tenant, kind: 'schema', id: 'a' }, JSON.stringify(tenant)));
      return eventId;
    }

    /** Returns everything that `fill` stores. */
    async function storedOf(tenant: Tenant): Promise<object> {
      const endpoint = endpointOf(tenant);
      const page = { after: null, limit: 10, scanLimit: 10, maxBytes: 1_000 };
      const feed = { tenant, target: null, order: 'newest', type: null } as const;
      const deliveries = { endpoint, before: null, limit: 10 };
      return {
        events: (await read({ kind: 'listEvents', ...feed, ...page })).events,
        rename: await read({ kind: 'findLastRename', key: userGroupKey(tenant, 'a'), before: 10 }),
        usage: await read({ kind: 'listUsageOfDay', tenant, day: DAY, after: '', limit: 10 }),
        figures: await read({ kind: 'findFigures', tenant }),
        configVersion: await read({ kind: 'findConfigVersion', tenant }),
        documents: [...(await read({ kind: 'findConfig', tenant })).pages],
        deliveries: await read({ kind: 'listDeliveries', ...deliveries, isFailed: false }),
        failed: await read({ kind: 'listDeliveries', ...deliveries, isFailed: true }),
        firstFailedAt: await read({ kind: 'findFirstFailedAt', endpoint }),
        health: await read({ kind: 'findEndpointHealth', endpoint, atMost: 10 }),
      };
    }

    beforeEach(async () => {
      own = { workspaceId, environment: 'Customer' };
      others = [
        { workspaceId, environment: 'Testing' },
        { workspaceId: workspaceId + 1, environment: 'Customer' },
      ];
      ownDelivery = await fill(own);
      for (const other of others) await fill(other);
    });

    const MANY = 1_000;
    const replacement = (key: DocumentKey, body: string): Command<'putDocument'> => ({
      kind: 'putDocument',
      key,
      body: body as JsonText,
      limit: UNLIMITED,
      now: CREATED_AT,
    });
    const cancellation = (tenant: Tenant): Command<'cancelDeliveries'> => ({
      kind: 'cancelDeliveries',
      endpoint: endpointOf(tenant),
      tag: null,
      error: 'disabled',
      limit: MANY,
    });
    const claim = (): Command<'claimDeliveries'> => ({
      kind: 'claimDeliveries',
      endpoint: endpointOf(own),
      due: { from: 0, to: CHANGED_AT },
      until: NEXT_CLAIM,
      limit: MANY,
    });
    const success = (): FinishedAttempt => ({
      key: { ...endpointOf(own), bucket: bucketOfTarget(own, TARGET), eventId: ownDelivery },
      claimedUntil: CHANGED_AT,
      state: 'delivered',
      nextAttemptAt: null,
      attemptedAt: CHANGED_AT,
      responseStatus: 204,
      error: null,
      attemptLog: '[]',
    });
    const changes: Record<string, () => Command> = {
      'a deletion of old events': () => ({
        kind: 'deleteOldEvents',
        tenant: own,
        before: CHANGED_AT + 1,
        limit: MANY,
      }),
      'a deletion of old events and those of a clock that was ahead': () => ({
        kind: 'deleteOldEvents',
        tenant: own,
        before: CHANGED_AT + 1,
        now: CHANGED_AT + 1,
        limit: MANY,
      }),
      'a deletion of old usage': () => ({
        kind: 'deleteOldUsage',
        tenant: own,
        before: DAY + 1,
        limit: MANY,
      }),
      'a deletion of old deliveries': () => ({
        kind: 'deleteOldDeliveries',
        endpoint: endpointOf(own),
        before: CHANGED_AT,
        limit: MANY,
      }),
      'a deletion of the deliveries of an endpoint': () => ({
        kind: 'deleteDeliveries',
        endpoint: endpointOf(own),
        limit: MANY,
      }),
      'a cancellation of deliveries': () => cancellation(own),
      'a claim of deliveries': claim,
      'an attempt of a delivery': () => ({ kind: 'finishAttempts', attempts: [success()] }),
      'a retry of a delivery': () => ({
        kind: 'retryDelivery',
        endpoint: endpointOf(own),
        eventId: ownDelivery,
        now: CHANGED_AT + 1,
      }),
      'a replacement of a document': () => replacement({ ...own, kind: 'schema', id: 'a' }, '{"name":"A"}'),
      'a deletion of a document': () => ({
        kind: 'deleteDocument',
        key: { ...own, kind: 'schema', id: 'a' },
      }),
      'a success of an endpoint': () => ({ kind: 'setFailingSince', endpoint: endpointOf(own), since: null }),
      'a start of counting': () => ({
        kind: 'putFigures',
        tenant: own,
        expected: 1,
        countingUntil: 2,
        counted: null,
      }),
    };
    for (const [what, command] of Object.entries(changes)) {
      it(`${what} changes only rows of its own environment`, async () => {
        const [before, ...unchanged] = await Promise.all([own, ...others].map(storedOf));
        await write(command());
        assert.notDeepEqual(await storedOf(own), before);
        assert.deepEqual(await Promise.all(others.map(storedOf)), unchanged);
      });
    }

    it('a claim returns only deliveries of its own endpoint', async () => {
      const { deliveries } = await write(claim());
      assert.deepEqual(
        deliveries.map(({ eventId }) => eventId),
        [ownDelivery],
      );
    });

    it('a document that only another environment has is not found', async () => {
      const key = { ...own, kind: 'schema', id: 'a' } as const;
      await write({ kind: 'deleteDocument', key });
      assert.equal(await read({ kind: 'findDocument', key }), null);
      assert.equal(await write({ kind: 'deleteDocument', key }), 'not_found');
    });

    it('a limit of documents counts only those of its own environment', async () => {
      for (const tenant of [...others, own]) {
        const key = { ...tenant, kind: 'data_source', id: 'a' } as const;
        const result = await write({ ...replacement(key, '{}'), limit: { documents: 1, bytes: 3 } });
        assert.equal(typeof result, 'object', String(result));
      }
    });

    it('a retry of failed deliveries counts only those of its own endpoint', async () => {
      for (const tenant of [own, ...others]) await write(cancellation(tenant));
      const unchanged = await Promise.all(others.map(storedOf));
      const retry = { endpoint: endpointOf(own), after: '', now: CHANGED_AT, limit: MANY };
      const retried = await write({ kind: 'retryFailedDeliveries', ...retry });
      assert.deepEqual(retried, { retried: 1, hasMore: false });
      assert.deepEqual(await Promise.all(others.map(storedOf)), unchanged);
    });
  });

  describe('returns results in the order of:', () => {
    const bucket = (number: number) => ({ bucket: number as Bucket });
    let groups: Record<'a' | 'b' | 'c', UserGroup>;
    beforeEach(async () => {
      const keys = [keyOf('c', bucket(1)), keyOf('a', bucket(2)), keyOf('b', bucket(3))];
      const [c, a, b] = (await createAll(keys)) as [UserGroup, UserGroup, UserGroup];
      groups = { a, b, c };
    });
    const missing = (number: number) => keyOf('missing', bucket(number));
    const teamIdsOf = (results: readonly unknown[]) =>
      results.map((result) => (result as UserGroup | null)?.teamId ?? null);

    it('queries of several kinds, some without a match', async () => {
      const { a, b, c } = groups;
      const rotated = (await write(rotation(b))) as UserGroup;
      const imported = newImport(keyOf('imported', bucket(4)), `imported-${workspaceId}`);
      await write(imported);
      const by = (key: UserGroupKey): Query => ({ kind: 'findUserGroup', key });
      const byToken = (key: UserGroupKey, digest: TokenDigest): Query => ({
        kind: 'findUserGroupByToken',
        address: { bucket: key.bucket, digest },
        tenant: null,
      });
      const results = await store.read([
        by(missing(1)),
        byToken(a, digestToken('unknown')),
        by(b),
        byToken(b, b.tokenDigest),
        { kind: 'findImportedToken', digest: importedDigest('unknown') },
        by(a),
        byToken(b, rotated.tokenDigest),
        by(missing(2)),
        { kind: 'findImportedToken', digest: imported.claim! },
        byToken(c, a.tokenDigest),
        byToken(c, c.tokenDigest),
        by(c),
        by(b),
        byToken(a, a.tokenDigest),
      ]);
      assert.deepEqual([results[4], results[8]], [null, 4]);
      assert.deepEqual(teamIdsOf(results.filter((_, index) => index !== 4 && index !== 8)), [
        ...[null, null, b.teamId, b.teamId, a.teamId, b.teamId],
        ...[null, null, c.teamId, c.teamId, b.teamId, a.teamId],
      ]);
    });

    it('lookups of API tokens', async () => {
      const tokens = [1, 2].map((number) => ({
        apiTokenId: 2 * workspaceId + number,
        workspaceId,
        environment: 'Customer' as const,
        permission: 'read-only' as const,
        name: null,
        digest: digestToken(`API token ${workspaceId} ${number}`),
        previousDigest: null,
        previousExpiresAt: null,
        createdAt: CREATED_AT,
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: null,
      }));
      for (const token of tokens) await write({ kind: 'createApiToken', ...token });
      const [first, second] = tokens;
      const digests = [digestToken('unknown'), second!.digest, first!.digest, second!.digest];
      const results = await store.read(digests.map((digest) => ({ kind: 'findApiToken', digest })));
      const [found, foundSecond] = [first, second].map((token) => ({ ...token, configVersion: 0 }));
      assert.deepEqual(results, [null, foundSecond, found, foundSecond]);
    });

    it('creates, some of an existing group', async () => {
      const { a } = groups;
      const commands = [
        newGroup(keyOf('y', bucket(9))),
        newGroup(a),
        newGroup(keyOf('x', bucket(8))),
        newGroup(keyOf('y', bucket(9))),
      ];
      const results = (await store.write(commands)) as { created: boolean; userGroup: UserGroup }[];
      assert.deepEqual(
        results.map(({ created, userGroup }) => [created, userGroup.teamId]),
        [
          [true, commands[0]!.teamId],
          [false, a.teamId],
          [true, commands[2]!.teamId],
          [false, commands[0]!.teamId],
        ],
      );
    });

    it('imports, some of an existing group or with a token that is taken', async () => {
      const { a } = groups;
      const [token, other] = [`one-${workspaceId}`, `two-${workspaceId}`];
      const commands = [
        newImport(keyOf('y', bucket(9)), token),
        newImport(a, `three-${workspaceId}`),
        newImport(keyOf('z', bucket(6)), token),
        newImport(keyOf('x', bucket(8)), other),
      ];
      const results = await store.write(commands);
      const outcomes = (results as CommandResult<'importUserGroup'>[]).map((result) =>
        typeof result === 'string' ? result : [result.created, result.userGroup.teamId],
      );
      assert.deepEqual(outcomes, [
        [true, commands[0]!.teamId],
        [false, a.teamId],
        'token_taken',
        [true, commands[3]!.teamId],
      ]);
    });

    it('updates and deletions, some of a missing group or another version', async () => {
      const { a, b, c } = groups;
      const updated = await store.write([
        update(missing(5), 'New'),
        update(b, 'New', [versionTag({ teamId: 0, version: 1 })]),
        update(c, 'New c'),
        update(a, 'New a', [versionTag(a)]),
      ]);
      assert.deepEqual(updated.slice(0, 2), ['not_found', 'version_mismatch']);
      assert.deepEqual(
        (updated.slice(2) as UserGroup[]).map(({ teamId, name }) => [teamId, name]),
        [
          [c.teamId, 'New c'],
          [a.teamId, 'New a'],
        ],
      );
      const deleted = await store.write([
        deletion({ ...missing(5), sealedToken: a.sealedToken }),
        deletion(b, [versionTag({ teamId: 0, version: 1 })]),
        deletion(c),
        deletion(a, [versionTag({ teamId: a.teamId, version: 2 })]),
      ]);
      assert.deepEqual(deleted, ['not_found', 'version_mismatch', 'deleted', 'deleted']);
    });

    it('updates of one group, each with an event', async () => {
      const { a, b } = groups;
      const commands = [update(a, 'First'), update(b, 'New b'), update(a, 'Second'), update(a, 'Third')];
      const updated = (await store.write(
        commands.map((command, index) => ({
          ...command,
          event: eventOf(
            command.key,
            { type: 'user_group', id: command.key.providedId },
            'user_group.updated',
            index,
          ),
        })),
      )) as UserGroup[];
      assert.deepEqual(
        updated.map(({ name, version }) => [name, version]),
        [
          ['First', 2],
          ['New b', 2],
          ['Second', 3],
          ['Third', 4],
        ],
      );
      assert.deepEqual(await eventsOf(a, { type: 'user_group', id: a.providedId }), [
        ['evt_0', 2],
        ['evt_2', 3],
        ['evt_3', 4],
      ]);
    });

    it('replacements of one document, each with an event, before those of a later batch', async () => {
      const key = { workspaceId, environment: 'Customer', kind: 'property_schema', id: 'default' } as const;
      const target: EventTarget = { type: 'property_schema', id: key.id };
      const numbers = Array.from({ length: LIMITS.maxBatch }, (_, index) => index + 1);
      const puts = numbers.map(
        (n): Command => ({
          kind: 'putDocument',
          key,
          body: `{"n":${n}}` as JsonText,
          limit: { documents: 1, bytes: 1_000 },
          now: CHANGED_AT,
          event: eventOf(key, target, 'property_schema.updated', n),
        }),
      );
      const writing = writeAll(puts.slice(0, -1));
      // These transactions start later and end earlier.
      for (const name of ['first', 'second', 'third'])
        await write({ kind: 'renameWorkspace', workspaceId, from: `workspace ${workspaceId}`, to: name });
      const results = [...(await writing), ...(await writeAll(puts.slice(-1)))];
      assert.deepEqual(
        (results as { document: Document }[]).map(({ document }) => document.body),
        numbers.map((n) => `{"n":${n}}`),
      );
      assert.deepEqual(
        await eventsOf(key, target),
        numbers.map((n) => [`evt_${n}`, n]),
      );
    });

    it('rotations and reseals, some of an outdated token', async () => {
      const { a, b, c } = groups;
      const resealed = await store.write([
        reseal(b, { keyId: 'old', ciphertext: 'another' }),
        reseal(c, c.sealedToken),
        reseal(a, a.sealedToken),
      ]);
      assert.deepEqual(resealed, [false, true, true]);
      const rotated = await store.write([
        { ...rotation(b), currentDigest: digestToken('another') },
        rotation(a),
        rotation(c),
      ]);
      assert.deepEqual(teamIdsOf(rotated), [null, a.teamId, c.teamId]);
    });
  });

  describe('compares and sets:', () => {
    let group: UserGroup;
    beforeEach(async () => {
      group = await create(keyOf('a'));
    });

    it('a rotation replaces the token, and keeps the replaced one with its expiry', async () => {
      const command = rotation(group);
      const expected: UserGroup = {
        ...group,
        version: 2,
        tokenDigest: command.tokenDigest,
        sealedToken: command.sealedToken,
        previousTokenDigest: group.tokenDigest,
        previousTokenExpiresAt: command.previousTokenExpiresAt,
        updatedAt: CHANGED_AT,
      };
      assert.deepEqual(await write(command), expected);
      assert.deepEqual(await storedGroups(), [expected]);
    });

    const outdatedRotations: Record<string, (command: Command<'rotateToken'>) => Command<'rotateToken'>> = {
      'another token': (command) => ({ ...command, currentDigest: digestToken('another') }),
      'another version': (command) => ({
        ...command,
        precondition: { ifMatch: [versionTag({ teamId: command.teamId, version: 2 })] },
      }),
      'another bucket': (command) => ({ ...command, bucket: 8 as Bucket }),
      // The group was deleted, and its token was imported for another group.
      'another team_id': (command) => ({ ...command, teamId: command.teamId + 1 }),
    };
    for (const [what, outdated] of Object.entries(outdatedRotations)) {
      it(`a rotation of ${what} changes nothing`, async () => {
        assert.equal(await write(outdated(rotation(group))), null);
        assert.deepEqual(await storedGroups(), [group]);
      });
    }

    it('the first of two rotations of one token in one batch wins', async () => {
      const commands = [rotation(group), rotation(group)];
      const results = (await store.write(commands)) as (UserGroup | null)[];
      assert.deepEqual(
        results.map((result) => result?.tokenDigest),
        [commands[0]!.tokenDigest, undefined],
      );
    });

    it('a reseal changes only the ciphertext of the token', async () => {
      const command = reseal(group, group.sealedToken);
      assert.equal(await write(command), true);
      assert.deepEqual(await storedGroups(), [{ ...group, sealedToken: command.sealedToken }]);
    });

    it('a reseal does not change a token that was rotated since, under the same key', async () => {
      const rotated = (await write(rotation(group))) as UserGroup;
      assert.equal(rotated.sealedToken.keyId, group.sealedToken.keyId);
      assert.equal(await write(reseal(group, group.sealedToken)), false);
      assert.deepEqual(await storedGroups(), [rotated]);
    });

    it('a reseal does not change a token that is encrypted under another key', async () => {
      const expected = { ...group.sealedToken, keyId: 'another' };
      assert.equal(await write(reseal(group, expected)), false);
      assert.deepEqual(await storedGroups(), [group]);
    });
  });

  it('gives a configuration another version when a secret in it is resealed, because processes keep it', async () => {
    const tenant: Tenant = { workspaceId, environment: 'Customer' };
    const key = { ...tenant, kind: 'integration', id: 'a' } as const;
    const expected = { keyId: 'old', ciphertext: 'sealed' };
    const document = { key, body: '{}' as JsonText, secret: expected, limit: UNLIMITED, now: CREATED_AT };
    await write({ kind: 'putDocument', ...document });
    const version = await read({ kind: 'findConfigVersion', tenant });
    const secret = { keyId: 'new', ciphertext: 'resealed' };
    assert.equal(await write({ kind: 'resealDocument', key, expected, secret }), true);
    assert.notEqual(await read({ kind: 'findConfigVersion', tenant }), version);
    assert.equal(await write({ kind: 'resealDocument', key, expected, secret }), false);
  });

  it('returns the documents of one version, although they change while their pages are read', async () => {
    const tenant: Tenant = { workspaceId, environment: 'Customer' };
    const idOf = (index: number) => `source-${String(index).padStart(5, '0')}`;
    const documents = Array.from(
      { length: 3 * CONFIG_PAGE },
      (_, index): Document => ({
        ...{ ...tenant, kind: 'data_source', id: idOf(index), version: 1, body: '{"n":1}' as JsonText },
        ...{ secret: null, createdAt: CREATED_AT, updatedAt: CREATED_AT },
      }),
    );
    await write({ kind: 'copyDocuments', documents });
    const [version] = await store.read([{ kind: 'findConfigVersion', tenant }]);
    const [config] = (await store.read([{ kind: 'findConfig', tenant }])) as [Config];
    const found: Document[] = [];
    for (const page of config.pages) {
      assert.ok(page.length <= CONFIG_PAGE);
      found.push(...page);
      for (const document of documents.slice(-2)) {
        await write({
          ...{ kind: 'putDocument', key: document, body: `{"n":${found.length}}` as JsonText },
          ...{ limit: { documents: 10_000, bytes: 1_000_000 }, now: CHANGED_AT },
        });
      }
    }
    assert.ok(config.version > 0);
    assert.equal(config.version, version);
    assert.deepEqual(found, documents);
    const [changed] = (await store.read([{ kind: 'findConfig', tenant }])) as [Config];
    const bodies = [...changed.pages].flat().map(({ body }) => body);
    assert.deepEqual(new Set(bodies.slice(-2)), new Set([`{"n":${documents.length}}`]));
  });

  it('removes the ids of token keys, but keeps those of keys in use', async () => {
    const keyIds = ['active', 'used', 'unused'];
    for (const keyId of keyIds) await write({ kind: 'addTokenKeyId', keyId, now: CREATED_AT });
    await write({ ...newGroup(keyOf('a')), sealedToken: { keyId: 'used', ciphertext: 'ciphertext' } });
    await write({ kind: 'removeTokenKeyIds', keep: 'active' });
    const kept = await read({ kind: 'listTokenKeyIds' });
    assert.deepEqual(
      kept.filter((id) => keyIds.includes(id)),
      ['active', 'used'],
    );
  });

  it('copies a group with both of its imported tokens', async () => {
    const current = importedDigest(`current-${workspaceId}`);
    const previous = importedDigest(`previous-${workspaceId}`);
    const { teamId, sealedToken } = newGroup(keyOf('a'));
    const userGroup: UserGroup = {
      ...keyOf('a'),
      teamId,
      name: 'Copied',
      mapping: null,
      properties: null,
      version: 5,
      tokenDigest: current,
      sealedToken,
      previousTokenDigest: previous,
      previousTokenExpiresAt: CHANGED_AT,
      createdAt: CREATED_AT,
      updatedAt: CHANGED_AT,
      suspendedAt: CHANGED_AT,
      lastSeenAt: CREATED_AT,
    };
    await write({ kind: 'copyUserGroups', userGroups: [userGroup] });
    assert.deepEqual(await storedGroups(), [userGroup]);
    for (const digest of [current, previous]) {
      assert.equal(await read({ kind: 'findImportedToken', digest }), userGroup.bucket);
    }
    await write(deletion(userGroup));
    for (const digest of [current, previous]) {
      assert.equal(await read({ kind: 'findImportedToken', digest }), null);
    }
  });

  it('returns the floor to which the positions of events were raised, for a further copy', async () => {
    const floor = 2 ** 41;
    for (const raised of [floor, floor - 1]) {
      await write({ kind: 'raiseEventFloor', floor: raised });
      assert.equal(await read({ kind: 'findEventFloor' }), floor);
    }
  });

  it('is unavailable to queries and commands after it is closed', async () => {
    await using database = await kind.create();
    const closed = await openStore(database.url);
    await closed.close();
    await assert.rejects(async () => closed.read([{ kind: 'ping' }]), StoreUnavailable);
    await assert.rejects(async () => closed.write([{ kind: 'pingWrite' }]), StoreUnavailable);
  });

  describe('rolls back a batch if one command fails:', () => {
    const bad = { name: null as unknown as string };
    const never = { now: null as unknown as number };
    const batches: Record<string, () => Promise<Command[]>> = {
      creates: async () => [newGroup(keyOf('x')), { ...newGroup(keyOf('y')), ...bad }, newGroup(keyOf('z'))],
      imports: async () => [
        newImport(keyOf('x'), `x-${workspaceId}`),
        { ...newImport(keyOf('y'), `y-${workspaceId}`), ...bad },
      ],
      'updates of one group': async () => {
        const key = await create(keyOf('x'));
        return [update(key, 'First'), { ...update(key, 'Second'), ...never }];
      },
      'updates of two groups': async () => {
        const [x, y] = await createAll([keyOf('x'), keyOf('y')]);
        return [update(x!, 'First'), { ...update(y!, 'Second'), ...never }];
      },
      rotations: async () => {
        const [x, y] = await createAll([keyOf('x'), keyOf('y')]);
        return [rotation(x!), { ...rotation(y!), ...never }];
      },
    };
    for (const [what, createBatch] of Object.entries(batches)) {
      it(what, async () => {
        const batch = await createBatch();
        const before = await storedGroups();
        await assert.rejects(
          async () => store.write(batch),
          (error: Error) => !(error instanceof StoreUnavailable) && /not.null/i.test(error.message),
        );
        assert.deepEqual(await storedGroups(), before);
        const digest = importedDigest(`x-${workspaceId}`);
        assert.equal(await read({ kind: 'findImportedToken', digest }), null);
      });
    }

    it('the other commands still succeed for their callers', async () => {
      const causes: unknown[] = [];
      const batched = BatchingStore.create(
        store,
        { read: LIMITS, write: LIMITS },
        { onSplitBatch: (error) => causes.push(error) },
      );
      const commands = [newGroup(keyOf('x')), { ...newGroup(keyOf('y')), ...bad }, newGroup(keyOf('z'))];
      const results = await Promise.allSettled(commands.map((command) => batched.write(command)));
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.equal(causes.length, 1);
      assert.match(String(causes[0]), /not.null/i);
      const stored = await storedGroups();
      assert.deepEqual(
        stored.map(({ providedId, teamId }) => [providedId, teamId]),
        [
          ['x', commands[0]!.teamId],
          ['z', commands[2]!.teamId],
        ],
      );
    });
  });
});

function importedDigest(name: string): TokenDigest {
  return digestOfImportedToken(`issued-by-another-system-${name}`)!;
}
