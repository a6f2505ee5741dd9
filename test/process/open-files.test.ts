// Connections that the process cannot accept are logged, and accepted again once resources are free.

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createApiToken, eventually, Folder, PROGRAM, Program, Service } from '../support/process.ts';

const NO_FREE_FILE = fileURLToPath(new URL('../support/preload/no-free-file.cjs', import.meta.url));
const MAX_FILES = 80;
const WITH_FEW_FILES = `ulimit -n ${MAX_FILES}; exec "$0" "$@"`;
const REFUSED = /"level":50[^\n]*too many open files \(EMFILE\)[^\n]*ulimit -n/g;
const RECOVERED = /files can be opened again/g;
const FULL = /"level":40[^\n]*UGS_MAX_CONNECTIONS is reached/g;

describe('Connections that cannot be accepted', { skip: process.platform === 'win32' }, () => {
  it('are logged once if file descriptors run out, and accepted again when some are free', async () => {
    using folder = new Folder();
    await using service = await serveBy(folder, WITH_FEW_FILES);
    using crowd = new Crowd(service.url, MAX_FILES * 2);
    await eventually('refused connections', () => crowd.ended > 0);
    await eventually('the refusal in the log', () => countOf(service, REFUSED) > 0);
    // Outlasts one interval of the check.
    await sleep(2_500);
    crowd.leave();
    await eventually('the recovery in the log', () => countOf(service, RECOVERED) === 1);
    // Each thread notices this on its own.
    const ready = await eventually('a free connection', () =>
      service.send({ path: '/readyz' }).catch(() => null),
    );
    assert.equal(ready.status, 200);
    assert.equal(countOf(service, REFUSED), 1);
  });

  it('are closed if several threads serve, although each takes descriptors of the other', async () => {
    using folder = new Folder();
    await using service = await serveBy(folder, WITH_FEW_FILES, { UGS_THREADS: '2' });
    using crowd = new Crowd(service.url, MAX_FILES * 2);
    await eventually('all connections accepted or closed', async () => {
      const { ended } = crowd;
      await sleep(500);
      return ended > MAX_FILES && ended === crowd.ended;
    });
    // Logged at the next check, because the event loops may close connections before it.
    await eventually('the refusal in the log', () => countOf(service, REFUSED) > 0);
    crowd.leave();
    await eventually('the recovery in the log', () => countOf(service, RECOVERED) > 0);
    // Each thread notices this on its own.
    const ready = await eventually('a free connection', () =>
      service.send({ path: '/readyz' }).catch(() => null),
    );
    assert.equal(ready.status, 200);
  });

  it('are logged once when the maximum number of connections is reached', async () => {
    using folder = new Folder();
    const env = { UGS_MAX_CONNECTIONS: '10', UGS_THREADS: '1' };
    await using service = await serveBy(folder, 'exec "$0" "$@"', env);
    using crowd = new Crowd(service.url, 40);
    await eventually('refused connections', () => crowd.ended === 30);
    await eventually('the refusal in the log', () => countOf(service, FULL) > 0);
    assert.equal(countOf(service, FULL), 1);
    crowd.leave();
    await eventually('a free connection', () => service.send({ path: '/readyz' }).catch(() => null));
  });
});

describe('A process without a free file descriptor', { skip: process.platform === 'win32' }, () => {
  for (const [moment, at] of [
    ['start', 'it starts'],
    ['load', 'it loads the server'],
    ['open', 'it opens the database'],
    ['listen', 'one of its serving threads listens'],
  ])
    it(`exits with 78 and one line that says which limit to raise: when ${at}`, async () => {
      using folder = new Folder();
      const args = ['-c', WITH_FEW_FILES, process.execPath, PROGRAM, 'serve'];
      const env = { UGS_THREADS: '2', NO_FILE_AT: moment!, NODE_OPTIONS: `--require=${NO_FREE_FILE}` };
      await using program = new Program(folder, args, { command: 'sh', env });
      const { code, stderr } = await program.exit();
      assert.match(
        stderr,
        /^user-group-service: too many open files; raise the limit \(ulimit -n, LimitNOFILE\): [^\n]+\n$/,
      );
      assert.equal(code, 78);
    });
});

