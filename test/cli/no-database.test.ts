// A command that works on what is there makes no database where there is none: its path is mistyped, or the disk away.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Folder, run } from '../process.ts';

const commands = [
  ['api-token', 'list'],
  ['api-token', 'revoke', '1'],
  ['workspace', 'list'],
  ['key', 'reencrypt'],
  ['backup', 'groups.backup'],
  ['copy', '--from', 'sqlite:data/user-groups.db', '--to', 'sqlite:data/copied.db'],
  ['import', 'groups', '--workspace', 'acme', '--dry-run'],
  ['export', '--workspace', 'acme'],
];

describe('Where there is no database', { concurrency: 2 }, () => {
  for (const command of commands) {
    it(`"${command.join(' ')}" ends with 3 and one line, and makes none`, async () => {
      using folder = new Folder();
      writeFileSync(folder.join('groups'), '');
      const { code, stdout, stderr } = await run(folder, command);
      assert.deepEqual({ code, stdout }, { code: 3, stdout: '' });
      assert.equal(stderr, 'user-group-service: there is no database data/user-groups.db\n');
      assert.equal(existsSync(folder.join('data')), false);
    });
  }
});
