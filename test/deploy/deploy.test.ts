// Deployment files: checks the Dockerfile and the Compose file. If HAProxy is installed, runs it with the
// configuration of the Compose file in front of two real processes.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { UserGroupClient } from '../../client/src/index.ts';
import { CLOSING_MS } from '../../src/commands/run-until-signal.ts';
import { settings } from '../../src/config.ts';
import { readVersion } from '../../src/version.ts';
import { type Fault, FaultyProxy } from '../support/client/faulty-proxy.ts';
import { assertLimitedByClient, LIMITED } from '../support/client-limit.ts';
import { freePort } from '../support/connection/free-port.ts';
import { postgres, sqlite, type TestDatabase } from '../support/database.ts';
import { send, type TestResponse } from '../support/http.ts';
import { createApiToken, eventually, Folder, Program, run, type Service, serve } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const dockerfile = read('Dockerfile');
const haproxy = read('deploy/haproxy.cfg');
const { services, secrets, networks } = parse(read('compose.yaml'), { merge: true }) as Composition;
const processes = Object.entries(services).filter(([, { image }]) => image === 'user-group-service');

interface Composition {
  services: Record<string, ComposedService>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
}

interface ComposedService {
  image: string;
  environment?: Record<string, string>;
  secrets?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  logging?: { options: Record<string, string> };
  init?: boolean;
  ulimits?: { core?: number };
  stop_grace_period?: string;
}

describe('The image', () => {
  const [lastStage = ''] = dockerfile.split(/^FROM .*\n/m).slice(-1);

  it('has a valid Dockerfile', () => {
    assert.deepEqual(validate(dockerfile), []);
  });

  it('is built from exactly the files that .dockerignore allows', () => {
    const ignored = read('.dockerignore').split('\n');
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(words);
    assert.ok(sources.includes('src'));
    for (const source of sources) assert.ok(existsSync(`${ROOT}${source}`), source);
    const allowed = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    assert.ok(ignored.includes('*'));
    assert.deepEqual(new Set(allowed), new Set(sources));
  });

  it('is built from these files alone, and runs without the sources', async () => {
    using folder = new Folder();
    symlinkSync(`${ROOT}node_modules`, folder.join('node_modules'));
    const [, stage = ''] = /^FROM .* AS build\n([\s\S]*?)^FROM /m.exec(dockerfile) ?? [];
    for (const [, copied, script] of stage.matchAll(/^(?:COPY (.+)|RUN (?!npm ci)(.+))$/gm)) {
      if (copied !== undefined) copyInto(folder, copied);
      else assert.equal((await run(folder, ['-c', script!], { command: 'sh' })).stderr, '');
    }
    rmSync(folder.join('src'), { recursive: true });
    const command = folder.join('bin/user-group-service.js');
    const { code, stdout, stderr } = await run(folder, ['--version'], { command });
    assert.deepEqual([code, stdout, stderr], [0, `${readVersion()}\n`, '']);
  });

  it('runs unprivileged, is stopped by SIGTERM, and starts no shell, which would not forward the signal', () => {
    // A number: with runAsNonRoot, Kubernetes refuses a name.
    assert.match(lastStage, /^USER [1-9]\d*$/m);
    assert.match(lastStage, /^STOPSIGNAL SIGTERM$/m);
    for (const instruction of ['ENTRYPOINT', 'CMD']) {
      assert.match(lastStage, new RegExp(`^ *${instruction} \\["`, 'm'));
    }
  });

  it('is readable for its user, even if only the owner can read the source files', () => {
    const copied = [...lastStage.matchAll(/^COPY --from=build (\/.+) \S+$/gm)].flatMap(words);
    const opened = [...dockerfile.matchAll(/^RUN chmod -R go\+rX (.+)$/gm)].flatMap(words);
    assert.doesNotMatch(lastStage, /^COPY (?!--from)/m);
    assert.deepEqual(new Set(copied), new Set(opened.map((file) => `/build/${file}`)));
  });

  it('starts the executable directly, which sets its own Node flags', () => {
    assert.match(lastStage, /^ENTRYPOINT \["\/app\/bin\/user-group-service\.js"\]$/m);
    assert.match(lastStage, /^COPY --from=build \/build\/bin bin$/m);
    accessSync(`${ROOT}bin/user-group-service.js`, constants.X_OK);
  });

  it('is healthy while the process runs, and unhealthy after it has exited', async () => {
    using folder = new Folder();
    const [, json = ''] = /^HEALTHCHECK[\s\S]*? {2}CMD (\[.*\])$/m.exec(lastStage) ?? [];
    const [, ...args] = JSON.parse(json) as string[];
    await using service = await serve(folder);
    const env = { PORT: new URL(service.url).port };
    const check = async () => (await run(folder, args, { env, command: process.execPath })).code;
    assert.equal(await check(), 0);
    await service.kill();
    assert.equal(await check(), 1);
  });
});

