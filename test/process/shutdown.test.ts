// SIGTERM, SIGINT and SIGHUP end the service in order: nobody who has been let in is turned away, and it takes no longer
// than the settings say.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiToken, type Exit, eventually, Folder, type Service, serve } from '../process.ts';
import { inTerminal, noTerminal } from '../terminal.ts';

/** Well below the time for which an idle connection or a request under way would keep the process. */
const PROMPT_MS = 5_000;
const DELAY_MS = 1_500;
const CALLERS = 16;
/** How long a signal that comes again is the same one. */
const MOMENT_MS = 1_000;
const APART_MS = 1.1 * MOMENT_MS;

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  describe(signal, () => {
    it('turns readiness off first and goes on serving for the delay, then ends with 0', async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      await using service = await serve(folder, { env: { UGS_SHUTDOWN_DELAY_MS: String(DELAY_MS) } });
      const startedAt = performance.now();
      service.signal(signal);
      const ready = await eventually('readiness to end', async () => {
        const answer = await service.send({ path: '/readyz', token: null });
        return answer.status === 503 && answer;
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

    it('answers a request whose body is still arriving, and takes no new connections meanwhile', async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      await using service = await serve(folder);
      const upload = await Upload.begin(service, token, '{"user_group_id":"slow","name":"Slow"}');
      service.signal(signal);
      await eventually('new connections to be refused', () => isRefused(service));
      upload.finish();
      const answer = await upload.answer();
      assert.match(answer, /HTTP\/1\.1 200 OK\r\n/);
      assert.match(answer, /"new_user_group":true/);
      assert.equal((await service.exit(PROMPT_MS)).code, 0);
    });

    it('closes idle connections, and leaves a database that is one file', async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      await using service = await serve(folder);
      await service.call(token, 'GET', '/api/user', { user_group_id: 'one', name: 'One' });
      const idle = await open(service);
      idle.write('GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n');
      await once(idle, 'data');
      const closed = once(idle, 'close');
      service.signal(signal);
      await closed;
      assert.equal((await service.exit(PROMPT_MS)).code, 0);
      assert.equal(existsSync(folder.join('data/user-groups.db-wal')), false);
    });

    it('a second time, a moment later, ends the service at once', async () => {
      using folder = new Folder();
      await using service = await serve(folder, { env: { UGS_SHUTDOWN_DELAY_MS: '600000' } });
      service.signal(signal);
      await service.says(/"msg":"stopping/);
      await sleep(APART_MS);
      service.signal(signal);
      const { code } = await service.exit(PROMPT_MS);
      assert.equal(code, 1);
    });
  });
}

describe('A shutdown', () => {
  // On Ctrl-C npm hands on what the process has from the terminal already.
  it('is in order where the same signal comes twice within a moment', async () => {
    let twice = await signalTwice();
    // On a busy machine the second one may have come late, which is another matter.
    for (let round = 0; twice.code === 1 && twice.tookMs > MOMENT_MS; round++) {
      assert.ok(round < 10, 'the machine is too busy to signal twice within a moment');
      twice = await signalTwice();
    }
    assert.equal(twice.code, 0);
    assert.match(twice.stdout, /"msg":"stopped"/);
  });

  it('is in order where the terminal is closed', {
    skip: noTerminal,
  }, async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const terminal = await serve(folder, { command: inTerminal(folder), env: { UGS_LOG_FORMAT: 'json' } });
    const upload = await Upload.begin(terminal, token, '{"user_group_id":"slow","name":"Slow"}');
    await terminal.kill();
    await eventually('new connections to be refused', () => isRefused(terminal));
    upload.finish();
    assert.match(await upload.answer(), /"new_user_group":true/);
    await eventually('the database to be closed', () => !existsSync(folder.join('data/user-groups.db-wal')));
  });

  it('breaks no connection that is kept and in use, also where nothing is set', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder);
    const callers = Array.from({ length: CALLERS }, () => new KeepingCaller(service.url, token));
    await eventually('calls on connections that are kept', () => callers.every(({ kept }) => kept > 0));
    service.signal('SIGTERM');
    assert.equal((await service.exit(PROMPT_MS)).code, 0);
    const broken = await Promise.all(callers.map(({ brokenWhileKept }) => brokenWhileKept));
    assert.equal(broken.filter(Boolean).length, 0);
  });

  it('cuts off a request that does not end within the shutdown timeout', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder, { env: { UGS_SHUTDOWN_TIMEOUT_MS: '200' } });
    const upload = await Upload.begin(service, token, '{"user_group_id":"never","name":"Never"}');
    const closed = once(upload.socket, 'close');
    service.signal('SIGTERM');
    await closed;
    assert.equal((await service.exit(PROMPT_MS)).code, 0);
  });

  it('is no warning in the log where a load balancer has asked for readiness and nobody was turned away', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { env: { UGS_SHUTDOWN_DELAY_MS: '500' } });
    service.signal('SIGTERM');
    await eventually(
      'readiness to end',
      async () => (await service.send({ path: '/readyz', token: null })).status === 503,
    );
    const { stdout } = await service.exit(PROMPT_MS);
    assert.doesNotMatch(stdout, /"level":[4-6]0/);
  });

  it('says in the log that it begins and that it has ended', async () => {
    using folder = new Folder();
    await using service = await serve(folder);
    service.signal('SIGTERM');
    const { stdout } = await service.exit(PROMPT_MS);
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    assert.deepEqual(messages, ['listening', 'stopping: requests in flight are answered first', 'stopped']);
  });
});

/** How it ends, and how long after the first signal. */
async function signalTwice(): Promise<Exit & { tookMs: number }> {
  using folder = new Folder();
  await using service = await serve(folder);
  const startedAt = performance.now();
  service.signal('SIGINT');
  await service.says(/"msg":"stopping/);
  service.signal('SIGINT');
  const exit = await service.exit(PROMPT_MS);
  return { ...exit, tookMs: performance.now() - startedAt };
}

/** Calls again as soon as it has its answer, on one connection as long as that is kept. */
class KeepingCaller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: URL;
  readonly #token: string;
  /** Calls that were answered on a connection that an earlier one has used. */
  kept = 0;
  /** How it ends when there is nobody to call any more. */
  readonly brokenWhileKept: Promise<boolean>;

  constructor(url: string, token: string) {
    this.#url = new URL('/v1/user-groups?limit=1', url);
    this.#token = token;
    this.brokenWhileKept = this.#callUntilTheEnd();
  }

  async #callUntilTheEnd(): Promise<boolean> {
    for (;;) {
      const call = get(this.#url, {
        agent: this.#agent,
        headers: { authorization: `Token ${this.#token}` },
      });
      try {
        const [answer] = (await once(call, 'response')) as [IncomingMessage];
        await once(answer.resume(), 'end');
      } catch {
        return call.reusedSocket;
      }
      if (call.reusedSocket) this.kept++;
    }
  }
}

/** A request of which the service has the headers and half of the body. */
class Upload {
  readonly socket: Socket;
  readonly #rest: string;
  #received = '';

  static async begin(service: Service, token: string, body: string): Promise<Upload> {
    const socket = await open(service);
    const upload = new Upload(socket, body.slice(10));
    socket.write(
      'GET /api/user HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n' +
        `Authorization: Token ${token}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    );
    // The interim answer says that the service has taken the request on.
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

  /** All that has come when the service has closed the connection. */
  async answer(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, 'close');
    return this.#received;
  }
}

async function open({ url }: Service): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  await once(socket, 'connect');
  // A reset is one way to be closed.
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
