// SIGTERM, SIGINT and the SIGHUP of a terminal shut the service down gracefully: accepted requests are
// completed, and the shutdown takes no longer than configured.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  Program,
  type Service,
  serve,
} from '../support/process.ts';
import { inTerminal, noTerminal } from '../support/terminal.ts';

/**
 * Much shorter than the time for which an idle connection or a request in flight would keep the process
 * alive.
 */
const PROMPT_MS = 5_000;
const DELAY_MS = 1_500;
const CALLERS = 16;
/** Lets all requests arrive while the database is locked. */
const LOCKED_MS = 300;
/** Longer than Node needs to open its inspector. */
const INSPECTOR_OPENS_MS = 500;
/** Maximum time after which a repeated signal counts as a duplicate. */
const DUPLICATE_SIGNAL_MS = 1_000;
const APART_MS = 1.1 * DUPLICATE_SIGNAL_MS;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  describe(signal, () => {
    it('first reports not ready while serving for the shutdown delay, then exits with 0', async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      await using service = await serve(folder, { env: { UGS_SHUTDOWN_DELAY_MS: String(DELAY_MS) } });
      const startedAt = performance.now();
      service.signal(signal);
      const ready = await eventually('readiness to end', async () => {
        const response = await service.send({ path: '/readyz', token: null });
        return response.status === 503 && response;
      });
      assert.equal(ready.json.code, 'shutting_down');
      assert.equal(ready.json.success, 0);
      assert.match(ready.headers['retry-after'] ?? '', /^[1-9]\d*$/);
      const body = { user_group_id: 'late', name: 'Late' };
      assert.equal((await service.call(token, 'GET', '/api/user', body)).json.new_user_group, true);
      assert.equal((await service.send({ path: '/healthz', token: null })).status, 200);

      const { code, stderr } = await service.exit(DELAY_MS + PROMPT_MS);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.ok(performance.now() - startedAt >= DELAY_MS - 1);
    });

    it('closes idle connections, completes a request whose body is still arriving, refuses new connections meanwhile, and leaves the database as a single file', async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      await using service = await serve(folder);
      const upload = await Upload.start(service, token, '{"user_group_id":"slow","name":"Slow"}');
      const idle = await open(service);
      idle.write('GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n');
      await once(idle, 'data');
      const closed = once(idle, 'close');
      service.signal(signal);
      await closed;
      await eventually('new connections to be refused', () => isRefused(service));
      upload.finish();
      const response = await upload.response();
      assert.match(response, /HTTP\/1\.1 200 OK\r\n/);
      assert.match(response, /"new_user_group":true/);
      assert.equal((await service.exit(PROMPT_MS)).code, 0);
      assert.equal(existsSync(folder.join('data/user-groups.db-wal')), false);
    });

    it('ends the service immediately when it is repeated later', async () => {
      using folder = new Folder();
      await using service = await serve(folder, { env: { UGS_SHUTDOWN_DELAY_MS: '600000' } });
      service.signal(signal);
      await service.says(/"msg":"shutting down/);
      await sleep(APART_MS);
      service.signal(signal);
      const { code } = await service.exit(PROMPT_MS);
      assert.equal(code, 1);
    });
  });
}

describe('Without a terminal', () => {
  it('SIGHUP, SIGUSR1 and SIGUSR2 are ignored, and logged', async () => {
    using folder = new Folder();
    await using service = await serve(folder);
    for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) {
      service.signal(signal);
      await service.says(new RegExp(`"signal":"${signal}","msg":"signal ignored`));
      service.signal(signal);
      assert.equal((await service.send({ path: '/readyz', token: null })).status, 200);
    }
    service.signal('SIGTERM');
    const { code, stderr } = await service.exit(PROMPT_MS);
    // Node would announce its inspector on standard error.
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  it('SIGUSR1 opens no inspector for a command', async () => {
    using folder = new Folder();
    const pipe = folder.join('groups');
    execFileSync('mkfifo', [pipe]);
    await using program = new Program(folder, ['import', pipe, '--workspace', 'a', '--create-workspace']);
    // Resolves once the program has opened the pipe too, and so waits for lines.
    const lines = await openFile(pipe, 'w');
    program.signal('SIGUSR1');
    await sleep(INSPECTOR_OPENS_MS);
    await lines.close();
    const { code, stderr } = await program.exit();
    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /[Dd]ebugger/);
  });
});

