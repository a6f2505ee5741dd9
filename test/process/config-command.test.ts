// `config export`, `plan` and `apply`, on a database and over HTTP.

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { before, it } from 'node:test';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { run, runHosted, ServedDatabase } from '../support/process.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const CONFIG = `
version: 1
schemas:
  40: &orders
    name: Orders
    default_data_source: shared
  41: *orders
data_sources:
  shared:
    schema_id: "40"
    name: Shared
    attributes: { database: shared, big: 9007199254740993, exact: 1.50, off: "no" }
mapping_policy: { mode: report }
integrations:
  metabase:
    type: metabase
    settings: { url: https://bi.example.com, resources: [{ dashboard: 7 }], properties: [customer_id] }
    claims: { customer: { property: customer_id } }
    secret: { environment: METABASE_SECRET }
webhook_endpoints:
  crm: { url: https://example.com/hook, event_types: ["*"] }
`;

describeOnEachDatabase('config', (kind) => {
  const site = ServedDatabase.of(kind, ['--permission', 'admin', '--environment', 'Testing']);
  const { folder } = site;
  const targets = new Map<string, { args: string[]; env: Record<string, string> }>();
  before(async () => {
    targets.set('a database', { args: ['--workspace', 'default'], ...site.onDatabase });
    targets.set('a running service', {
      args: ['--url', site.service.url],
      env: { UGS_API_TOKEN: site.token },
    });
  });

  const write = (name: string, text: string): string => {
    const file = folder.join(name);
    writeFileSync(file, text);
    return file;
  };

  for (const name of ['a database', 'a running service']) {
    const config = (args: readonly string[], env: Record<string, string> = {}) => {
      const target = targets.get(name)!;
      return runHosted(folder, ['config', ...args, ...target.args], { env: { ...target.env, ...env } });
    };
    const withSecret = { METABASE_SECRET: SECRET };

    it(`plans, applies and exports the configuration of ${name}`, async () => {
      const file = write('config.yaml', CONFIG);
      const plan = await config(['plan', file], withSecret);
      assert.deepEqual(
        [plan.code, plan.stderr],
        [2, 'user-group-service: 6 changes, which config apply makes\n'],
      );
      assert.match(plan.stdout, /--- \/dev\/null\n\+\+\+ b\/schemas\/40\n@@ -0,0 \+1,2 @@\n\+name: Orders\n/);
      assert.match(
        plan.stdout,
        /--- a\/mapping_policy\n\+\+\+ b\/mapping_policy\n@@ .* @@\n-mode: "off"\n\+mode: report\n/,
      );
      const applied = await config(['apply', file], withSecret);
      assert.deepEqual([applied.code, applied.stderr], [0, '']);
      assert.equal(applied.stdout, `${plan.stdout}Applied 6 changes.\n`);
      const again = await config(['apply', file], withSecret);
      assert.deepEqual([again.code, again.stdout], [0, 'The configuration is up to date.\n']);
      assert.equal((await config(['plan', file], withSecret)).code, 0);
      for (const { stdout, stderr } of [plan, applied, again])
        assert.ok(!`${stdout}${stderr}`.includes(SECRET));
    });

    it(`exports ${name} in two formats, which change nothing when they are applied`, async () => {
      const env = { INTEGRATION_METABASE_SECRET: SECRET };
      for (const format of ['yaml', 'json']) {
        const file = folder.join(`export.${format}`);
        rmSync(file, { force: true });
        assert.equal((await config(['export', file])).code, 0);
        const text = readFileSync(file, 'utf8');
        assert.match(text, /9007199254740993/);
        assert.match(text, /1\.50/);
        assert.equal((await config(['export', '--format', format])).stdout, text);
        assert.equal((await config(['plan', file, '--prune'], env)).code, 0);
        assert.equal((await config(['export', file])).code, 2);
      }
    });

    it(`deletes entries of ${name} only with --prune`, async () => {
      const file = write('fewer.yaml', CONFIG.replace(/ {2}41: .*\n/, ''));
      const kept = await config(['apply', file], withSecret);
      assert.deepEqual([kept.code, kept.stdout], [0, 'The configuration is up to date.\n']);
      assert.match(
        kept.stderr,
        /does not have 1 stored entry, which stays; --prune would delete:\n {2}schemas\/41\n/,
      );
      const pruned = await config(['apply', file, '--prune', '--json'], withSecret);
      const { changes, config_version: version } = JSON.parse(pruned.stdout);
      assert.deepEqual(
        changes.map(({ action, id }: { action: string; id: string }) => [action, id]),
        [['delete', '41']],
      );
      const current = await config(['plan', file, '--json'], withSecret);
      assert.equal(JSON.parse(current.stdout).config_version, version);
    });

    it(`has ${name} apply a file with the version of its configuration, and refuse another one`, async () => {
      const current = await config(['plan', write('current.yaml', 'version: 1'), '--json']);
      const { config_version: version } = JSON.parse(current.stdout);
      const file = write(
        'versioned.yaml',
        `version: 1\nconfig_version: ${version}\nschemas: {41: {name: Old}}`,
      );
      const applied = await config(['apply', file]);
      assert.deepEqual([applied.code, applied.stderr.includes('schemas/40')], [0, true], applied.stderr);
      const stale = await config(['apply', file]);
      assert.equal(stale.code, 69);
      assert.match(stale.stderr, /has changed since it was read/);
    });

    it(`says what is wrong with a file for ${name}, and changes nothing`, async () => {
      const refused: Record<string, [text: string, expected: RegExp]> = {
        syntax: ['version: 1\nschemas: {', /not valid YAML: .* at line 2/],
        unclosed: [
          CONFIG.replace('{ environment: METABASE_SECRET }', `"${SECRET}`),
          /not valid YAML: Missing .* at line \d+, column \d+$/m,
        ],
        duplicate: ['version: 1\nschemas:\n  a: {name: A}\n  a: {name: B}', /Map keys must be unique/],
        tag: ['version: 1\nschemas: !!python/object {}', /Unresolved tag/],
        several: ['version: 1\n---\nversion: 1', /has several/],
        empty: ['', /is empty/],
        list: ['[]', /must be an object/],
        unknown: ['version: 1\nschema: {}', /schema is not a known field/],
        entry: ['version: 1\nschemas: {a: {nam: A}}', /schemas\/a\/nam is not a known field/],
        number: ['version: 1\nschemas: {a: {name: .inf}}', /\.inf is not a number of JSON/],
        secret: [CONFIG.replace('{ environment: METABASE_SECRET }', SECRET), /must not be in the file/],
        absent: [CONFIG.replace('METABASE_SECRET', 'NOT_SET'), /set the environment variable NOT_SET/],
      };
      for (const [what, [text, expected]] of Object.entries(refused)) {
        const { code, stderr, stdout } = await config(['apply', write('refused.yaml', text)], withSecret);
        assert.deepEqual([code, stdout], [65, ''], what);
        assert.match(stderr, expected, what);
        assert.ok(!stderr.includes(SECRET), what);
      }
    });

    it(`takes a secret for ${name} from a file beside the configuration, and reports its replacement`, async () => {
      write('metabase.secret', `${SECRET.toUpperCase()}\n`);
      const text = CONFIG.replace('environment: METABASE_SECRET', 'file: metabase.secret');
      const { code, stdout } = await config(['plan', write('config.yaml', text)]);
      assert.equal(code, 2);
      assert.match(stdout, /integrations\/metabase[\s\S]*~secret: replaced/);
    });
  }

  it('accepts the file that the documentation shows', async () => {
    const [, text] = /```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/configuration.md', 'utf8'))!;
    const args = ['config', 'plan', write('documented.yaml', text!), '--workspace', 'default'];
    const plan = await runHosted(folder, args, { env: { ...site.onDatabase.env, METABASE_SECRET: SECRET } });
    assert.equal(plan.code, 2, plan.stderr);
  });

  it('ends with the codes of import for a file that is missing or unreadable', async () => {
    for (const [file, expected, reason] of [
      ['nowhere.yaml', 3, /^user-group-service: file nowhere\.yaml does not exist\n$/],
      ['.', 2, /^user-group-service: cannot read \.: EISDIR[^\n]+\n$/],
    ] as const) {
      const args = ['config', 'apply', file, '--workspace', 'default'];
      const { code, stderr } = await runHosted(folder, args, site.onDatabase);
      assert.deepEqual({ file, code }, { file, code: expected });
      assert.match(stderr, reason);
    }
  });

  it('refuses a file that is too large for a request as it refuses an invalid one', async () => {
    const file = write('large.yaml', `version: 1\nschemas: { large: { name: ${'x'.repeat(256 * 1024)} } }\n`);
    for (const verb of ['plan', 'apply']) {
      const { args, env } = targets.get('a running service')!;
      const { code, stdout, stderr } = await runHosted(folder, ['config', verb, file, ...args], { env });
      assert.deepEqual({ verb, code, stdout }, { verb, code: 65, stdout: '' });
      assert.match(stderr, /must be at most 262144 bytes\. Send fewer entries .* on the database\.\n$/);
    }
  });

  it('applies nothing if the configuration changes after the plan, and prints no JSON', async () => {
    let changes = 0;
    const forward = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.url!.includes('dry_run=false'))
        await site.call('PUT', '/v1/schemas/concurrent', { name: `C${changes++}` });
      const { status, text } = await site.call(request.method!, request.url!, await json(request));
      response.writeHead(status).end(text);
    };
    await using proxy = await LoopbackServer.listen(createServer((...call) => void forward(...call)));
    const file = write('late.yaml', '{version: 1, schemas: {late: {name: Late}}}');
    for (const format of [[], ['--json']]) {
      const args = ['config', 'apply', file, '--url', proxy.url, ...format];
      const { code, stdout, stderr } = await runHosted(folder, args, { env: { UGS_API_TOKEN: site.token } });
      assert.equal(code, 69, stderr);
      assert.doesNotMatch(stdout, /Applied|^\{/);
      assert.equal((await site.call('GET', '/v1/schemas/late')).status, 404);
    }
  });

  it('reports what it has applied if a proxy loses the response', async () => {
    let isLost = false;
    const forward = async (request: IncomingMessage, response: ServerResponse) => {
      const { status, text } = await site.call(request.method!, request.url!, await json(request));
      const isAnswered = isLost || request.url!.includes('dry_run=true');
      isLost ||= !isAnswered;
      if (isAnswered) response.writeHead(status).end(text);
      else response.writeHead(502, { 'retry-after': '0' }).end();
    };
    await using proxy = await LoopbackServer.listen(createServer((...call) => void forward(...call)));
    const file = write('lost.yaml', '{version: 1, schemas: {lost: {name: Lost}}}');
    const args = ['config', 'apply', file, '--url', proxy.url, '--json'];
    const { code, stdout, stderr } = await runHosted(folder, args, { env: { UGS_API_TOKEN: site.token } });
    assert.deepEqual([code, isLost], [0, true], stderr);
    const { changes, config_version: version } = JSON.parse(stdout);
    assert.deepEqual(
      changes.map(({ action, id }: { action: string; id: string }) => [action, id]),
      [['create', 'lost']],
    );
    const current = await runHosted(folder, ['config', 'plan', ...args.slice(2)], {
      env: { UGS_API_TOKEN: site.token },
    });
    assert.equal(JSON.parse(current.stdout).config_version, version);
  });

  it('ends with its own code if the service refuses the API token or is unreachable', async () => {
    const file = write('config.yaml', 'version: 1');
    const call = (url: string, env: Record<string, string>) =>
      runHosted(folder, ['config', 'plan', file, '--url', url], { env });
    const refused = await call(site.service.url, { UGS_API_TOKEN: 'uga_wrong' });
    assert.equal(refused.code, 69);
    assert.match(refused.stderr, /: the API token in UGS_API_TOKEN is unknown, expired or revoked;/);
    const unreachable = await call('http://127.0.0.1:65500', { UGS_API_TOKEN: 'uga_wrong' });
    assert.equal(unreachable.code, 69);
    assert.match(
      unreachable.stderr,
      /cannot reach http:\/\/127\.0\.0\.1:65500: .*ECONNREFUSED.*; check the URL, and that the service is running$/m,
    );
    const encrypted = await call('https://127.0.0.1:65500', { UGS_API_TOKEN: 'uga_wrong' });
    assert.match(encrypted.stderr, /; for your own certificate authority, set NODE_EXTRA_CA_CERTS$/m);
    const HTTPS_PROXY = 'http://127.0.0.1:65501';
    const direct = await call('https://127.0.0.1:65500', { UGS_API_TOKEN: 'uga_wrong', HTTPS_PROXY });
    assert.match(
      direct.stderr,
      /127\.0\.0\.1:65500.*; to connect through the proxy in HTTPS_PROXY, set NODE_USE_ENV_PROXY=1$/m,
    );
    const without = await call(site.service.url, {});
    assert.match(without.stderr, /requires an API token .* in UGS_API_TOKEN/);
  });

  it('connects through a proxy on request', async () => {
    const env = {
      UGS_API_TOKEN: 'uga_wrong',
      HTTPS_PROXY: 'http://127.0.0.1:65501',
      NODE_USE_ENV_PROXY: '1',
    };
    const { code, stderr } = await run(folder, ['config', 'export', '--url', 'https://groups.example.com'], {
      env,
    });
    assert.equal(code, 69);
    assert.match(stderr, /ECONNREFUSED 127\.0\.0\.1:65501/);
    assert.doesNotMatch(stderr, /NODE_USE_ENV_PROXY/);
  });

  it('refuses an API token or a URL that it cannot use with 2, and prints neither', async () => {
    for (const [url, UGS_API_TOKEN, reason] of [
      [
        site.service.url,
        `${site.token}\nsecond-line`,
        'UGS_API_TOKEN must be one API token, without white space',
      ],
      [site.service.url, '€second-line', 'UGS_API_TOKEN must be one API token, without white space'],
      [
        'http://user:second-line@127.0.0.1',
        site.token,
        '--url must be an http or https URL without a user, ',
      ],
      ['http://127.0.0.1/?a=second-line', site.token, '--url must be an http or https URL without a user, '],
    ] as const) {
      const exit = await runHosted(folder, ['config', 'export', '--url', url], { env: { UGS_API_TOKEN } });
      assert.deepEqual([exit.code, exit.stdout], [2, '']);
      assert.ok(exit.stderr.startsWith(`user-group-service: ${reason}`), exit.stderr);
      assert.doesNotMatch(exit.stderr, /second-line/);
    }
  });
});
