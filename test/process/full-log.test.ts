// A log that cannot be written to, such as one on a full disk, does not fail requests.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { freePort } from '../support/connection/free-port.ts';
import { createApiToken, eventually, Folder, PROGRAM, Program, runHosted } from '../support/process.ts';

/** A process that is blocked on its log never responds. */
const RESPONSE_TIMEOUT_MS = 30_000;
const FULL_DEVICE = '/dev/full';
/** Exceeds the file size limit of `appendToLog`. */
const FULL_BYTES = 4 * 2 ** 20;
/** Number of calls whose log lines do not fit into a pipe. */
const CALLS = 400;
/** Number of lines that exceeds what the log keeps. */
const MANY_LINES = 12_000;
const LOST_LINES = /"lines":(\d+),"msg":"lines of the log were lost/;
const LOG = new URL('../../src/log.ts', import.meta.url).href;

describe('A full log', () => {
  it('is continued when space is free again, while the service serves and shuts down normally', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const log = folder.join('log');
    closeSync(openSync(log, 'w'));
    truncateSync(log, FULL_BYTES);
    const port = await freePort();
    await using service = program(folder, appendToLog, ['serve', '--port', String(port)]);
    const response = await eventually('a response', () => create(port, token).catch(() => null));
    assert.ok(response.status < 300);
    truncateSync(log, 0);
    service.signal('SIGTERM');
    const { code, stderr } = await service.exit();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const messages = messagesOf(readFileSync(log, 'utf8'));
    assert.equal(messages[0], 'listening');
    assert.equal(messages.at(-1), 'stopped');
  });

  it('says how many lines were lost, if more are waiting than are kept', async () => {
    using folder = new Folder();
    const log = folder.join('log');
    closeSync(openSync(log, 'w'));
    truncateSync(log, FULL_BYTES);
    const script = `
      const { createLog } = await import('${LOG}');
      const log = await createLog({ logLevel: 'info', logFormat: 'auto' });
      for (let line = 0; line < ${MANY_LINES}; line++) log.info('x'.repeat(line % 100));
      process.once('SIGTERM', () => process.exit(0));
      setInterval(() => {}, 1_000);
      console.error('full');
    `;
    await using writer = program(folder, appendToLog, ['--input-type=module', '--eval', script], []);
    await eventually('the end of the lines', () => writer.stderr || null);
    truncateSync(log, 0);
    const lost = await eventually('the number of lost lines', () =>
      LOST_LINES.exec(readFileSync(log, 'utf8')),
    );
    assert.equal(messagesOf(readFileSync(log, 'utf8')).length, MANY_LINES - Number(lost[1]) + 1);
  });
});

describe('A log whose reader stalls', () => {
  it('stops neither requests nor the shutdown, and loses nothing if the reader continues', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const pipe = folder.join('pipe');
    execFileSync('mkfifo', [pipe]);
    // Opening only for reading would block until the service opens the pipe.
    const stalled = openSync(pipe, 'r+');
    const port = await freePort();
    const args = ['serve', '--port', String(port), '--threads', '1', '--access-log', 'on'];
    await using service = program(folder, 'exec "$0" "$@" > pipe', args);
    await eventually('a response', () => create(port, token).catch(() => null));
    let served = 0;
    for (let calls = 1; calls < CALLS; calls++) {
      const { status } = await create(port, token);
      if (status === 200) served++;
      else assert.equal(status, 503);
    }
    // On a busy machine, some calls are refused.
    assert.ok(served > CALLS / 2, `${served} of ${CALLS} calls`);
    await using reader = new Program(folder, [pipe], { command: 'cat' });
    await reader.says(/"msg":"request"/);
    closeSync(stalled);
    service.signal('SIGTERM');
    assert.equal((await service.exit()).code, 0);
    const { stdout } = await reader.exit();
    const messages = messagesOf(stdout);
    assert.equal(messages.filter((message) => message === 'request').length, CALLS);
    assert.equal(messages.at(-1), 'stopped');
  });

  it('does not keep the process from exiting', async () => {
    using folder = new Folder();
    execFileSync('mkfifo', [folder.join('pipe')]);
    const stalled = openSync(folder.join('pipe'), 'r+');
    const script = `
      const { createLog } = await import('${LOG}');
      const log = await createLog({ logLevel: 'info', logFormat: 'auto' });
      for (let line = 0; line < ${MANY_LINES}; line++) log.info('x');
    `;
    await using writer = program(
      folder,
      'exec "$0" "$@" > pipe',
      ['--input-type=module', '--eval', script],
      [],
    );
    assert.equal((await writer.exit()).code, 0);
    closeSync(stalled);
  });
});

