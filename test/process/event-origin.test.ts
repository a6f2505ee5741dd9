// Commands write events as calls do, with the command line as the actor, and no event contains a token, a
// key, a digest or an encrypted token.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { databaseOf, describeOnEachDatabase } from '../support/database.ts';
import { createApiToken, Folder, runHosted, serve } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const OPERATOR = '{"type":"command_line","id":null,"name":null,"via":"command_line"}';
const IMPORTED = 'imported-token-of-another-system-0001';

describeOnEachDatabase('The events of commands', (kind) => {
  const database = databaseOf(kind);
  const folder = Folder.of();

  const command = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runHosted(folder, args, { env: database.env });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const events = () => runSql(database, 'select * from events order by position, event_id');

  it('are one for each API token and each imported group', async () => {
    const { token } = await createApiToken(folder, [], { env: database.env });
    const created = JSON.parse(
      await command('api-token', 'create', '--workspace', 'default', '--permission', 'read-only', '--json'),
    );
    const lines = (name: string) =>
      ['a', 'b'].map((id) =>
        JSON.stringify({ user_group_id: id, name, ...(id === 'a' && { token: IMPORTED }) }),
      );
    const file = folder.join('groups.ndjson');
    for (const [name, ...options] of [['First'], ['First'], ['Second', '--update'], ['Second', '--update']]) {
      writeFileSync(file, lines(name!).join('\n'));
      await command('import', 'groups.ndjson', '--workspace', 'default', ...options);
    }
    const id = String(created.id ?? created.api_token.id);
    await command('api-token', 'revoke', id);
    await command('api-token', 'revoke', id);
    const rows = await events();
    assert.deepEqual(
      rows.map(({ type, target_id, version }) => [
        type,
        target_id,
        version === null ? null : Number(version),
      ]),
      [
        ['api_token.created', '1', null],
        ['api_token.created', id, null],
        ['user_group.created', 'a', 1],
        ['user_group.created', 'b', 1],
        ['user_group.updated', 'a', 2],
        ['user_group.updated', 'b', 2],
        ['api_token.revoked', id, null],
      ],
    );
    for (const { actor, request_id } of rows) assert.deepEqual([actor, request_id], [OPERATOR, null]);
    await using service = await serve(folder, { env: database.env });
    await service.call(token, 'POST', '/api/user', { current_token: IMPORTED, grace_period_seconds: 60 });
    await service.call(token, 'POST', '/v1/user-groups/b/rotate', {});
    await service.call(token, 'DELETE', '/v1/user-groups/b');
    assert.equal((await events()).length, 10);
  });

  it('contain no secrets', async () => {
    const groups = await runSql(database, 'select * from user_groups');
    const tokens = await runSql(database, 'select digest from api_tokens');
    const secrets = [
      IMPORTED,
      ...tokens.map(({ digest }) => digest),
      ...groups.flatMap((group) => [group.token_digest, group.token_ciphertext, group.previous_token_digest]),
    ].filter((secret) => typeof secret === 'string');
    assert.ok(secrets.length >= 6);
    for (const table of ['events', 'deliveries']) {
      const text = JSON.stringify(await runSql(database, `select * from ${table}`));
      assert.doesNotMatch(text, /ug[ta]_[0-9A-Za-z]{8}|[0-9a-f]{8}:[A-Za-z0-9_-]{43}/);
      for (const secret of secrets) assert.ok(!text.includes(secret.replace(/^~/, '')), secret);
    }
  });
});
