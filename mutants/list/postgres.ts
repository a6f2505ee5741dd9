import type { Mutant } from '../mutant.ts';

const apiToken = 'src/store/postgres/api-token.ts';
const begin = 'src/store/postgres/client/isolation.ts';
const commands = 'src/store/postgres/command-executors.ts';
const connection = 'src/store/postgres/client/connection.ts';
const createUserGroup = 'src/store/postgres/user-group/create.ts';
const deleteUserGroup = 'src/store/postgres/user-group/delete.ts';
const event = 'src/store/postgres/event/event.ts';
const exchange = 'src/store/postgres/client/pipeline.ts';
const failure = 'src/store/postgres/client/errors.ts';
const idBlock = 'src/store/postgres/lease-ids.ts';
const importUserGroup = 'src/store/postgres/user-group/import.ts';
const importedToken = 'src/store/postgres/user-group/imported-token.ts';
const list = 'src/store/postgres/user-group/list.ts';
const markSeen = 'src/store/postgres/user-group/mark-seen.ts';
const options = 'src/store/postgres/client/options.ts';
const pool = 'src/store/postgres/client/pool.ts';
const retry = 'src/store/postgres/client/retry.ts';
const rotate = 'src/store/postgres/user-group/rotate-token.ts';
const tokenKey = 'src/store/postgres/token-key.ts';
const update = 'src/store/postgres/user-group/update.ts';
const userGroup = 'src/store/postgres/user-group/user-group.ts';