describe('A shutdown', () => {
  // On Ctrl-C, npm forwards the signal that the process has already received from the terminal.
  it('is graceful if the signal is duplicated', async () => {
    let twice = await signalTwice();
    // On a busy machine, the second signal may arrive too late to count as a duplicate.
    for (let round = 0; twice.code === 1 && twice.tookMs > DUPLICATE_SIGNAL_MS; round++) {
      assert.ok(round < 10, 'the machine is too busy to send a duplicate signal in time');
      twice = await signalTwice();
    }
    assert.equal(twice.code, 0);
    assert.match(twice.stdout, /"msg":"stopped"/);
  });

  it('is graceful when the terminal is closed', {
    skip: noTerminal,
  }, async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const terminal = await serve(folder, { command: inTerminal(folder), env: { UGS_LOG_FORMAT: 'json' } });
    const upload = await Upload.start(terminal, token, '{"user_group_id":"slow","name":"Slow"}');
    await terminal.kill();
    await eventually('new connections to be refused', () => isRefused(terminal));
    upload.finish();
    assert.match(await upload.response(), /"new_user_group":true/);
    await eventually('the database to be closed', () => !existsSync(folder.join('data/user-groups.db-wal')));
  });

  it('rejects a request that arrives on an open connection while the service closes', async () => {
    using folder = new Folder();
    await using service = await serve(folder);
    const socket = await open(service);
    socket.write('GET /healthz HTTP/1.1\r\nHost: te');
    service.signal('SIGTERM');
    await eventually('new connections to be refused', () => isRefused(service));
    socket.write('st\r\n\r\n');
    const [response] = await once(socket, 'data');
    assert.match(response, /^HTTP\/1\.1 503 .*"code":"shutting_down"/s);
    assert.equal((await service.exit(PROMPT_MS)).code, 0);
  });

  it('completes the requests of clients that have disconnected', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder);
    await service.call(token, 'GET', '/api/user', { user_group_id: 'left', name: 'Left' });
    const file = folder.join('data/user-groups.db');
    {
      using database = new DatabaseSync(file);
      database.exec('begin immediate');
      // All patch the same group, so each waits for the one before it.
      const uploads: Upload[] = [];
      for (let number = 0; number < CALLERS; number++) {
        const body = JSON.stringify({ name: `Name ${number}` });
        const upload = await Upload.start(service, token, body, 'PATCH /v1/user-groups/left');
        upload.finish();
        uploads.push(upload);
      }
      await sleep(LOCKED_MS);
      for (const { socket } of uploads) socket.destroy();
      service.signal('SIGTERM');
      await eventually('new connections to be refused', () => isRefused(service));
      database.exec('rollback');
    }
    assert.equal((await service.exit(PROMPT_MS)).code, 0);
    using database = new DatabaseSync(file);
    assert.deepEqual(
      { ...database.prepare('select version from user_groups').get() },
      { version: CALLERS + 1 },
    );
  });

  it('breaks no keep-alive connection in use with the default settings', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder);
    const callers = Array.from({ length: CALLERS }, () => new KeepAliveCaller(service.url, token));
    await eventually('calls on reused connections', () => callers.every(({ reuses }) => reuses > 0));
    service.signal('SIGTERM');
    assert.equal((await service.exit(PROMPT_MS)).code, 0);
    const broken = await Promise.all(callers.map(({ brokenWhileReused }) => brokenWhileReused));
    assert.equal(broken.filter(Boolean).length, 0);
  });

  it('aborts a request that is not complete within the shutdown timeout', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder, { env: { UGS_SHUTDOWN_TIMEOUT_MS: '200' } });
    const upload = await Upload.start(service, token, '{"user_group_id":"never","name":"Never"}');
    const closed = once(upload.socket, 'close');
    service.signal('SIGTERM');
    await closed;
    assert.equal((await service.exit(PROMPT_MS)).code, 0);
  });

  it('logs its start and its end, and no warning for readiness checks of a load balancer', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { env: { UGS_SHUTDOWN_DELAY_MS: '500' } });
    service.signal('SIGTERM');
    await eventually(
      'readiness to end',
      async () => (await service.send({ path: '/readyz', token: null })).status === 503,
    );
    const { stdout } = await service.exit(PROMPT_MS);
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      // Lower levels report details, such as the creation of the schema.
      .filter(({ level }) => level >= 30)
      .map(({ msg }) => msg);
    assert.deepEqual(messages, ['listening', 'shutting down: draining requests in flight', 'stopped']);
  });
});

