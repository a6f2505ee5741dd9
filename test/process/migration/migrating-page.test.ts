// Runs the commands of docs/migrating-from-explo.md verbatim against a server that responds as Explo's
// documentation describes.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LoopbackServer } from '../../support/connection/loopback-server.ts';
import { blocksUnder } from '../../support/page.ts';
import { createApiToken, type Exit, Folder, PROGRAM, Program, serve } from '../../support/process.ts';

const PAGE = 'docs/migrating-from-explo.md';
const CUSTOMERS = 45;
const PAGE_SIZE = 20;
const SCRIPT_LIMIT_MS = 60_000;
const EXPLO_TOKEN = randomBytes(16).toString('hex');

interface Customer {
  token: string;
  name: string;
  provided_id: string;
  properties: object | null;
  parent_schema_datasource_mapping: object | null;
}

/** Fake of Explo that lists its customers in pages smaller than requested, and limits the requests. */
class Explo {
  /** Requests until one is refused. */
  requestsLeft = 2;

  /** Name of the member with their number; earlier versions of Explo's documentation have another one. */
  total = 'total_count';
  readonly customers: Customer[] = Array.from({ length: CUSTOMERS }, (_, index) => ({
    token: randomBytes(32).toString('hex'),
    name: `Example ${index}`,
    provided_id: `example_${index}`,
    is_demo_group: false,
    emails: [],
    group_tags: ['designers'],
    properties: index === 1 ? null : { filter_value: `value ${index}` },
    computed_properties: {},
    access_group: 'Production',
    parent_schema_datasource_mapping: index === 2 ? {} : { '40': '213', '134': String(index) },
    computed_parent_schema_datasource_mapping: {},
    hierarchy_level: 'Level 1',
  }));
  readonly #server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://explo');
    const isKnown = request.headers['explo-authorization'] === `Token ${EXPLO_TOKEN}`;
    if (pathname !== '/v2/api/customers/' || !isKnown) return response.writeHead(403).end();
    const hasSize = ['page_size', 'pageSize'].every((name) => searchParams.get(name) === '1000');
    if (!hasSize) return response.writeHead(400).end();
    if (this.requestsLeft-- === 0) return response.writeHead(429, { 'retry-after': '1' }).end();
    const start = (Number(searchParams.get('page')) - 1) * PAGE_SIZE;
    const customers = this.customers.slice(start, start + PAGE_SIZE);
    return response.end(JSON.stringify({ [this.total]: this.customers.length, results: { customers } }));
  });

  listen(): Promise<LoopbackServer> {
    return LoopbackServer.listen(this.#server);
  }
}

describe('docs/migrating-from-explo.md', () => {
  const folder = new Folder();
  const explo = new Explo();
  let server: LoopbackServer;
  let env: Record<string, string>;
  before(async () => {
    mkdirSync(folder.join('bin'));
    symlinkSync(PROGRAM, folder.join('bin/user-group-service'));
    const path = [folder.join('bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
    server = await explo.listen();
    env = { PATH: path, EXPLO_URL: server.url, EXPLO_API_TOKEN: EXPLO_TOKEN };
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  async function runBlock(script: string): Promise<Exit> {
    await using program = new Program(folder, ['-euo', 'pipefail', '-c', script], { command: 'bash', env });
    // A block runs several programs, so its limit is longer than the default.
    return await program.exit(SCRIPT_LIMIT_MS);
  }

  async function runBlocks(heading: string): Promise<Exit[]> {
    const exits: Exit[] = [];
    for (const script of blocksUnder(PAGE, heading)) exits.push(await runBlock(script));
    assert.ok(exits.length > 0);
    for (const { code, stderr } of exits) assert.equal(code, 0, stderr);
    return exits;
  }

  async function assertServed(): Promise<void> {
    const { token } = await createApiToken(folder, ['--workspace', 'acme', '--permission', 'resolve']);
    await using service = await serve(folder);
    for (const customer of explo.customers) {
      const { json } = await service.call(token, 'POST', '/v1/resolve', { token: customer.token });
      const { provided_id, name, properties, mapping, api_environment_tag } = json.user_group;
      assert.deepEqual(
        { provided_id, name, properties, mapping, api_environment_tag },
        {
          provided_id: customer.provided_id,
          name: customer.name,
          properties: customer.properties,
          mapping: customer.parent_schema_datasource_mapping,
          api_environment_tag: 'Customer',
        },
      );
    }
  }

  it('does not take the first page for all groups', async () => {
    explo.total = 'count';
    const { code, stderr } = await runBlock(blocksUnder(PAGE, 'Fetch')[0]!);
    explo.total = 'total_count';
    assert.equal(code, 1);
    assert.match(stderr, /Explo returned 45 of undefined customers/);
  });

  it('fetches all groups into a file that only its owner can read', async () => {
    await createApiToken(folder, ['--workspace', 'acme']);
    await runBlocks('Fetch');
    assert.equal(statSync(folder.join('explo.ndjson')).mode & 0o777, 0o600);
  });

  it('imports them, and every embedded token resolves', async () => {
    const [dryRun, real] = await runBlocks('Import');
    assert.match(dryRun!.stdout, /^Dry run, nothing was changed\. 45 lines: 45 created, /);
    assert.equal(real!.stdout, '45 lines: 45 created, 0 updated, 0 unchanged, 0 refused.\n');
    const [check] = await runBlocks('Check');
    assert.equal(
      check!.stdout,
      '{"lines":45,"created":0,"updated":0,"unchanged":45,"refused":0,"dry_run":true}\n',
    );
    await assertServed();
  });

  it('imports later changes at Explo', async () => {
    explo.customers[7]!.properties = { filter_value: 'changed' };
    explo.customers.push({
      ...explo.customers[0]!,
      provided_id: 'new',
      token: randomBytes(32).toString('hex'),
    });
    const [again] = await runBlocks('Import the latest changes');
    assert.equal(again!.stdout, '46 lines: 1 created, 1 updated, 44 unchanged, 0 refused.\n');
    assert.equal(existsSync(folder.join('explo.ndjson')), false);
    await assertServed();
  });
});
