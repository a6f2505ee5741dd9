import type { Mutant } from '../mutant.ts';

const backup = 'src/store/sqlite/schema/backup.ts';
const connection = 'src/store/sqlite/file/connection.ts';
const file = 'src/store/sqlite/file/file.ts';
const deleteUserGroup = 'src/store/sqlite/user-group/delete.ts';
const importUserGroup = 'src/store/sqlite/user-group/import.ts';
const leaseIds = 'src/store/sqlite/lease-ids.ts';
const listUserGroups = 'src/store/sqlite/user-group/list.ts';
const markSeen = 'src/store/sqlite/user-group/mark-seen.ts';
const rotateToken = 'src/store/sqlite/user-group/rotate-token.ts';
const tokenKey = 'src/store/sqlite/token-key.ts';
const updateUserGroup = 'src/store/sqlite/user-group/update.ts';
const userGroup = 'src/store/sqlite/user-group/user-group.ts';
const store = 'src/store/sqlite/store.ts';
const writerThread = 'src/store/sqlite/writer/writer-thread.ts';

export const sqlite: readonly Mutant[] = [
  {
    name: 'SQLite: the token of a suspended group resolves',
    file: userGroup,
    find: "'suspended_at is null and +workspace_id",
    replace: "'+workspace_id",
    tests: ['test/user-group/suspend.test.ts'],
  },
  {
    name: 'SQLite: a token resolves in another workspace',
    file: userGroup,
    find: 'and +workspace_id = ?',
    replace: 'and (workspace_id = ? or true)',
    tests: ['test/user-group/resolve.test.ts'],
  },
  {
    name: 'SQLite: a token resolves in another environment',
    file: userGroup,
    find: 'and +environment = ?',
    replace: 'and (environment = ? or true)',
    tests: ['test/user-group/resolve.test.ts'],
  },
  {
    name: 'SQLite: a lookup by id finds the group of another workspace',
    file: userGroup,
    find: 'where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?',
    replace: 'where bucket = ? and (workspace_id = ? or true) and environment = ? and provided_id = ?',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a lookup by id finds the group of the other environment',
    file: userGroup,
    find: 'where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?',
    replace: 'where bucket = ? and workspace_id = ? and (environment = ? or true) and provided_id = ?',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a count includes the groups of other workspaces',
    file: userGroup,
    find: 'from user_groups where workspace_id = ? and environment = ?',
    replace: 'from user_groups where (workspace_id = ? or true) and environment = ?',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a count includes the groups of the other environment',
    file: userGroup,
    find: 'from user_groups where workspace_id = ? and environment = ?',
    replace: 'from user_groups where workspace_id = ? and (environment = ? or true)',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: an update changes the group of the other environment too',
    file: updateUserGroup,
    find: 'updated_at = ?\n  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?',
    replace:
      'updated_at = ?\n  where bucket = ? and workspace_id = ? and (environment = ? or true) and provided_id = ?',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a deletion deletes the group of the other environment too',
    file: deleteUserGroup,
    find: '`delete from user_groups\n  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?',
    replace:
      '`delete from user_groups\n  where bucket = ? and workspace_id = ? and (environment = ? or true) and provided_id = ?',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a rotation of a deleted group rotates the token of the recreated one',
    file: rotateToken,
    find: 'stored?.tokenDigest === currentDigest && stored.teamId === command.teamId',
    replace: 'stored?.tokenDigest === currentDigest',
    tests: ['test/user-group/interleaving.test.ts'],
  },
  {
    name: 'SQLite: a list contains the groups of other workspaces',
    file: listUserGroups,
    find: 'where workspace_id = ? and environment = ? and provided_id >= ? and provided_id <= ?',
    replace: 'where (workspace_id = ? or true) and environment = ? and provided_id >= ? and provided_id <= ?',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a list contains the groups of the other environment',
    file: listUserGroups,
    find: 'where workspace_id = ? and environment = ? and provided_id >= ? and provided_id <= ?',
    replace: 'where workspace_id = ? and (environment = ? or true) and provided_id >= ? and provided_id <= ?',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a search by name finds the groups of other workspaces',
    file: listUserGroups,
    find: 'where workspace_id = ? and environment = ? and (name, provided_id) >= (?, ?)',
    replace: 'where (workspace_id = ? or true) and environment = ? and (name, provided_id) >= (?, ?)',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a search by name finds the groups of the other environment',
    file: listUserGroups,
    find: 'where workspace_id = ? and environment = ? and (name, provided_id) >= (?, ?)',
    replace: 'where workspace_id = ? and (environment = ? or true) and (name, provided_id) >= (?, ?)',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: last_seen_at goes backwards',
    file: markSeen,
    find: 'last_seen_at < ?1)',
    replace: 'last_seen_at > 0)',
    tests: ['test/user-group/last-seen.test.ts'],
  },
  {
    name: 'SQLite: the last page of a list has a cursor',
    file: listUserGroups,
    find: 'return { userGroups, isEnd: userGroups.length < search.limit };',
    replace: 'return { userGroups, isEnd: false };',
    tests: ['test/user-group/list.test.ts'],
  },
  {
    name: 'SQLite: a rotation does not check the token that it replaces',
    file: rotateToken,
    find: 'stored?.tokenDigest === currentDigest && stored.teamId === command.teamId',
    replace: 'stored?.teamId === command.teamId',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: an update ignores If-Match',
    file: updateUserGroup,
    find: "if (!isMet(precondition, stored)) return 'version_mismatch';\n  if (isUnchanged",
    replace: 'if (isUnchanged',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a deletion ignores If-Match',
    file: deleteUserGroup,
    find: "if (!isMet(precondition, stored)) return 'version_mismatch';\n  connection.run(DELETE",
    replace: 'connection.run(DELETE',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a rotation ignores the precondition',
    file: rotateToken,
    find: '!isCurrent || !isMet(command.precondition, stored)',
    replace: '!isCurrent',
    tests: ['test/user-group/precondition.test.ts'],
  },
  {
    name: 'SQLite: an update that changes nothing creates a new version',
    file: updateUserGroup,
    find: 'if (isUnchanged(command, stored)) return stored;',
    replace: '',
    tests: ['test/user-group/version.test.ts'],
  },
  {
    name: 'SQLite: re-encrypting a token reverts a concurrent rotation',
    file: rotateToken,
    find: 'and token_key_id = ? and token_ciphertext = ?',
    replace: 'and (token_key_id = ? or true) and (token_ciphertext = ? or true)',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: an id is leased twice',
    file: leaseIds,
    find: 'return { first: next - count, lease',
    replace: 'return { first: next - 1, lease',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'SQLite: an import does not check tokens that were issued here',
    file: importUserGroup,
    find: 'return issued !== null && findByToken(connection, issued) !== null;',
    replace: 'return false;',
    tests: ['test/user-group/imported-token.test.ts'],
  },
  {
    name: 'SQLite: an imported token stays taken after its group was deleted',
    file: deleteUserGroup,
    find: 'forgetImportedToken(connection, stored.tokenDigest);',
    replace: '',
    tests: ['test/user-group/imported-token.test.ts'],
  },
  {
    name: 'SQLite: a key that stored tokens need is forgotten',
    file: tokenKey,
    find: '\n  and not exists (select 1 from user_groups where user_groups.token_key_id = token_keys.key_id)',
    replace: '',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: a commit does not sync the log',
    file: connection,
    find: "this.#expect('synchronous', 'full', 2);",
    replace: "this.#expect('synchronous', 'normal', 1);",
    tests: ['reliability/test/power-cut.test.ts'],
  },
  {
    name: 'SQLite: a transaction that fails is not rolled back',
    file: connection,
    find: "if (this.#database.isTransaction) this.statement('rollback').run();",
    replace: "if (this.#database.isTransaction) this.statement('commit').run();",
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'SQLite: the log is not synced before the service listens',
    file: store,
    find: 'opened.syncLog();',
    replace: '',
    tests: ['reliability/test/failed-sync.test.ts'],
  },
  {
    name: 'SQLite: a file with two hard links is served',
    file,
    find: 'if (statSync(path).nlink <= 1) return;',
    replace: 'return;',
    tests: ['test/process/database-file.test.ts'],
  },
  {
    name: 'SQLite: a file that replaced the served file is written to',
    file: writerThread,
    find: 'refuseAnother(file, identity);',
    replace: '',
    tests: ['test/faults/writer-thread.test.ts'],
  },
  {
    name: 'SQLite: the writer connection is reused after a failure',
    file: writerThread,
    find: 'if (unavailable) close();',
    replace: '',
    tests: ['reliability/test/io-errors.test.ts'],
  },
  {
    name: 'SQLite: a corrupt backup is reported as successful',
    file: backup,
    find: "if (found !== 'ok') {",
    replace: 'if (false) {',
    tests: ['test/process/backup.test.ts'],
  },
];
