// `doctor --url` behind real proxies: recommended settings pass, and each fault of a proxy is found.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { before, describe, it } from 'node:test';
import { DAY_MS } from '../../src/domain/instant.ts';
import { LIMITED } from '../support/client-limit.ts';
import { ProxyServer, proxies } from '../support/client-matrix/proxy.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import {
  createApiToken,
  type Exit,
  Folder,
  run,
  runHosted,
  type Service,
  serve,
} from '../support/process.ts';
import { suiteStack } from '../support/suite.ts';

const nginx = proxies.find(({ name }) => name === 'nginx')!;
/** Time between the creation of a certificate and its check. */
const MARGIN_MS = 60_000;
const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

interface Check {
  name: string;
  status: string;
  message: string;
  remedy?: string;
}

const stack = suiteStack();
const folder = stack.use(new Folder());
let service: Service;
let apiToken: string;

before(async () => {
  ({ token: apiToken } = await createApiToken(folder));
  writeFileSync(folder.join('api-token'), apiToken, { mode: 0o600 });
  service = stack.use(await serve(folder));
  const group = { user_group_id: 'a/b c', name: 'A' };
  assert.equal((await service.call(apiToken, 'POST', '/v1/user-groups', group)).status, 201);
});

function doctor(
  url: string,
  args: readonly string[] = ['--api-token-file', 'api-token'],
  env?: Record<string, string>,
): Promise<Exit> {
  const command = ['doctor', '--json', '--url', url, ...args];
  // Node reads certificates from the environment only once, so a changed environment needs a new process.
  return env ? run(folder, command, { env }) : runHosted(folder, command);
}

/** Returns the checks that are neither ok nor skipped. */
function findings({ stdout }: Exit): Check[] {
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return checks.filter(({ status }) => status === 'warning' || status === 'failed');
}

function statusOf({ stdout }: Exit, name: string): string | undefined {
  return (JSON.parse(stdout).checks as Check[]).find((check) => check.name === name)?.status;
}

describe('doctor --url', () => {
  it('finds nothing wrong without a proxy', async () => {
    const exit = await doctor(service.url);
    assert.deepEqual(findings(exit), []);
    assert.equal(exit.code, 0);
    for (const name of ['authorization', 'body of GET', 'etag', 'encoded paths'])
      assert.equal(statusOf(exit, name), 'ok', name);
  });

  it('changes nothing, with and without an API token', async () => {
    const list = () => service.call(apiToken, 'GET', '/v1/user-groups');
    const before = (await list()).text;
    await doctor(service.url);
    const exit = await doctor(service.url, []);
    assert.equal((await list()).text, before);
    assert.equal(statusOf(exit, 'authorization'), 'skipped');
    assert.equal(exit.code, 0);
  });

  it('checks what an API token that may only resolve can observe', async () => {
    const { token } = await createApiToken(folder, ['--permission', 'resolve']);
    writeFileSync(folder.join('resolve-token'), token, { mode: 0o600 });
    const exit = await doctor(service.url, ['--api-token-file', 'resolve-token']);
    assert.deepEqual(findings(exit), []);
    assert.deepEqual(
      ['authorization', 'body of GET', 'etag'].map((name) => statusOf(exit, name)),
      ['ok', 'skipped', 'skipped'],
    );
  });

  it('reports an unreachable address, another service, and an invalid API token', async () => {
    const [unreachable] = findings(await doctor('http://127.0.0.1:1'));
    assert.equal(unreachable?.name, 'reachable');
    assert.match(unreachable.message, /ECONNREFUSED/);
    const [elsewhere] = findings(await doctor(`${service.url}/elsewhere`));
    assert.match(elsewhere!.message, /\/healthz returned 404/);
    writeFileSync(folder.join('invalid-token'), `${apiToken.slice(0, -1)}~`, { mode: 0o600 });
    const [invalid] = findings(await doctor(service.url, ['--api-token-file', 'invalid-token']));
    assert.equal(invalid?.name, 'authorization');
  });

  it('suspects the service, not the paths of the proxy, if the proxy finds no process', async () => {
    await using proxy = await LoopbackServer.listen(
      createHttpServer((_request, response) => void response.writeHead(503).end()),
    );
    const [unavailable] = findings(await doctor(proxy.url));
    assert.deepEqual([unavailable?.name, unavailable?.status], ['reachable', 'failed']);
    assert.match(unavailable!.message, /returned 503: the proxy finds no process/);
    assert.match(unavailable!.remedy!, /log of each process/);
  });

  it('reports an address that does not respond', async () => {
    await using silent = await LoopbackServer.listen(createServer((socket) => socket.resume()));
    const [unresponsive] = findings(await doctor(silent.url));
    assert.deepEqual(
      [unresponsive?.name, unresponsive?.message],
      ['reachable', 'no response within 10 seconds'],
    );
  });

  it('blames no proxy while the address of the client is limited', async () => {
    using other = new Folder();
    await using limited = await serve(other, { env: LIMITED });
    const { token } = await createApiToken(other);
    writeFileSync(folder.join('limited-token'), token, { mode: 0o600 });
    for (let failure = 0; failure <= 3; failure++) await limited.call('invalid', 'GET', '/v1/user-groups');
    const exit = await doctor(limited.url, ['--api-token-file', 'limited-token']);
    assert.equal(exit.code, 0);
    const found = findings(exit);
    for (const name of ['error format', 'encoded paths', 'precondition headers']) {
      const check = found.find((each) => each.name === name);
      assert.match(check?.message ?? '', /^not checked: .* 429 rate_limited$/);
      assert.match(check!.remedy!, /UGS_TRUSTED_PROXIES/);
    }
    assert.equal(statusOf(exit, 'authorization'), 'ok');
  });

  it('reports a service that is not ready', async () => {
    using other = new Folder();
    await using draining = await serve(other, { env: { UGS_SHUTDOWN_DELAY_MS: '15000' } });
    draining.signal('SIGTERM');
    await draining.says(/shutting down/);
    const found = findings(await doctor(draining.url)).find(({ name }) => name === 'ready');
    assert.match(found!.message, /\/readyz returned 503: The service is shutting down[^.]*$/);
  });

  it('refuses an invalid URL, an unreadable file, and a token without a URL', async () => {
    for (const args of [
      ['--url', 'ftp://127.0.0.1'],
      ['--url', 'http://127.0.0.1/?query'],
      ['--api-token-file', 'api-token'],
      ['--url', service.url, '--api-token-file', 'missing'],
    ]) {
      const { code, stdout, stderr } = await run(folder, ['doctor', ...args]);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^user-group-service: [^\n]+\n$/);
    }
  });
});