describe('Standard output on a full device', { skip: !existsSync(FULL_DEVICE) }, () => {
  for (const command of ['api-token list', 'export --workspace default']) {
    it(`makes ${command} exit with 2 and one line`, async () => {
      using folder = new Folder();
      await createApiToken(folder);
      writeFileSync(folder.join('groups.ndjson'), '{"user_group_id": "one", "name": "One"}\n');
      assert.equal((await runHosted(folder, ['import', 'groups.ndjson', '--workspace', 'default'])).code, 0);
      await using full = program(folder, `"$0" "$@" > ${FULL_DEVICE}`, command.split(' '));
      const { code, stderr } = await full.exit();
      assert.equal(code, 2);
      assert.match(stderr, /^user-group-service: [^\n]*no space left[^\n]*\n$/);
    });
  }

  it('makes config plan exit with 74, because 2 means that there are changes', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    writeFileSync(folder.join('config.json'), '{"version": 1, "schemas": {"40": {"name": "Sales"}}}');
    const plan = ['config', 'plan', 'config.json', '--workspace', 'default', '--environment', 'Customer'];
    const { code } = await runHosted(folder, plan);
    assert.equal(code, 2);
    await using full = program(folder, `"$0" "$@" > ${FULL_DEVICE}`, plan);
    const { code: fullCode, stderr } = await full.exit();
    assert.match(
      stderr,
      /^user-group-service: cannot write to standard output: [^\n]*no space left.*; what the command has changed stays$/m,
    );
    assert.equal(fullCode, 74);
  });
});

describe('A closed pipe as standard output', () => {
  for (const [command, expected] of [
    ['api-token create --workspace default', 2],
    ['api-token rotate ID', 2],
    ['api-token generate', 2],
    ['key generate', 2],
    ['api-token list', 0],
    ['api-token create --help', 0],
  ] as const) {
    it(`makes ${command} exit with ${expected}`, async () => {
      using folder = new Folder();
      const { id } = await createApiToken(folder);
      const script = `{ until [ -e closed ]; do sleep 0.01; done; "$0" "$@"; echo "exit $?" >&2; } | { exec <&-; : > closed; }`;
      await using closed = program(folder, script, command.replace('ID', `${id}`).split(' '));
      const { stderr } = await closed.exit();
      const lost = 'user-group-service: cannot write to standard output: [^\\n]+\\n';
      assert.match(stderr, new RegExp(`^${expected === 0 ? '' : lost}exit ${expected}\\n$`));
    });
  }
});

/** Limits the file size; Node ignores SIGXFSZ, so a write beyond the limit fails as on a full disk. */
const appendToLog = 'ulimit -f 4096; exec "$0" "$@" >> log';

function program(folder: Folder, script: string, args: readonly string[], program = [PROGRAM]): Program {
  return new Program(folder, ['-c', script, process.execPath, ...program, ...args], { command: 'sh' });
}

function messagesOf(log: string): string[] {
  const lines = log.trim().split('\n');
  return lines.map((line) => JSON.parse(line).msg);
}

/** Times out: a process that is blocked on its log accepts connections but does not respond. */
function create(port: number, token: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/user-groups`, {
    method: 'POST',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_group_id: 'one', name: 'One' }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  });
}