/** Returns the exit, with the time from the first signal to it. */
async function signalTwice(): Promise<Exit & { tookMs: number }> {
  using folder = new Folder();
  await using service = await serve(folder);
  const startedAt = performance.now();
  service.signal('SIGINT');
  await service.says(/"msg":"shutting down/);
  service.signal('SIGINT');
  const exit = await service.exit(PROMPT_MS);
  return { ...exit, tookMs: performance.now() - startedAt };
}

/** Sends requests back to back on a keep-alive connection. */
class KeepAliveCaller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: URL;
  readonly #token: string;
  /** Number of calls completed on a reused connection. */
  reuses = 0;
  /** Whether the first failed call was on a reused connection, not a refused new connection. */
  readonly brokenWhileReused: Promise<boolean>;

  constructor(url: string, token: string) {
    this.#url = new URL('/v1/user-groups?limit=1', url);
    this.#token = token;
    this.brokenWhileReused = this.#callUntilFailure();
  }

  async #callUntilFailure(): Promise<boolean> {
    for (;;) {
      const call = get(this.#url, {
        agent: this.#agent,
        headers: { authorization: `Token ${this.#token}` },
      });
      try {
        const [response] = (await once(call, 'response')) as [IncomingMessage];
        await once(response.resume(), 'end');
      } catch {
        return call.reusedSocket;
      }
      if (call.reusedSocket) this.reuses++;
    }
  }
}

/** Request of which the service has received the headers and part of the body. */
class Upload {
  readonly socket: Socket;
  readonly #rest: string;
  #received = '';

  static async start(
    service: Service,
    token: string,
    body: string,
    target = 'GET /api/user',
  ): Promise<Upload> {
    const socket = await open(service);
    const upload = new Upload(socket, body.slice(10));
    socket.write(
      `${target} HTTP/1.1\r\nHost: test\r\n` +
        'Content-Type: application/json\r\nExpect: 100-continue\r\n' +
        `Authorization: Token ${token}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    );
    // The interim response shows that the service has accepted the request.
    await eventually('100 Continue', () => upload.#received.includes('HTTP/1.1 100 Continue'));
    socket.write(body.slice(0, 10));
    return upload;
  }

  private constructor(socket: Socket, rest: string) {
    this.socket = socket;
    this.#rest = rest;
    socket.on('data', (text: string) => {
      this.#received += text;
    });
  }

  finish(): void {
    this.socket.write(this.#rest);
  }

  /** Returns all received data after the service has closed the connection. */
  async response(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, 'close');
    return this.#received;
  }
}

async function open({ url }: Service): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  await once(socket, 'connect');
  // The connection may be closed by a reset.
  socket.on('error', () => {});
  return socket;
}

async function isRefused(service: Service): Promise<boolean> {
  try {
    (await open(service)).destroy();
    return false;
  } catch {
    return true;
  }
}