/** nginx directives, each with the check that must fail. */
const faults: Record<string, { directives: string; finds: string; status?: string; path?: string }> = {
  'decodes paths': { directives: '', path: '/', finds: 'encoded paths' },
  'refuses %25 in paths': {
    directives: 'if ($request_uri ~ "%25") { return 400; }',
    finds: 'encoded paths',
  },
  'removes If-Match': { directives: 'proxy_set_header If-Match "";', finds: 'precondition headers' },
  'removes Authorization': { directives: 'proxy_set_header Authorization "";', finds: 'authorization' },
  'removes X-Request-Id': { directives: 'proxy_hide_header X-Request-Id;', finds: 'request id' },
  'replaces Cache-Control': {
    directives: 'proxy_hide_header Cache-Control; add_header Cache-Control "public, max-age=60" always;',
    finds: 'caching',
  },
  'caches responses': {
    directives:
      'proxy_cache stored; proxy_ignore_headers Cache-Control; proxy_cache_valid 200 1m; proxy_cache_methods GET;',
    finds: 'caching',
  },
  'replaces errors': {
    directives: 'proxy_intercept_errors on; error_page 404 /404.html;',
    finds: 'error format',
  },
  'limits bodies to 100 KiB': { directives: 'client_max_body_size 100k;', finds: 'large bodies' },
  'allows only GET and POST': { directives: 'limit_except GET POST { deny all; }', finds: 'methods' },
  'drops the body of a GET': {
    directives: `} location = /api/user {
      proxy_pass http://user_groups; proxy_pass_request_body off; proxy_set_header Content-Length "";`,
    finds: 'body of GET',
    status: 'warning',
  },
  'compresses responses': {
    directives: 'gzip on; gzip_types application/json; gzip_min_length 1; gzip_proxied any;',
    finds: 'etag',
  },
};

