// The command `check`, while a service is running on the same database.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { Folder, run, runHosted, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { inTerminal, linesInTerminal, noTerminal } from '../support/terminal.ts';

/** Control characters other than line feeds. */
const CONTROL = /[^\P{Cc}\n]/u;

describeOnEachDatabase('check', (database) => {
  const service = TestService.of(database);
  const folder = Folder.of();
  before(async () => {
    await service.get({ user_group_id: 'plain', name: 'Plain' });
    await service.get({
      user_group_id: 'wrong',
      name: 'W',
      mapping: { 40: 'gone' },
      properties: { plan: 7 },
    });
  });

  const check = (...args: string[]) =>
    runHosted(folder, ['check', '--workspace', 'default', ...args], { env: service.database.env });

  it('finds nothing without rules', async () => {
    const { code, stdout } = await check();
    assert.deepEqual([code, stdout], [0, 'Checked 2 user groups: none violates the rules.\n']);
  });

  it('prints each violation of a rule that is off, and exits with 65', async () => {
    const { token } = await service.apiToken({ permission: 'admin' });
    await service.call('PUT', '/v1/schemas/40', { name: 'Orders' }, { token });
    const schema = { properties: { plan: { type: 'string' } } };
    const rule = { schema, mode: 'off' };
    const put = await served(() => service.call('PUT', '/v1/property-schema', rule, { token }));
    assert.equal(put.status, 201, put.text);
    const { code, stdout } = await check('--json');
    assert.equal(code, 65);
    assert.deepEqual(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      [
        {
          user_group_id: 'wrong',
          pointer: '/mapping/40',
          detail: 'refers to a data source that does not exist',
        },
        { user_group_id: 'wrong', pointer: '/properties/plan', detail: 'must be string' },
        { checked: 2, violating: 1 },
      ],
    );
  });

  it('prints violations above the progress bar', { skip: noTerminal }, async () => {
    const { stdout } = await run(folder, ['check', '--workspace', 'default'], {
      env: service.database.env,
      command: inTerminal(folder),
    });
    const lines = linesInTerminal(stdout);
    assert.equal(lines[0], 'wrong: /mapping/40 refers to a data source that does not exist');
    assert.equal(lines[1], 'wrong: /properties/plan must be string');
    assert.match(lines[2]!, /^\[#{30}\] 100 % {2}2 of 2 user groups {2}\d+\/s$/);
    assert.equal(lines[3], 'Checked 2 user groups: 1 violates the rules.');
  });

  it('prints nothing that a terminal obeys, and one line for each violation', async () => {
    const hostile = 'a\u001b[2J\u009b31m\u202e\nChecked 0 user groups: none violates the rules.';
    await service.get({ user_group_id: 'hostile', name: 'H', mapping: { [hostile]: 'gone' } });
    const options = { env: service.database.env };
    const args = ['check', '--workspace', 'default'];
    const text = await runHosted(folder, args, options);
    const json = await runHosted(folder, [...args, '--json'], options);
    await service.call('DELETE', '/v1/user-groups/hostile');
    assert.deepEqual(
      text.stdout.split('\n').filter((line) => line.includes('Checked')),
      [
        String.raw`hostile: /mapping/a\u001b[2J\u009b31m\u202e\nChecked 0 user groups: none violates the rules. is not a schema of this environment`,
        'Checked 3 user groups: 2 violate the rules.',
      ],
    );
    assert.doesNotMatch(json.stdout, CONTROL);
    assert.equal(JSON.parse(json.stdout.split('\n')[0]!).pointer, `/mapping/${hostile}`);
  });
});
