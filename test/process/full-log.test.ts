// A log that cannot be written to, such as one on a full disk, does not fail requests.

import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { createApiToken, eventually, Folder, PROGRAM, Program, run } from '../support/process.ts';

const RESPONSE_TIMEOUT_MS = 5_000;
const FULL_DEVICE = '/dev/full';
/** More than the file size limit of `appendToLog`. */
const FULL_BYTES = 4 * 2 ** 20;

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
    assert.equal(response.status, 201);
    truncateSync(log, 0);
    service.signal('SIGTERM');
    const { code, stderr } = await service.exit();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const messages = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    assert.equal(messages[0], 'listening');
    assert.equal(messages.at(-1), 'stopped');
  });
});

describe('Standard output on a full device', { skip: !existsSync(FULL_DEVICE) }, () => {
  for (const command of ['api-token list', 'export --workspace default']) {
    it(`makes ${command} exit with 2 and one line`, async () => {
      using folder = new Folder();
      await createApiToken(folder);
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
    const { code } = await run(folder, plan);
    assert.equal(code, 2);
    await using full = program(folder, `"$0" "$@" > ${FULL_DEVICE}`, plan);
    const { code: fullCode, stderr } = await full.exit();
    assert.match(stderr, /^user-group-service: cannot write to standard output: [^\n]*no space left/m);
    assert.equal(fullCode, 74);
  });
});

/** Node ignores SIGXFSZ, so that a write beyond the limit fails as on a full disk. */
const appendToLog = 'ulimit -f 2048; exec "$0" "$@" >> log';

function program(folder: Folder, script: string, args: readonly string[]): Program {
  return new Program(folder, ['-c', script, process.execPath, PROGRAM, ...args], { command: 'sh' });
}

/** Times out, because a process blocked on its log accepts connections but does not respond. */
function create(port: number, token: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/user-groups`, {
    method: 'POST',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_group_id: 'one', name: 'One' }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  });
}