describe('doctor --url behind nginx', {
  skip: nginx.command === undefined && 'nginx is not installed',
}, () => {
  /** Runs doctor behind nginx with changed settings. */
  async function doctorBehind(adapt: (settings: string) => string): Promise<Exit> {
    await using proxy = await ProxyServer.start(nginx, service.url, adapt);
    return await doctor(proxy.url);
  }

  it('finds nothing wrong with the documented settings', async () => {
    const exit = await doctorBehind((settings) => settings);
    assert.deepEqual(findings(exit), []);
  });

  it('reports an issuer of embed tokens that only the machine of the service reaches', async () => {
    const { token } = await createApiToken(folder, ['--environment', 'Testing', '--permission', 'admin']);
    writeFileSync(folder.join('admin-token'), token, { mode: 0o600 });
    const integration = { type: 'jwt', settings: { audience: 'bi' }, claims: { plan: { constant: 'gold' } } };
    const put = await service.call(token, 'PUT', '/v1/integrations/bi', integration);
    assert.equal(put.status, 201, put.text);
    const args = ['--api-token-file', 'admin-token'];
    await using proxy = await ProxyServer.start(nginx, service.url);
    const [issuer, ...others] = findings(await doctor(proxy.url, args));
    assert.deepEqual([issuer?.name, issuer?.status, others], ['issuer', 'warning', []]);
    assert.match(issuer!.message, new RegExp(`^embed tokens name ${service.url}/issuers/`));
    assert.equal(statusOf(await doctor(service.url, args), 'issuer'), 'ok');
  });

  it('finds nothing wrong with a prefix of the path', async () => {
    const adapt = (settings: string) =>
      settings
        .replace('location / {', 'location /groups/ {')
        .replace(
          'proxy_pass http://user_groups;',
          'rewrite ^ $request_uri; rewrite ^/groups(/.*)$ $1 break; return 400; proxy_pass http://user_groups$uri;',
        );
    await using proxy = await ProxyServer.start(nginx, service.url, adapt);
    assert.deepEqual(findings(await doctor(`${proxy.url}/groups/`)), []);
  });

  for (const [what, { directives, finds, status = 'failed', path = '' }] of Object.entries(faults)) {
    it(`that ${what} reports: ${finds}`, async () => {
      const exit = await doctorBehind((settings) =>
        settings
          .replace('proxy_pass http://user_groups;', `proxy_pass http://user_groups${path}; ${directives}`)
          .replace('# docs: begin', 'proxy_cache_path cache keys_zone=stored:1m;'),
      );
      const found = findings(exit).find(({ name }) => name === finds);
      assert.equal(found?.status, status, exit.stdout);
      assert.ok(found.remedy);
      assert.equal(exit.code, findings(exit).some((each) => each.status === 'failed') ? 65 : 0);
    });
  }

  it('that refuses long headers reports: long requests', async () => {
    const exit = await doctorBehind((settings) =>
      settings.replace('# docs: begin', 'large_client_header_buffers 2 2k;'),
    );
    assert.deepEqual(
      findings(exit).map(({ name }) => name),
      ['long requests'],
    );
  });

  describe('with TLS', { skip: !HAS_OPENSSL && 'openssl is not installed' }, () => {
    async function doctorWithCertificate(
      validity: Validity,
      env: Record<string, string> = {},
    ): Promise<Exit> {
      createCertificate(folder, validity);
      const adapt = (settings: string) =>
        settings.replace(
          'listen 127.0.0.1:8081;',
          `listen 127.0.0.1:8081 ssl; ssl_certificate ${folder.join('certificate')}; ssl_certificate_key ${folder.join('key')};`,
        );
      await using proxy = await ProxyServer.start(nginx, service.url, adapt);
      return await doctor(proxy.url.replace('http:', 'https:'), [], env);
    }

    it('reports a certificate that expires soon, for its lifetime', async () => {
      const env = { NODE_EXTRA_CA_CERTS: folder.join('certificate') };
      for (const [lifetimeDays, daysLeft, status] of [
        [90, 60, undefined],
        [90, 9.9, 'warning'],
        [90, 1.9, 'failed'],
        [0.5, 0.4, undefined],
        [6, 0.5, 'warning'],
      ] as const) {
        const [found] = findings(await doctorWithCertificate({ lifetimeDays, daysLeft }, env));
        assert.equal(found?.status, status);
        if (found) assert.equal(found.message, `the certificate is valid for ${daysLeft.toFixed(1)} days`);
      }
    });

    it('reports a certificate that is not trusted', async () => {
      const [found] = findings(await doctorWithCertificate({ lifetimeDays: 90, daysLeft: 60 }));
      assert.equal(found?.name, 'reachable');
      assert.match(found.message, /self-signed certificate/);
      assert.match(found.remedy!, /NODE_EXTRA_CA_CERTS/);
    });
  });
});

interface Validity {
  lifetimeDays: number;
  daysLeft: number;
}

/** Uses `openssl ca`, because `openssl req` cannot set the start of the validity. */
function createCertificate(folder: Folder, { lifetimeDays, daysLeft }: Validity): void {
  const end = Date.now() + daysLeft * DAY_MS + MARGIN_MS;
  const settings = [
    '[ca]\ndefault_ca = own\n[own]\ndatabase = index\nnew_certs_dir = .\ndefault_md = sha256\nrand_serial = yes',
    'policy = policy\nx509_extensions = extensions\n[policy]\ncommonName = supplied',
    '[extensions]\nsubjectAltName = IP:127.0.0.1\n',
  ];
  writeFileSync(folder.join('ca.cnf'), settings.join('\n'));
  writeFileSync(folder.join('index'), '');
  const request = 'req -new -newkey rsa:2048 -nodes -keyout key -out request -subj /CN=127.0.0.1';
  openssl(folder, request.split(' '));
  const sign = 'ca -selfsign -batch -notext -config ca.cnf -keyfile key -in request -out certificate';
  const dates = ['-startdate', toAsn1(end - lifetimeDays * DAY_MS), '-enddate', toAsn1(end)];
  openssl(folder, [...sign.split(' '), ...dates]);
}

function openssl(folder: Folder, args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: folder.path });
  assert.equal(status, 0, String(stderr));
}

/** Returns the time as YYYYMMDDHHMMSSZ. */
function toAsn1(time: number): string {
  return `${new Date(time).toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`;
}
