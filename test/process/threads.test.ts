// Processes with several serving threads: how they start, stop and fail.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PinnedClient } from '../support/connection/pinned-client.ts';
import { createApiToken, eventually, Folder, run, type Service, serve } from '../support/process.ts';

const NO_FREE_THREAD = fileURLToPath(new URL('../support/preload/no-free-thread.cjs', import.meta.url));
const FAILING_FILE = fileURLToPath(new URL('../support/preload/failing-file.cjs', import.meta.url));
const FAILING_THREAD = fileURLToPath(new URL('../support/preload/failing-thread.cjs', import.meta.url));
const LOADED_MODULES = fileURLToPath(new URL('../support/preload/loaded-modules.cjs', import.meta.url));
const THREADS = 2;
/** Lets all requests arrive while the database is locked. */
const LOCKED_MS = 300;
const PROMPT_MS = 5_000;
const env = { UGS_THREADS: String(THREADS) };

describe('A process with several serving threads', () => {
  it('has one per processor by default, and says how many', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { env: { UGS_THREADS: 'auto' } });
    const threads = Math.min(availableParallelism(), 16);
    await service.says(new RegExp(`"threads":${threads},[^\n]*"msg":"listening"`));
  });

  it('loads neither the client of fetch and WebSocket nor compilers of schemas, which it does not use', async () => {
    using folder = new Folder();
    const lists = folder.join('modules');
    mkdirSync(lists);
    const preload = { NODE_OPTIONS: `--require=${LOADED_MODULES}`, LOADED_MODULES: lists };
    await using service = await serve(folder, { env: { ...env, ...preload } });
    service.signal('SIGTERM');
    await service.exit();
    const threads = readdirSync(lists);
    assert.ok(threads.length > THREADS, 'serving threads and the writer');
    const unused = /undici|@fastify\/[a-z-]+-compiler/;
    for (const thread of threads)
      assert.doesNotMatch(readFileSync(`${lists}/${thread}`, 'utf8'), unused, `thread ${thread}`);
  });

  it('answers the requests of all threads before it exits on SIGTERM', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder, { env });
    const answers = await creatingInEachThread(folder, service, token, () => service.signal('SIGTERM'));
    for (const { status, json } of answers) assert.deepEqual([status, json.new_user_group], [200, true]);
    const { code, stderr } = await service.exit(PROMPT_MS);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  it('refuses a port on which another process serves another database, and an address of its metrics', async () => {
    using folder = new Folder();
    using other = new Folder();
    await using service = await serve(folder, { env });
    const { host, port } = new URL(service.url);
    const { code, stderr } = await run(other, ['serve', '--port', port], { env });
    assert.match(stderr, new RegExp(`^user-group-service: port ${port} is already in use; [^\n]+\n$`));
    assert.equal(code, 75);
    const refused = await run(other, ['serve'], { env: { ...env, UGS_METRICS_ADDRESS: host } });
    const metrics = /^user-group-service: UGS_METRICS_ADDRESS [\d.:]+ is already in use; [^\n]+\n$/;
    assert.match(refused.stderr, metrics);
    assert.equal(refused.code, 75);
  });

  it('listens on no port if a thread cannot start', async () => {
    using folder = new Folder();
    const trigger = folder.join('fail');
    writeFileSync(trigger, '');
    const failing = { FAIL_IN: 'other', FAIL_WHEN: trigger, NODE_OPTIONS: `--require=${FAILING_THREAD}` };
    const { code, stdout, stderr } = await run(folder, ['serve'], { env: { ...env, ...failing } });
    assert.equal(code, 1);
    assert.match(stderr, /a bug in a serving thread/);
    assert.doesNotMatch(stdout, /listening/);
  });

  it('exits with 78 and one line that says what to do if the system refuses one of them', async () => {
    using folder = new Folder();
    const refusing = { UGS_THREADS: '3', NODE_OPTIONS: `--require=${NO_FREE_THREAD}` };
    const { code, stderr } = await run(folder, ['serve'], { env: refusing });
    assert.match(
      stderr,
      /^user-group-service: cannot start 3 serving threads: EAGAIN; lower UGS_THREADS, or raise the limit [^\n]+\n$/,
    );
    assert.equal(code, 78);
  });

  it('exits with 69 and one line if the disk fails once the main thread has opened the database', async () => {
    using folder = new Folder();
    const { code, stderr } = await run(folder, ['serve'], {
      env: { ...env, NODE_OPTIONS: `--require=${FAILING_FILE}` },
    });
    assert.deepEqual([code, stderr], [69, 'user-group-service: SQLite: EIO: i/o error, access\n']);
  });

  it('is killed if a thread blocks and cannot close', async () => {
    using folder = new Folder();
    const trigger = folder.join('fail');
    const failure = { FAIL_HOW: 'block', FAIL_IN: 'other', FAIL_WHEN: trigger };
    const preload = { NODE_OPTIONS: `--require=${FAILING_THREAD}`, UGS_SHUTDOWN_TIMEOUT_MS: '0' };
    await using service = await serve(folder, { env: { ...env, ...failure, ...preload } });
    writeFileSync(trigger, '');
    await eventually('the thread to block', () => !existsSync(trigger));
    service.signal('SIGTERM');
    const { signal, stdout } = await service.exit();
    assert.equal(signal, 'SIGKILL');
    assert.match(stdout, /"level":60,[^\n]*"msg":"the shutdown takes too long: the process is killed"/);
  });

  for (const failing of ['main', 'other'] as const) {
    it(`answers the requests of the threads that are left after a bug, logs it and exits with 1: ${failing}`, async () => {
      using folder = new Folder();
      const { token } = await createApiToken(folder);
      const trigger = folder.join('fail');
      const failure = { FAIL_IN: failing, FAIL_WHEN: trigger, NODE_OPTIONS: `--require=${FAILING_THREAD}` };
      await using service = await serve(folder, { env: { ...env, ...failure } });
      const outcomes = await creatingInEachThread(folder, service, token, () => writeFileSync(trigger, ''));
      const { code, stdout } = await service.exit(2 * PROMPT_MS);
      assert.equal(code, 1);
      const lines = stdout.trim().split('\n');
      const fatal = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 60);
      assert.equal(fatal.length, 1);
      assert.match(fatal[0].err.message, /a bug in a serving thread/);
      const answered = outcomes.filter(({ status }) => status === 200);
      assert.equal(answered.length, THREADS - 1, JSON.stringify(outcomes.map(({ status }) => status)));
      await assert.rejects(new PinnedClient(service.url, token).call('GET', '/healthz'));
    });
  }
});

/**
 * Creates a group in each thread while the database is locked, and calls `meanwhile`. Returns 0 as the status
 * of a request whose connection was closed.
 */
async function creatingInEachThread(folder: Folder, { url }: Service, token: string, meanwhile: () => void) {
  const clients = await PinnedClient.ofEachThread(url, token, THREADS);
  const file = folder.join('data/user-groups.db');
  assert.ok(existsSync(file));
  const database = new DatabaseSync(file);
  database.exec('begin immediate');
  const creating = clients.map((client, index) =>
    client
      .call('GET', '/api/user', { user_group_id: `thread-${index}`, name: 'T' })
      .catch(() => ({ status: 0, json: null, thread: '' })),
  );
  await sleep(LOCKED_MS);
  meanwhile();
  await sleep(LOCKED_MS);
  database.exec('commit');
  database.close();
  return Promise.all(creating);
}
