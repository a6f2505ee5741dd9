// User groups on the command line, while a service is running on the same database.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memberChanges } from '../../src/domain/event/changes.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { type Exit, Folder, run, runHosted } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { confirmInTerminal, inTerminal, noTerminal } from '../support/terminal.ts';

const TOKEN = /ugt_[0-9A-Za-z]{20,}/;

describeOnEachDatabase('group', (database) => {
  const service = TestService.of(database);
  const folder = Folder.of();

  /** Runs a command on the groups of the workspace `default`. */
  function group(...args: string[]): Promise<Exit> {
    return runHosted(folder, ['group', ...args, '--workspace', 'default'], { env: service.database.env });
  }

  async function json(...args: string[]) {
    const { code, stdout, stderr } = await group(...args, '--json');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^[^\n]+\n$/);
    return JSON.parse(stdout);
  }

  /** Creates a group, and returns its token. */
  async function create(id: string, fields: object = {}): Promise<string> {
    const created = await service.get({ user_group_id: id, name: `Name of ${id}`, ...fields });
    return created.json.user_group.token;
  }

  async function resolve(token: string): Promise<number> {
    return (await service.resolve(token)).status;
  }

  /** Runs a command with another key ring: only commands that decrypt tokens need the right one. */
  function withOtherKeyRing(...args: string[]): Promise<Exit> {
    const env = { ...service.database.env, UGS_TOKEN_KEYS: `00000000:${'A'.repeat(43)}` };
    return runHosted(folder, ['group', ...args, '--workspace', 'default'], { env });
  }

  /** Runs `group delete` in a terminal, and confirms after the change. */
  function confirmDeletion(id: string, change?: () => Promise<unknown>): Promise<Exit> {
    const args = ['group', 'delete', id, '--workspace', 'default'];
    return confirmInTerminal(folder, args, service.database.env, id, change);
  }

  it('list prints the groups that meet every condition, with every option', async () => {
    await create('list-1', { mapping: { 40: 'lake' } });
    await create('list-2');
    await service.call('POST', '/v1/user-groups/list-2/suspend');
    const idsOf = (groups: { user_group_id: string }[]) => groups.map(({ user_group_id: id }) => id);
    const human = await group('list', '--search', 'list-');
    const [heading, first, second, ...rest] = human.stdout.split('\n');
    assert.match(heading!, /^ID +STATUS +LAST SEEN +CREATED +NAME$/);
    assert.match(first!, /^list-1 +active +- +\S+Z +Name of list-1$/);
    assert.match(second!, /^list-2 +suspended +- +\S+Z +Name of list-2$/);
    assert.deepEqual(rest, ['']);
    assert.deepEqual(idsOf(await json('list', '--search', 'LIST-', '--match', 'contains')), [
      'list-1',
      'list-2',
    ]);
    assert.deepEqual(idsOf(await json('list', '--suspended')), ['list-2']);
    assert.deepEqual(idsOf(await json('list', '--search', 'list-', '--suspended', 'false')), ['list-1']);
    assert.deepEqual(idsOf(await json('list', '--data-source', 'lake')), ['list-1']);
    const never = await json('list', '--seen-before', '2000-01-01T00:00:00Z', '--search', 'list-');
    assert.deepEqual(idsOf(never), ['list-1', 'list-2']);
    assert.deepEqual(await json('list', '--environment', 'Testing'), []);
  });

  it('list rejects invalid options with exit code 2', async () => {
    const invalid = [
      ['--match', 'contains'],
      ['--search', 'a', '--match', 'regex'],
      ['--seen-before', 'yesterday'],
      ['--suspended', 'maybe'],
    ];
    for (const args of invalid) {
      const { code, stdout, stderr } = await group('list', ...args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, /^user-group-service: /);
    }
  });

  it('show prints the fields exactly as stored, and the token only with --show-token', async () => {
    const token = await create('show', { mapping: { 40: '213' } });
    await service.call('PATCH', '/v1/user-groups/show', '{"properties":{"b":1.10,"a":9007199254740993}}');
    const shown = await withOtherKeyRing('show', 'show', '--json');
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /"mapping":\{"40":"213"\},"properties":\{"b":1\.10,"a":9007199254740993\}/);
    assert.doesNotMatch(shown.stdout, TOKEN);
    assert.equal(JSON.parse(shown.stdout).suspended_at, null);
    const table = await group('show', 'show');
    assert.match(table.stdout, /^user_group_id +show$/m);
    assert.match(table.stdout, /^properties +\{"b":1\.10,"a":9007199254740993\}$/m);
    assert.doesNotMatch(table.stdout, TOKEN);
    assert.equal((await json('show', 'show', '--show-token')).token, token);
  });

  it('show prints nothing that a terminal obeys', async () => {
    await create('hostile', { properties: { plan: '\u009b31mgold\u007f' } });
    const text = await group('show', 'hostile');
    const shown = await group('show', 'hostile', '--json');
    for (const { stdout } of [text, shown]) {
      assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u);
      assert.match(stdout, /\{"plan":"\\u009b31mgold\\u007f"\}/);
    }
  });

  it('rotate says until when the old token resolves, and prints the new one only with --show-token', async () => {
    const first = await create('rotate');
    const graceful = await group('rotate', 'rotate', '--grace-period', '1h');
    assert.match(
      graceful.stdout,
      /^Rotated the token of user group rotate\. The old token resolves until \S+Z\.\n$/,
    );
    assert.equal(await resolve(first), 200);
    const { token, previous_token_expires_at } = await json('rotate', 'rotate', '--show-token');
    assert.deepEqual(
      [previous_token_expires_at, await resolve(first), await resolve(token)],
      [null, 404, 200],
    );
    const human = await group('rotate', 'rotate', '--grace-period', '0');
    assert.equal(human.stdout, 'Rotated the token of user group rotate. The old token is no longer valid.\n');
    assert.equal(await resolve(token), 404);
    assert.equal((await group('rotate', 'rotate', '--grace-period', '31d')).code, 2);
    const keyless = await withOtherKeyRing('rotate', 'rotate');
    assert.deepEqual([keyless.code, keyless.stdout], [78, '']);
  });

  it('rename keeps the token, and refuses an id that is taken or not valid', async () => {
    const token = await create('rename');
    const { code, stdout } = await group('rename', 'rename', 'renamed');
    assert.deepEqual([code, stdout], [0, 'Renamed user group rename to renamed.\n']);
    assert.equal(await resolve(token), 200);
    await create('rename');
    const taken = await group('rename', 'rename', 'renamed');
    assert.equal(taken.code, 2);
    assert.match(taken.stderr, /user group renamed already exists/);
    assert.equal((await group('rename', 'rename', ' x')).code, 2);
    assert.equal((await group('rename', 'missing', 'x')).code, 3);
  });

  it('suspend and resume take effect with the next request, and are idempotent', async () => {
    const token = await create('suspend');
    for (let time = 0; time < 2; time++) {
      const { code, stdout, stderr } = await withOtherKeyRing('suspend', 'suspend');
      assert.deepEqual([code, stdout, stderr], [0, 'Suspended user group suspend.\n', '']);
      assert.equal(await resolve(token), 404);
    }
    const resumed = await group('resume', 'suspend', '--json');
    assert.deepEqual(JSON.parse(resumed.stdout), { user_group_id: 'suspend', suspended: false });
    assert.equal(await resolve(token), 200);
  });

  it('delete requires --yes without a terminal', async () => {
    const token = await create('delete');
    const refused = await group('delete', 'delete');
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /add --yes to confirm\n$/);
    assert.equal(await resolve(token), 200);
    const { code, stdout, stderr } = await withOtherKeyRing('delete', 'delete', '--yes');
    assert.deepEqual([code, stdout, stderr], [0, 'Deleted user group delete.\n', '']);
    assert.equal(await resolve(token), 404);
  });

  it('delete ends when a person has confirmed', { skip: noTerminal }, async () => {
    const token = await create('confirmed');
    const { code } = await confirmDeletion('confirmed');
    assert.deepEqual([code, await resolve(token)], [0, 404]);
  });

  it('delete deletes no other group that gets the id before a person confirms', {
    skip: noTerminal,
  }, async () => {
    const token = await create('swapped');
    let other = '';
    const { code, stdout } = await confirmDeletion('swapped', async () => {
      await service.call('POST', '/v1/user-groups/swapped/rename', { user_group_id: 'kept' });
      other = await create('swapped');
    });
    assert.equal(code, 2);
    assert.match(stdout, /user group swapped was changed at this moment; run the command again\r\n$/);
    assert.deepEqual([await resolve(token), await resolve(other)], [200, 200]);
  });

  it('records the command line as the actor of an event', async () => {
    await create('event');
    await group('suspend', 'event');
    const event = (await service.eventsAbout({ type: 'user_group', id: 'event' })).at(-1);
    assert.deepEqual(event?.actor, { type: 'command_line', id: null, name: null, via: 'command_line' });
    assert.equal(memberChanges(event!.changes!), '{"suspended":{"from":false,"to":true}}');
  });

  it('suggests a similar id, the other environment or a similar workspace, and exits with 3', async () => {
    await create('acme-7');
    const testing = await service.apiToken({ environment: 'Testing' });
    await service.get({ user_group_id: 'sandbox', name: 'S' }, { token: testing.token });
    const similar = await group('show', 'acme-8');
    assert.deepEqual([similar.code, similar.stdout], [3, '']);
    assert.equal(
      similar.stderr,
      'user-group-service: user group acme-8 does not exist in workspace default, Customer (did you mean acme-7?); ' +
        'run "group list" to see the user groups\n',
    );
    const other = await group('suspend', 'sandbox');
    assert.equal(other.code, 3);
    assert.match(other.stderr, /; it exists in Testing: add --environment Testing\n$/);
    assert.equal((await group('delete', 'unknown', '--yes')).code, 3);
    const misspelt = await runHosted(folder, ['group', 'list', '--workspace', 'defualt'], {
      env: service.database.env,
    });
    assert.equal(misspelt.code, 3);
    assert.match(misspelt.stderr, /workspace defualt does not exist \(did you mean default\?\)/);
  });

  describe('delete on a terminal', { skip: noTerminal }, () => {
    /** Runs `delete`, and types this line at the prompt for confirmation. */
    function deleteTyping(line: string): Promise<Exit> {
      const script = `echo ${line} | ${inTerminal(folder)} group delete typed --workspace default`;
      return run(folder, ['-c', script], { command: '/bin/sh', env: service.database.env });
    }

    it('deletes only if the id is typed', async () => {
      const token = await create('typed', { name: 'Typed\u202e' });
      const refused = await deleteTyping('yes');
      assert.equal(refused.code, 2);
      assert.match(
        refused.stdout,
        /deletes user group typed \(Typed\\u202e\) of workspace default, Customer/,
      );
      assert.match(refused.stdout, /not confirmed; nothing was changed/);
      assert.equal(await resolve(token), 200);
      const confirmed = await deleteTyping('typed');
      assert.equal(confirmed.code, 0, confirmed.stdout);
      assert.match(confirmed.stdout, /Deleted user group typed\./);
      assert.equal(await resolve(token), 404);
    });
  });
});
