import type { Mutant } from '../mutant.ts';

const authenticate = 'src/operations/api-token/authenticate.ts';
const context = 'src/operations/context.ts';
const copy = 'src/operations/database/copy.ts';
const exporting = 'src/operations/user-group/export.ts';
const cpuQueue = 'src/operations/machinery/cpu-queue.ts';
const fairQueue = 'src/scheduling/fair-queue.ts';
const filteredPage = 'src/operations/user-group/filtered-page.ts';
const getOrCreate = 'src/operations/user-group/get-or-create.ts';
const idLease = 'src/operations/machinery/id-lease.ts';
const importing = 'src/operations/user-group/import.ts';
const keyedMutex = 'src/operations/machinery/keyed-mutex.ts';
const list = 'src/operations/user-group/list.ts';
const patch = 'src/operations/user-group/patch.ts';
const read = 'src/operations/user-group/read.ts';
const reencrypt = 'src/operations/database/reencrypt.ts';
const replaceToken = 'src/operations/user-group/replace-token.ts';
const resolve = 'src/operations/user-group/resolve.ts';
const rotate = 'src/operations/user-group/rotate.ts';
const usage = 'src/operations/machinery/usage.ts';
const validator = 'src/operations/property-schema/validator';

export const operations: readonly Mutant[] = [
  {
    name: 'documents: the bytes of a kind are unlimited',
    file: 'src/domain/document.ts',
    find: "return growth > 0 && total.bytes + growth > limit.bytes ? 'bytes' : null;",
    replace: 'return null;',
    tests: ['test/document/document-limit.test.ts'],
  },
  {
    name: 'documents: a resolution may have any size',
    file: 'src/operations/catalogue/catalogue.ts',
    find: 'if (bytes > MAX_RESOLVED_BYTES) throw',
    replace: 'if (bytes < 0) throw',
    tests: ['test/document/document-limit.test.ts'],
  },
  {
    name: 'a tenant keeps its turn while it has more work',
    file: fairQueue,
    find: 'this.#queues.delete(tenant);',
    replace: 'if (queue.length === 0) this.#queues.delete(tenant);',
    tests: ['test/scheduling/fair-queue.test.ts', 'test/machinery/cpu-queue.test.ts'],
  },
  {
    name: 'large work waits for a number of turns, however long they are',
    file: cpuQueue,
    find: ' && now < this.#freeUntil',
    replace: '',
    tests: ['test/machinery/cpu-queue.test.ts'],
  },
  {
    name: 'a page of events may be larger than its limit',
    file: 'src/operations/event/list.ts',
    find: 'if (bytes >= limits.pageBytes)',
    replace: 'if (bytes < 0)',
    tests: ['test/event/event.test.ts'],
  },
  {
    name: 'get or create: the loser of a race gets no drift',
    file: getOrCreate,
    find: 'drift: driftOf(body, group.userGroup)',
    replace: 'drift: []',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'get or create: a group created by an earlier attempt counts as existing',
    file: getOrCreate,
    find: ' || tried.includes(userGroup.teamId)',
    replace: '',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'import: a line whose group was deleted concurrently counts as updated',
    file: importing,
    find: "typeof updated === 'object' ? result : deleted()",
    replace: 'result',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'authentication does not compare the digest that the database returned',
    file: authenticate,
    find: 'if (sameDigest(token.digest, digest)) return null;',
    replace: 'if (token.previousDigest !== digest) return null;',
    tests: ['test/api-token/authentication.test.ts'],
    equivalent: 'the database finds the token by this digest; the comparison guards against a defect there',
  },
  {
    name: 'a token rotates in another workspace',
    file: context,
    find: 'return userGroup.workspaceId === caller.workspaceId && userGroup.environment === caller.environment;',
    replace: 'return userGroup.environment === caller.environment;',
    tests: ['test/user-group/rotate.test.ts'],
  },
  {
    name: 'a token rotates in another environment',
    file: context,
    find: 'return userGroup.workspaceId === caller.workspaceId && userGroup.environment === caller.environment;',
    replace: 'return userGroup.workspaceId === caller.workspaceId;',
    tests: ['test/user-group/rotate.test.ts'],
  },
  {
    name: 'a read-only API token creates groups',
    file: getOrCreate,
    find: "permit(caller, ['read-write'], 'create a user group');",
    replace: '',
    tests: ['test/api-token/environment.test.ts'],
  },
  {
    name: 'get or create: the loser of a race returns its own token',
    file: getOrCreate,
    find: 'token: isSealedHere ? token : openToken(context, userGroup).token,',
    replace: 'token,',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'get or create: the loser of a race reports a new group',
    file: getOrCreate,
    find: 'created: result.created || tried.includes(userGroup.teamId),',
    replace: 'created: true,',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'drift: the order of keys counts',
    file: getOrCreate,
    find: '!sameJson(text, stored[field])',
    replace: 'text !== stored[field]',
    tests: ['test/user-group/get-or-create.test.ts'],
  },
  {
    name: 'a replaced token is still valid at the end of its grace period',
    file: resolve,
    find: 'expiresAt <= now',
    replace: 'expiresAt < now',
    tests: ['test/user-group/rotate.test.ts'],
  },
  {
    name: 'rotation is not safe to retry',
    file: rotate,
    find: 'if (userGroup.tokenDigest !== digest) return openToken(context, userGroup);',
    replace: 'if (userGroup.tokenDigest !== digest) throw tokenNotFound();',
    tests: ['test/user-group/rotate.test.ts'],
  },
  {
    name: 'a rotation without a grace period relies on the clock',
    file: replaceToken,
    find: 'gracePeriodSeconds === 0 ? null : now + gracePeriodSeconds * 1_000',
    replace: 'now + gracePeriodSeconds * 1_000',
    tests: ['test/user-group/rotate.test.ts'],
  },
  {
    name: 'a grace period of 0 means the default of the server',
    file: replaceToken,
    find: 'const now = clock();',
    replace: 'gracePeriodSeconds ||= context.defaultGracePeriodSeconds;\n  const now = clock();',
    tests: ['test/user-group/rotate.test.ts'],
  },
  {
    name: 'a rotation does not check the workspace and environment',
    file: rotate,
    find: 'found === null || !isVisible(found.userGroup, caller)',
    replace: 'found === null',
    tests: ['test/user-group/rotate.test.ts'],
  },
  {
    name: 'a read-only API token reads tokens',
    file: read,
    find: "return isPermitted(caller, ['read-write']) ?",
    replace: 'return true ?',
    tests: ['test/user-group/read.test.ts'],
  },
  {
    name: 'a patch ignores If-Match',
    file: patch,
    find: 'if (!isMet(precondition, stored)) throw versionMismatch();',
    replace: '',
    tests: ['test/user-group/patch.test.ts'],
  },
  {
    name: 'a patch overwrites a concurrent change',
    file: patch,
    find: 'precondition: { ifMatch: [versionTag(stored)] },',
    replace: '',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'changes of one group are not serialised within a process',
    file: keyedMutex,
    find: 'if (previous !== undefined) await store.inTime(previous);',
    replace: '',
    tests: ['test/user-group/patch.test.ts'],
  },
  {
    name: 'a filtered page skips the matches that do not fit on it',
    file: filteredPage,
    find: 'next: page.length < found.length ? page.at(-1)!.after : next,',
    replace: 'next,',
    tests: ['test/user-group/list-filter.test.ts'],
  },
  {
    name: 'a filtered page scans without a bound',
    file: filteredPage,
    find: 'const MAX_READS = 5;',
    replace: 'const MAX_READS = 5_000;',
    tests: ['test/user-group/list-filter.test.ts'],
  },
  {
    name: 'a resolved token is marked again within the hour',
    file: usage,
    find: 'if (last !== null && last > now - HOUR_MS) return false;',
    replace: '',
    tests: ['test/user-group/last-seen.test.ts'],
  },
  {
    name: 'a full last page has a cursor',
    file: list,
    find: 'limit: limit + 1 - found.length,',
    replace: 'limit: limit - found.length,',
    tests: ['test/user-group/list.test.ts'],
  },
  {
    name: 'a search lists a group twice that matches by id and by name',
    file: list,
    find: "const isListedById = order === 'name' && userGroup.providedId.startsWith(list.search);",
    replace: 'const isListedById = false;',
    tests: ['test/user-group/list.test.ts'],
  },
  {
    name: 'ids: a process uses one id more than it has leased',
    file: idLease,
    find: 'if (block.next === block.end) this.#blocks.shift();',
    replace: 'if (block.next > block.end) this.#blocks.shift();',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'ids: a lease that the database has lost is still used',
    file: idLease,
    find: 'this.#blocks = this.#blocks.filter((block) => block.lease !== lease);',
    replace: '',
    tests: ['test/faults/failover.test.ts'],
  },
  {
    name: 'import: a line whose token differs from the stored one is accepted',
    file: importing,
    find: 'if (imported !== null && !isTokenOf(stored, imported)) return tokenDiffers();',
    replace: '',
    tests: ['test/user-group/imported-token.test.ts'],
  },
  {
    name: 'import: a token replaced by a rotation counts as a different one',
    file: importing,
    find: 'digest === tokenDigest || digest === previousTokenDigest',
    replace: 'digest === tokenDigest',
    tests: ['test/process/import.test.ts'],
  },
  {
    name: 'export: the groups after the first page are missing',
    file: exporting,
    find: "from = isEnd ? null : positionAfter('id', userGroups.at(-1)!);",
    replace: 'from = null;',
    tests: ['test/load/import-round-trip.test.ts'],
  },
  {
    name: 'copy: the target leases ids that the source has issued',
    file: copy,
    find: 'await copyIds(job);',
    replace: '',
    tests: ['test/process/copy.test.ts'],
  },
  {
    name: 'reencrypt: a key still used by another process is not detected',
    file: reencrypt,
    find: 'if (others.length > 0) {',
    replace: 'if (false) {',
    tests: ['test/process/key.test.ts'],
  },
  {
    name: 'a tenant is not charged for checks that take too long',
    file: `${validator}/time-accounts.ts`,
    find: 'if (ms <= 0) return;',
    replace: 'return;',
    tests: ['test/property-schema/time-accounts.test.ts'],
  },
  {
    name: 'properties are checked in the order of their arrival, not of the time that their tenants have used',
    file: `${validator}/tenant-queue.ts`,
    find: 'return this.#usedBy(item.tenant) < this.#usedBy(other.tenant);',
    replace: 'return false;',
    tests: ['test/property-schema/tenant-queue.test.ts'],
  },
  {
    name: 'a check that a pause has interrupted counts as one that takes too long',
    file: `${validator}/validator-thread.ts`,
    find: 'if (spentMs !== null && spentMs >= running.limitMs) return',
    replace: 'if (performance.now() - running.startedAt >= running.limitMs) return',
    tests: ['test/process/pause.test.ts'],
  },
  {
    name: 'a property schema is tried with the empty object only',
    file: 'src/domain/json-schema/example.ts',
    find: 'for (const only of [null, ...examples.longestMembers()])',
    replace: 'for (const only of [])',
    tests: ['test/load/slow-property-schema.test.ts'],
  },
  {
    name: 'a property schema that times out is reported once more after every change of the configuration',
    file: 'src/operations/property-schema/timed-out-schemas.ts',
    find: 'return events[0]?.type === TYPE;',
    replace: 'return false;',
    tests: ['test/load/slow-property-schema.test.ts'],
  },
  {
    name: 'the retention of events: a failure is not reported',
    file: 'src/operations/event/retention.ts',
    find: 'this.#options.onFailure(error);',
    replace: '',
    tests: ['test/faults/retention.test.ts'],
  },
  {
    name: 'the retention of events: the lag is not looked up before the deletion',
    file: 'src/operations/event/retention.ts',
    find: `    await this.#measure();
    const purged`,
    replace: '    const purged',
    tests: ['test/faults/retention.test.ts'],
  },
  {
    name: 'the purge of events ends after a batch',
    file: 'src/operations/event/purge.ts',
    find: 'for (let deleted = BATCH; deleted === BATCH && !signal?.aborted; total += deleted) {',
    replace: 'for (let deleted = BATCH; total === 0 && deleted === BATCH; total += deleted) {',
    tests: ['test/cli/event-command.test.ts'],
  },
];