describe('The maximum number of connections', { skip: process.platform === 'win32' }, () => {
  it('is that of the process, whatever its threads', async () => {
    using folder = new Folder();
    const threads = 2;
    const env = { UGS_MAX_CONNECTIONS: '10', UGS_THREADS: String(threads) };
    await using service = await serveBy(folder, 'exec "$0" "$@"', env);
    using crowd = new Crowd(service.url, 40);
    // Threads that accept connections at the same instant may each believe that theirs is the last one.
    await eventually('refused connections', () => crowd.ended > 30 - threads);
    await sleep(500);
    assert.ok(crowd.ended <= 30, String(crowd.ended));
    crowd.leave();
    await eventually('a free connection', () => service.send({ path: '/readyz' }).catch(() => null));
  });

  it('keeps no caller out: a new connection closes the oldest without an authenticated request', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const env = { UGS_MAX_CONNECTIONS: '100', UGS_THREADS: '2' };
    await using service = await serveBy(folder, 'exec "$0" "$@"', env);
    const call = (agent: Agent) => service.send({ token, path: '/v1/user-groups', agent });
    const pool = new Agent({ keepAlive: true, maxSockets: 1 });
    assert.equal((await call(pool)).status, 200);
    const kept = Object.values(pool.freeSockets).flat()[0];
    using crowd = new Crowd(service.url, 110, 500);
    await eventually('refused connections', () => crowd.ended > 20);
    for (let round = 0; round < 50; round++) assert.equal((await call(new Agent())).status, 200);
    assert.equal((await call(pool)).status, 200);
    assert.equal(Object.values(pool.freeSockets).flat()[0], kept);
    pool.destroy();
  });

  for (const threads of [1, 2])
    it(`keeps no workspace out when another one has all connections: UGS_THREADS=${threads}`, async () => {
      using folder = new Folder();
      const { token: greedy } = await createApiToken(folder);
      const { token } = await createApiToken(folder, ['--workspace', 'other', '--create-workspace']);
      const env = { UGS_MAX_CONNECTIONS: '20', UGS_THREADS: String(threads) };
      await using service = await serveBy(folder, 'exec "$0" "$@"', env);
      const whoami = (token: string, agent: Agent) => service.send({ token, path: '/v1/whoami', agent });
      const newAgents = (length: number) => Array.from({ length }, () => new Agent({ keepAlive: true }));
      const agents = newAgents(30);
      for (const agent of agents) assert.equal((await whoami(greedy, agent)).status, 200);
      // A connection in use stays while its thread has another beyond the share.
      const used = agents.at(-1)!;
      const socketOf = ({ freeSockets }: Agent) => Object.values(freeSockets).flat()[0];
      const socket = socketOf(used);
      const others = newAgents(20);
      for (const agent of others) {
        if (threads === 1) assert.equal((await whoami(greedy, used)).status, 200);
        assert.equal((await whoami(token, agent)).status, 200);
      }
      if (threads === 1) assert.equal(socketOf(used), socket);
      for (const agent of [...agents, ...others]) agent.destroy();
    });
});

function countOf({ stdout }: Service, pattern: RegExp): number {
  return stdout.match(pattern)?.length ?? 0;
}

/** Clients that connect and send nothing. */
class Crowd implements Disposable {
  readonly #port: number;
  readonly #returnsAfterMs: number | null;
  readonly #sockets = new Set<Socket>();
  #hasLeft = false;
  ended = 0;

  /** With `returnsAfterMs`, each connects again after it is disconnected. */
  constructor(url: string, count: number, returnsAfterMs: number | null = null) {
    this.#port = Number(new URL(url).port);
    this.#returnsAfterMs = returnsAfterMs;
    for (let index = 0; index < count; index++) this.#connect();
  }

  #connect(): void {
    const socket = connect(this.#port, '127.0.0.1')
      .on('error', () => {})
      .on('close', () => {
        this.ended++;
        if (!this.#sockets.delete(socket) || this.#returnsAfterMs === null) return;
        setTimeout(() => this.#hasLeft || this.#connect(), this.#returnsAfterMs);
      })
      .resume();
    this.#sockets.add(socket);
  }

  leave(): void {
    this.#hasLeft = true;
    for (const socket of this.#sockets) {
      this.#sockets.delete(socket);
      socket.destroy();
    }
  }

  [Symbol.dispose](): void {
    this.leave();
  }
}

function serveBy(folder: Folder, script: string, env: Record<string, string> = {}): Promise<Service> {
  const args = ['-c', script, process.execPath, PROGRAM, 'serve'];
  return Service.start(folder, args, { command: 'sh', env });
}