export const postgres: readonly Mutant[] = [
  {
    name: 'PostgreSQL: the token of a suspended group resolves',
    file: userGroup,
    find: 'OF_SENT_TENANT = `suspended_at is null',
    replace: 'OF_SENT_TENANT = `true',
    tests: ['test/user-group/suspend.test.ts'],
  },
  {
    name: 'PostgreSQL: a token resolves in another workspace and environment',
    file: userGroup,
    find: 'and (user_groups.workspace_id, user_groups.environment) is not distinct from (sent.workspace_id, sent.environment)',
    replace: '',
    tests: ['test/user-group/resolve.test.ts'],
  },
  {
    name: 'PostgreSQL: a lookup by id finds the group of another workspace',
    file: userGroup,
    find: 'join user_groups using (bucket, workspace_id, environment, provided_id)',
    replace: 'join user_groups using (bucket, environment, provided_id)',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a lookup by id finds the group of the other environment',
    file: userGroup,
    find: 'join user_groups using (bucket, workspace_id, environment, provided_id)',
    replace: 'join user_groups using (bucket, workspace_id, provided_id)',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a count includes the groups of other workspaces',
    file: userGroup,
    find: 'from user_groups where workspace_id = $1 and environment = $2',
    replace: 'from user_groups where $1::bigint is not null and environment = $2',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a count includes the groups of the other environment',
    file: userGroup,
    find: 'from user_groups where workspace_id = $1 and environment = $2',
    replace: 'from user_groups where workspace_id = $1 and $2::text is not null',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: an update changes the group of the other environment too',
    file: update,
    find: 'and stored.environment = sent.environment and stored.provided_id',
    replace: 'and stored.provided_id',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a deletion deletes the group of the other environment too',
    file: deleteUserGroup,
    find: 'and stored.environment = sent.environment and stored.provided_id',
    replace: 'and stored.provided_id',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a rotation of a deleted group rotates the token of the recreated one',
    file: rotate,
    find: '\n      and stored.team_id = sent.team_id',
    replace: '',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'PostgreSQL: last_seen_at passes to a group that is created with the same id',
    file: markSeen,
    find: '\n      and stored.team_id = sent.team_id',
    replace: '',
    tests: ['test/user-group/last-seen.test.ts'],
  },
  {
    name: 'PostgreSQL: a list contains the groups of other workspaces',
    file: list,
    find: 'where workspace_id = $1 and environment = $2 and provided_id <= $3',
    replace: 'where $1::bigint is not null and environment = $2 and provided_id <= $3',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a list contains the groups of the other environment',
    file: list,
    find: 'where workspace_id = $1 and environment = $2 and provided_id <= $3',
    replace: 'where workspace_id = $1 and $2::text is not null and provided_id <= $3',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a search by name finds the groups of other workspaces',
    file: list,
    find: 'where workspace_id = $1 and environment = $2 and name <= $3',
    replace: 'where $1::bigint is not null and environment = $2 and name <= $3',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a search by name finds the groups of the other environment',
    file: list,
    find: 'where workspace_id = $1 and environment = $2 and name <= $3',
    replace: 'where workspace_id = $1 and $2::text is not null and name <= $3',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: rows are matched by position, not by ordinal',
    file: userGroup,
    find: 'for (const row of rows) {\n    const index = (row.at(-1) as number) - 1;',
    replace: 'for (const [index, row] of rows.entries()) {',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: processes lock rows in the order of calls',
    file: userGroup,
    find: 'await attempt(commands.toSorted(byKey));',
    replace: 'await attempt(commands);',
    tests: ['test/postgres/lock.test.ts'],
  },
  {
    name: 'PostgreSQL: groups that several parts of a batch change are not locked first',
    file: commands,
    find: 'const locksFirst = part === 0 && (parts.length > 1 || session.isAfterConflict);',
    replace: 'const locksFirst = false;',
    tests: ['test/postgres/lock.test.ts'],
  },
  {
    name: 'PostgreSQL: two commands on one group share a statement',
    file: commands,
    find: 'for (const name of names) next.set(name, part + 1);',
    replace: '',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: an update whose response was lost is retried',
    file: commands,
    find: 'execute: updateUserGroups,\n    partsOf: oneOfEachKey,\n    lock: lockUserGroups,\n    isRepeatable: false,',
    replace:
      'execute: updateUserGroups,\n    partsOf: oneOfEachKey,\n    lock: lockUserGroups,\n    isRepeatable: true,',
    tests: ['test/faults/lost-response.test.ts'],
  },
  {
    name: 'PostgreSQL: a deletion whose response was lost is retried',
    file: commands,
    find: 'execute: deleteUserGroups,\n    partsOf: oneOfEachKey,\n    lock: lockUserGroups,\n    isRepeatable: false,',
    replace:
      'execute: deleteUserGroups,\n    partsOf: oneOfEachKey,\n    lock: lockUserGroups,\n    isRepeatable: true,',
    tests: ['test/faults/lost-response.test.ts'],
  },
  {
    name: 'PostgreSQL: create: a retry restores a deleted group',
    file: createUserGroup,
    find: 'if (!session.isRepetition) await insert(session, firsts, stored);',
    replace: 'await insert(session, firsts, stored);',
    tests: ['test/faults/lost-response.test.ts'],
  },
  {
    name: 'PostgreSQL: create: an id of an unknown lease is used',
    file: createUserGroup,
    find: 'where (select count(*) from id_leases where lease = any ($13::text[])) = $14',
    replace: 'where (select count(*) from id_leases where lease = any ($13::text[])) <= $14',
    tests: ['test/faults/failover.test.ts'],
  },
  {
    name: 'PostgreSQL: leases of one batch get the same ids',
    file: idBlock,
    find: 'next.set(sequence, first + count);',
    replace: '',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'PostgreSQL: a rotation does not check the token that it replaces',
    file: rotate,
    find: 'where stored.bucket = sent.bucket and stored.token_digest = sent.current_digest',
    replace: 'where stored.bucket = sent.bucket',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: re-encrypting a token reverts a concurrent rotation',
    file: rotate,
    find: '\n      and stored.token_key_id = sent.expected_key_id and stored.token_ciphertext = sent.expected_ciphertext',
    replace: '',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: an imported token stays taken after two rotations',
    file: rotate,
    find: '    forgottenBy(commands.filter(({ tokenDigest }) => rotated.has(tokenDigest))),',
    replace: '    [],',
    tests: ['test/user-group/imported-token.test.ts'],
  },
  {
    name: 'PostgreSQL: an update ignores If-Match',
    file: update,
    find: '      and ${MEETS_PRECONDITION}\n',
    replace: '',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a deletion ignores If-Match',
    file: deleteUserGroup,
    find: '      and ${MEETS_PRECONDITION}\n',
    replace: '',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a rotation ignores the precondition',
    file: rotate,
    find: '      and ${MEETS_PRECONDITION}\n',
    replace: '',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: an update that changes nothing creates a new version',
    file: update,
    find: 'and (stored.name <> sent.name',
    replace: 'and (true or stored.name <> sent.name',
    tests: ['test/user-group/version.test.ts'],
  },
  {
    name: 'PostgreSQL: two imports of one token both succeed',
    file: importUserGroup,
    find: "else if (claim !== null && !claimed.has(claim)) results.set(command, 'token_taken');",
    replace: '',
    tests: ['test/user-group/imported-token.test.ts'],
  },
  {
    name: 'PostgreSQL: an import does not check tokens that were issued here',
    file: importUserGroup,
    find: "for (const command of await issuedTo(session, rest())) results.set(command, 'token_taken');",
    replace: '',
    tests: ['test/user-group/imported-token.test.ts'],
  },
  {
    name: 'PostgreSQL: imports claim tokens in the order of their lines',
    file: importedToken,
    find: 'const sorted = tokens.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));',
    replace: 'const sorted = tokens;',
    tests: ['test/postgres/lock.test.ts'],
  },
  {
    name: 'PostgreSQL: revoking an API token again changes its revocation time',
    file: apiToken,
    find: 'where api_token_id = $2 and revoked_at is null',
    replace: 'where api_token_id = $2',
    tests: ['test/cli/api-token-command.test.ts'],
  },
  {
    name: 'PostgreSQL: a key that stored tokens need is forgotten',
    file: tokenKey,
    find: 'await session.query(KEEP, [[keep, ...inUse]]);',
    replace: 'await session.query(KEEP, [[keep]]);',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'PostgreSQL: a serialization failure is not retried',
    file: failure,
    find: "const CONFLICTS = ['40001', '40P01'];",
    replace: "const CONFLICTS = ['40P01'];",
    tests: ['test/faults/conflict.test.ts'],
  },
  {
    name: 'PostgreSQL: a deadlock is not retried',
    file: failure,
    find: "const CONFLICTS = ['40001', '40P01'];",
    replace: "const CONFLICTS = ['40001'];",
    tests: ['test/faults/conflict.test.ts'],
  },
  {
    name: 'PostgreSQL: a non-idempotent command with an unknown outcome is retried',
    file: retry,
    find: "if (error.outcome === 'unknown' && !isRepeatable) throw error;",
    replace: '',
    tests: ['test/faults/lost-response.test.ts'],
  },
  {
    name: 'PostgreSQL: a retry is not marked as one',
    file: retry,
    find: "isRepetition ||= error.outcome === 'unknown';",
    replace: '',
    tests: ['test/faults/lost-response.test.ts'],
  },
  {
    name: 'PostgreSQL: a standby is queried',
    file: connection,
    find: 'if (!this.#isStandby) return;',
    replace: 'return;',
    tests: ['test/faults/failover.test.ts'],
  },
  {
    name: 'PostgreSQL: a commit that ended in a rollback counts as committed',
    file: pool,
    find: "if (command !== 'COMMIT') throw",
    replace: 'if (false) throw',
    tests: ['test/postgres/pipeline.test.ts'],
  },
  {
    name: 'PostgreSQL: a transaction uses the default isolation level of the server',
    file: begin,
    find: "export const BEGIN = 'begin isolation level read committed';",
    replace: "export const BEGIN = 'begin';",
    tests: ['test/postgres/isolation.test.ts'],
  },
  {
    name: 'PostgreSQL: quotes in values are not escaped',
    file: exchange,
    find: String.raw`const NEEDS_ESCAPE = /["\\]/;`,
    replace: String.raw`const NEEDS_ESCAPE = /[\\]/;`,
    tests: ['test/user-group/round-trip.test.ts'],
  },
  {
    name: 'PostgreSQL: control characters in an array are escaped as in JSON',
    file: exchange,
    find: 'return DIFFERS_IN_JSON.test(value) ?',
    replace: 'return false ?',
    tests: ['test/postgres/pipeline.test.ts'],
  },
  {
    name: 'PostgreSQL: statements are compiled',
    file: options,
    find: "'jit=off',",
    replace: "'jit=on',",
    tests: ['test/postgres/prepared-statement.test.ts'],
  },
  {
    name: 'PostgreSQL: the events of all targets are read for the position of one',
    file: event,
    find: 'and later.position >= ${POSITION}',
    replace: '',
    tests: ['test/postgres/prepared-statement.test.ts'],
  },
  {
    name: 'PostgreSQL: a change whose transaction has an earlier id comes before the last one in the history',
    file: event,
    find: 'case when ${IS_LATEST} then',
    replace: 'case when true then',
    tests: ['test/faults/event-feed.test.ts'],
  },
  {
    name: 'PostgreSQL: the event of a new group stores values beyond its bound',
    file: event,
    find: 'coalesce(sent.changes, ',
    replace: 'coalesce(null, ',
    tests: ['test/event/event.test.ts'],
  },
  {
    name: 'PostgreSQL: the event of a rotation has the fields of the group as its changes',
    file: event,
    find: "case when $3 = 'user_group.created' then",
    replace: 'case when $3 is not null then',
    tests: ['test/event/event.test.ts'],
  },
];
