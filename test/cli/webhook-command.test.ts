// Webhook endpoints on the command line: the operator finds the receiver that is down, and disables its
// endpoint.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { describeOnEachDatabase, type TestDatabase } from '../support/database.ts';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  runHosted,
  type Service,
  serve,
} from '../support/process.ts';
import { suiteStack } from '../support/suite.ts';
import { confirmInTerminal, noTerminal } from '../support/terminal.ts';
import { Receiver } from '../support/webhooks/receiver.ts';

const GROUPS = 3;

describeOnEachDatabase('webhook', (kind) => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let database: TestDatabase;
  let service: Service;
  const tokens: Record<string, string> = {};

  before(async () => {
    database = stack.use(await kind.create());
    for (const [name, ...place] of [
      ['acme', '--workspace', 'acme'],
      ['globex', '--workspace', 'globex', '--environment', 'Testing', '--create-workspace'],
    ]) {
      const args = ['--permission', 'admin', ...place];
      tokens[name!] = (await createApiToken(folder, args, { env: database.env })).token;
    }
    const env = { ...database.env, UGS_WEBHOOK_ALLOW_PRIVATE: 'on' };
    service = stack.use(await serve(folder, { env }));
    const receiver = await Receiver.start();
    const { url } = receiver;
    await receiver[Symbol.asyncDispose]();
    for (const token of Object.values(tokens)) {
      await putEndpoint(token, 'down', url);
      await putEndpoint(token, 'quiet', url, ['user_group.deleted']);
      for (let group = 0; group < GROUPS; group++)
        await service.call(token, 'PUT', `/v1/user-groups/g-${group}`, { name: 'G' });
    }
  });

  async function putEndpoint(token: string, id: string, url: string, types = ['user_group.created']) {
    const body = { url, event_types: types };
    assert.equal((await service.call(token, 'PUT', `/v1/webhook-endpoints/${id}`, body)).status, 201);
  }

  async function isEnabled(token: string, id: string): Promise<boolean> {
    return (await service.call(token, 'GET', `/v1/webhook-endpoints/${id}`)).json.webhook_endpoint.enabled;
  }

  function command(...args: string[]): Promise<Exit> {
    return runHosted(folder, ['webhook', ...args], { env: database.env });
  }

  async function list(...args: string[]): Promise<Record<string, unknown>[]> {
    const { code, stdout, stderr } = await command('list', ...args, '--json');
    assert.deepEqual([code, stderr], [0, '']);
    return JSON.parse(stdout);
  }

  it('list shows the endpoints of all workspaces, their pending deliveries and since when they fail', async () => {
    await eventually('a failure of each', async () =>
      (await list('--all-workspaces', '--pending')).every(({ failing_since }) => failing_since !== null),
    );
    const all = await list('--all-workspaces');
    assert.deepEqual(
      all.map(({ workspace, environment, id, enabled, pending_deliveries }) => [
        workspace,
        environment,
        id,
        enabled,
        pending_deliveries,
      ]),
      [
        ['acme', 'Customer', 'down', true, GROUPS],
        ['acme', 'Customer', 'quiet', true, 0],
        ['globex', 'Testing', 'down', true, GROUPS],
        ['globex', 'Testing', 'quiet', true, 0],
      ],
    );
    assert.equal(all[1]!.failing_since, null);
    assert.equal(typeof all[0]!.workspace_id, 'number');
    const pending = await list('--workspace', 'globex', '--pending');
    assert.deepEqual(pending, [all[2]]);
    assert.deepEqual(await list('--workspace', 'globex', '--environment', 'Customer'), []);
  });

  it('list prints a table for people', async () => {
    const { code, stdout } = await command('list', '--workspace', 'acme');
    assert.equal(code, 0);
    assert.match(stdout, /^WORKSPACE {2}ENVIRONMENT {2}ID +STATUS +PENDING +FAILING SINCE +URL\n/);
    assert.match(stdout, /^acme +Customer +down +enabled +3 +20\S+Z +http:\/\/127\.0\.0\.1:\d+\/webhooks$/m);
  });

  it('needs a workspace that exists, or all', async () => {
    for (const [code, message, ...args] of [
      [2, /name a workspace with --workspace, or use --all-workspaces/, 'list'],
      [2, /cannot be used with option/, 'list', '--workspace', 'acme', '--all-workspaces'],
      [3, /workspace acm does not exist \(did you mean acme\?\)/, 'list', '--workspace', 'acm'],
      [3, /webhook endpoint other does not exist there/, 'disable', 'other', '--all-workspaces', '--yes'],
      [
        3,
        /webhook endpoint down does not exist there/,
        'disable',
        'down',
        '--workspace',
        'acme',
        '--environment',
        'Testing',
      ],
      [2, /no terminal to ask for confirmation; add --yes/, 'disable', 'down', '--all-workspaces'],
    ] as [number, RegExp, ...string[]][]) {
      const exit = await command(...args);
      assert.deepEqual([exit.code, exit.stdout], [code, ''], exit.stderr);
      assert.match(exit.stderr, message);
    }
    assert.equal(await isEnabled(tokens.acme!, 'down'), true);
  });

  it('disable gives up the pending deliveries of one endpoint, and can be repeated', async () => {
    const args = ['disable', 'down', '--workspace', 'acme'];
    for (const exit of [await command(...args), await command(...args)])
      assert.deepEqual(
        [exit.code, exit.stdout],
        [0, 'Disabled webhook endpoint down of workspace acme, Customer.\n'],
      );
    assert.deepEqual(
      [await isEnabled(tokens.acme!, 'down'), await isEnabled(tokens.globex!, 'down')],
      [false, true],
    );
    const [down] = await list('--workspace', 'acme');
    assert.equal(down!.pending_deliveries, 0);
    const { json } = await service.call(tokens.acme!, 'GET', '/v1/events?type=webhook_endpoint.disabled');
    assert.equal(json.events[0].actor.via, 'command_line');
  });

  it('disable changes nothing if the id exists in both environments and none is named', async () => {
    const place = ['--workspace', 'acme', '--environment', 'Testing'];
    const { token } = await createApiToken(folder, ['--permission', 'admin', ...place], {
      env: database.env,
    });
    await putEndpoint(token, 'quiet', 'https://example.com/webhooks');
    const { code, stderr } = await command('disable', 'quiet', '--workspace', 'acme');
    assert.equal(code, 2);
    assert.match(stderr, /webhook endpoint quiet exists in both environments; name one with --environment/);
    assert.equal((await command('disable', 'quiet', ...place)).code, 0);
    assert.deepEqual(
      [await isEnabled(tokens.acme!, 'quiet'), await isEnabled(token, 'quiet')],
      [true, false],
    );
  });

  it('disable disables no other endpoint that gets the id before a person confirms', {
    skip: noTerminal,
  }, async () => {
    await putEndpoint(tokens.globex!, 'moved', 'https://down.example.com/webhooks');
    const args = ['webhook', 'disable', 'moved', '--all-workspaces'];
    const { code, stdout } = await confirmInTerminal(folder, args, database.env, 'moved', async () => {
      await service.call(tokens.globex!, 'DELETE', '/v1/webhook-endpoints/moved');
      await putEndpoint(tokens.globex!, 'moved', 'https://other.example.com/webhooks');
    });
    assert.equal(code, 2);
    assert.match(
      stdout,
      /of workspace globex, Testing was changed at this moment; run the command again\r\n$/,
    );
    assert.equal(await isEnabled(tokens.globex!, 'moved'), true);
  });

  it('disable --all-workspaces disables every endpoint with the id', async () => {
    const { code, stdout } = await command('disable', 'down', '--all-workspaces', '--yes', '--json');
    assert.deepEqual(
      [code, JSON.parse(stdout)],
      [
        0,
        [
          { workspace: 'acme', environment: 'Customer', id: 'down', enabled: false },
          { workspace: 'globex', environment: 'Testing', id: 'down', enabled: false },
        ],
      ],
    );
    assert.equal(await isEnabled(tokens.globex!, 'down'), false);
    assert.equal(await isEnabled(tokens.globex!, 'quiet'), true);
  });
});
