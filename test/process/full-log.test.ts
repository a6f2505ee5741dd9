// A log that takes no more, such as one on a full disk, costs nobody an answer.

import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { describe, it } from 'node:test';
import { freePort } from '../postgres/server.ts';
import { createApiToken, eventually, Folder, PROGRAM, Program } from '../process.ts';

const ANSWER_LIMIT_MS = 5_000;
const FULL_DEVICE = '/dev/full';
/** More than a file may have under the limit of `appendToLog`. */
const FULL_BYTES = 4 * 2 ** 20;

describe('A log that is full', () => {
  it('goes on where it was when there is room again, and the service serves and ends as ever', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const log = folder.join('log');
    closeSync(openSync(log, 'w'));
    truncateSync(log, FULL_BYTES);
    const port = await freePort();
    await using service = program(folder, appendToLog, ['serve', '--port', String(port)]);
    const answer = await eventually('an answer', () => create(port, token).catch(() => null));
    assert.equal(answer.status, 201);
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

describe('Output that is full', { skip: !existsSync(FULL_DEVICE) }, () => {
  for (const command of ['api-token list', 'export --workspace default']) {
    it(`ends ${command} with 1 and one line`, async () => {
      using folder = new Folder();
      await createApiToken(folder);
      await using full = program(folder, `"$0" "$@" > ${FULL_DEVICE}`, command.split(' '));
      const { code, stderr } = await full.exit();
      assert.equal(code, 1);
      assert.match(stderr, /^user-group-service: [^\n]*no space left[^\n]*\n$/);
    });
  }
});

/** SIGXFSZ is ignored by Node, so that a write beyond the limit fails as on a full disk. */
const appendToLog = 'ulimit -f 2048; exec "$0" "$@" >> log';

function program(folder: Folder, script: string, args: readonly string[]): Program {
  return new Program(folder, ['-c', script, process.execPath, PROGRAM, ...args], { command: 'sh' });
}

/** A process that waits for its log takes connections, and answers none. */
function create(port: number, token: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/user-groups`, {
    method: 'POST',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user_group_id: 'one', name: 'One' }),
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  });
}