/** Copies as `COPY` does: a folder becomes the destination, and a file goes into it. */
function copyInto(folder: Folder, operands: string): void {
  const paths = operands.split(' ');
  const destination = paths.pop()!;
  for (const path of paths) {
    const isFolder = statSync(`${ROOT}${path}`).isDirectory();
    const target = folder.join(destination, isFolder ? '' : basename(path));
    cpSync(`${ROOT}${path}`, target, { recursive: true });
  }
}

describe('The Compose file', () => {
  it('sets only known settings, and provides every secret that they name', () => {
    const known = Object.values(settings).flatMap(({ env }) => [env, `${env}_FILE`]);
    assert.equal(processes.length, 2);
    for (const [, { environment = {}, secrets: own = [] }] of processes) {
      for (const [name, value] of Object.entries(environment)) {
        assert.ok(known.includes(name), name);
        const [, secret] = /^\/run\/secrets\/(.+)$/.exec(value) ?? [];
        if (secret !== undefined) assert.ok(own.includes(secret) && secret in secrets, secret);
      }
    }
  });

  it('trusts the addresses that its containers report, and no others', () => {
    for (const [, { environment }] of processes)
      assert.equal(environment?.UGS_TRUSTED_PROXIES, networks.default?.ipam.config[0]?.subnet);
  });

  it('keeps secrets in a directory that is neither committed nor part of the image', () => {
    for (const { file } of Object.values(secrets)) assert.match(file, /^\.\/secrets\//);
    assert.match(read('.gitignore'), /^\/secrets\/$/m);
    assert.doesNotMatch(read('.dockerignore'), /^!.*secrets/m);
  });

  it('limits the privileges and the log size of every container', () => {
    for (const [name, service] of Object.entries(services)) {
      assert.equal(service.read_only, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
      assert.ok(service.logging?.options['max-size'], name);
    }
    assert.equal(services.database?.user, 'postgres');
  });

  it('lets no process write a core dump, which would contain keys', () => {
    for (const [name, { ulimits }] of processes) assert.equal(ulimits?.core, 0, name);
  });

  it('gives a process enough time for a graceful shutdown before it is killed', () => {
    for (const [, { environment = {}, stop_grace_period: grace = '' }] of processes) {
      const delayMs = Number(environment.UGS_SHUTDOWN_DELAY_MS);
      const timeoutMs = Number(environment.UGS_SHUTDOWN_TIMEOUT_MS ?? settings.shutdownTimeoutMs.fallback);
      assert.ok(Number.parseInt(grace, 10) * 1_000 > delayMs + timeoutMs + CLOSING_MS, grace);
    }
  });

  // Process 1 of a container ignores signals without a handler, and most commands install none.
  it('lets Ctrl-C stop a command that runs in place of the service', () => {
    for (const [name, { init }] of processes) assert.equal(init, true, name);
  });

  it('balances the load between its processes', () => {
    const servers = [...haproxy.matchAll(/^ +server (\S+) (\S+):8080$/gm)].map(([, , host]) => host);
    assert.deepEqual(
      servers,
      processes.map(([name]) => name),
    );
  });

  // HAProxy removes every server by default after DNS has failed for 30 seconds.
  it('resolves container names by DNS, and keeps the last address while DNS fails', () => {
    const [, resolvers = ''] = /^resolvers containers\n((?: .*\n)+)/m.exec(haproxy) ?? [];
    assert.match(resolvers, /^ +parse-resolv-conf$/m);
    for (const status of ['nx', 'refused', 'timeout', 'other']) {
      assert.match(resolvers, new RegExp(`^ +hold ${status} 1d$`, 'm'));
    }
  });
});

const isInstalled = spawnSync('haproxy', ['-v']).error === undefined;
const skip = !isInstalled && 'haproxy is not installed';

/** Starts the load balancer of the Compose file in front of these addresses. */
function balance(folder: Folder, port: number, urls: readonly string[], timeoutMs = 10_000): Program {
  let text = haproxy
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('timeout server 10s', `timeout server ${timeoutMs}ms`);
  for (const [index, [name]] of processes.entries()) {
    text = text.replace(` ${name}:8080`, ` ${new URL(urls[index]!).host}`);
  }
  writeFileSync(folder.join('haproxy.cfg'), text);
  return new Program(folder, ['-db', '-f', 'haproxy.cfg'], { command: 'haproxy' });
}

describe('The load balancer', { skip }, () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let database: TestDatabase;
  let running: Service[];
  let balancer: Program;
  let url: string;
  let token: string;

  before(async () => {
    database = stack.use(await postgres.create());
    ({ token } = await createApiToken(folder, [], { env: database.env }));
    running = await Promise.all(processes.map(([, composed]) => start(composed)));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    balancer = stack.use(
      balance(
        folder,
        port,
        running.map((service) => service.url),
      ),
    );
    await eventually('a response', async () => (await call('GET', '/readyz'))?.status === 200);
  });

  /** Starts a process with the settings of the Compose file, except for those that name files. */
  async function start({ environment = {} }: ComposedService, port = '0'): Promise<Service> {
    const plain = Object.entries(environment).filter(([name]) => !name.endsWith('_FILE'));
    // The load balancer of the test is not in a network of containers.
    const own = { PORT: port, UGS_TRUSTED_PROXIES: '127.0.0.1', ...LIMITED };
    const env = { ...database.env, ...Object.fromEntries(plain), ...own };
    return stack.use(await serve(folder, { env }));
  }

  /** Returns null without a response. */
  function call(method: string, path: string, body?: unknown): Promise<TestResponse | null> {
    return send(url, { token, method, path, body }).catch(() => null);
  }

  it('forwards every operation unchanged, including the body of a GET', async () => {
    const created = await call('GET', '/api/user', { user_group_id: 'a', name: 'A', properties: { a: 1 } });
    assert.equal(created?.json.new_user_group, true);
    const updated = await call('PUT', '/api/user', { user_group_id: 'a', name: 'B' });
    assert.equal(updated?.json.user_group.name, 'B');
    const { token: current } = created?.json.user_group ?? {};
    const rotated = await call('POST', '/api/user', { current_token: current });
    assert.equal(rotated?.status, 200);
    const big = await call('PUT', '/api/user', {
      user_group_id: 'a',
      properties: { big: 'x'.repeat(60_000) },
    });
    assert.equal(big?.json.user_group.properties.big.length, 60_000);
  });

  it('reports the address of the client, so that the failures of one do not limit another', async () => {
    // One process behind the load balancer, because each process counts on its own.
    const port = await freePort();
    const [{ url: process }] = running as [Service, Service];
    await using one = balance(folder, port, [process, process]);
    const address = `http://127.0.0.1:${port}`;
    await eventually('a response', () =>
      send(address, { path: '/readyz' }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    await assertLimitedByClient(address);
    await one.kill();
  });

  it('loses no call during a rolling restart', async () => {
    let ended = false;
    const statuses: (number | undefined)[] = [];
    const load = Array.from({ length: 8 }, async (_, connection) => {
      for (let turn = 0; !ended; turn++) {
        const body = { user_group_id: `${connection}-${turn % 50}`, name: 'Name' };
        statuses.push((await call('GET', '/api/user', body))?.status);
      }
    });
    for (const [index, [name, composed]] of processes.entries()) {
      const old = running[index]!;
      old.signal('SIGTERM');
      assert.equal((await old.exit()).code, 0);
      running[index] = await start(composed, new URL(old.url).port);
      await balancer.says(new RegExp(`Server processes/${name} is UP`));
    }
    ended = true;
    await Promise.all(load);
    assert.ok(statuses.length > 1_000, `${statuses.length} calls`);
    assert.deepEqual(new Set(statuses), new Set([200]));
  });

  it('responds in the format of the service if no process is ready', async () => {
    await Promise.all(running.map((service) => service.kill()));
    await eventually('a refusal', async () => (await call('GET', '/readyz'))?.status === 503);
    const response = await call('GET', '/api/user', { user_group_id: 'a' });
    assert.equal(response?.status, 503);
    assert.equal(response.headers['content-type'], 'application/problem+json');
    assert.equal(response.headers['retry-after'], '1');
    const { success, status, code, request_id: id } = response.json;
    assert.deepEqual({ success, status, code }, { success: 0, status: 503, code: 'overloaded' });
    assert.match(id, /^\S+$/);
  });
});

describe('The load balancer, if a process has processed a request and the response is lost', {
  skip,
}, () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let service: TestService;
  let proxy: FaultyProxy;
  let client: UserGroupClient;

  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    proxy = stack.use(await FaultyProxy.start(service.url));
    const port = await freePort();
    stack.use(balance(folder, port, [proxy.url, proxy.url], 500));
    client = new UserGroupClient({
      url: `http://127.0.0.1:${port}`,
      apiToken: service.token,
      // Avoids reused connections, which HAProxy closes without a response in this case.
      fetch: (url, { headers, ...request }) =>
        fetch(url, { ...request, headers: { ...headers, connection: 'close' } }),
    });
    const create = () => client.getOrCreate({ user_group_id: 'kept', name: 'Kept' }).catch(() => null);
    await eventually('a response', create);
  });

  for (const [fault, status] of [
    ['lose response', 502],
    ['hang', 504],
  ] as const satisfies [Fault, number][]) {
    it(`does not claim with ${status} that the request had no effect`, async () => {
      const { etag } = await client.getOrCreate({ user_group_id: 'kept' });
      proxy.faults = [fault];
      const change = client.update({ user_group_id: 'kept', name: `Changed ${status}` }, { ifMatch: etag });
      await assert.rejects(change, { status, code: 'database_unavailable', retryAfterSeconds: 1 });
      assert.equal((await client.read('kept')).user_group.name, `Changed ${status}`);
    });

    it(`makes the client retry a deletion after ${status}, and report success`, async () => {
      await client.getOrCreate({ user_group_id: 'gone', name: 'Gone' });
      proxy.faults = [fault];
      await client.delete('gone');
      await assert.rejects(client.read('gone'), { code: 'user_group_not_found' });
    });
  }
});

function words([, list = '']: RegExpExecArray): string[] {
  return list.split(' ');
}

function read(file: string): string {
  return readFileSync(`${ROOT}${file}`, 'utf8');
}
