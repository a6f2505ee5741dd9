// Commands that need existing data do not create a missing database: the path may be mistyped, or the disk
// not mounted.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Folder, runHosted } from '../support/process.ts';

const commands = [
  ['api-token', 'list'],
  ['api-token', 'revoke', '1'],
  ['workspace', 'list'],
  ['key', 'reencrypt'],
  ['key', 'list'],
  ['backup', 'groups.backup'],
  ['copy', '--from', 'sqlite:data/user-groups.db', '--to', 'sqlite:data/copied.db'],
  ['import', 'groups', '--workspace', 'acme', '--dry-run'],
  ['export', '--workspace', 'acme'],
];

describe('Without a database', { concurrency: 2 }, () => {
  for (const command of commands) {
    it(`"${command.join(' ')}" exits with 3 and one line, and creates no database`, async () => {
      using folder = new Folder();
      writeFileSync(folder.join('groups'), '');
      const { code, stdout, stderr } = await runHosted(folder, command);
      assert.deepEqual({ code, stdout }, { code: 3, stdout: '' });
      assert.equal(
        stderr,
        'user-group-service: database data/user-groups.db does not exist; check the path, and that its volume is mounted\n',
      );
      assert.equal(existsSync(folder.join('data')), false);
    });
  }
});
