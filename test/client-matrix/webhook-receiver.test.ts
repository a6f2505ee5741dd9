// The receivers of docs/webhooks.md, exactly as shown there, accept what the service sends, and refuse
// everything else.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../support/connection/free-port.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { sqlite } from '../support/database.ts';
import { codeBlocks, pageText } from '../support/page.ts';
import { eventually, Folder, Program, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { env, PATH, Tenant } from '../support/webhooks/tenant.ts';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const hasTypes = existsSync(pathOf('node_modules/@types/express')) && existsSync(pathOf('client/dist'));

/** Python that has Flask and Standard Webhooks. */
const python = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import flask, standardwebhooks']).status === 0,
);

const receivers = [
  { name: 'Node', language: 'js', file: 'mjs', command: process.execPath, args: [] },
  { name: 'Express', language: 'ts', file: 'mts', command: process.execPath, args: [] },
  { name: 'Flask', language: 'python', file: 'py', command: python, args: ['-m', 'flask', '--app'] },
];

/** Writes the receiver into this folder, where its imports resolve. */
function written({ language, file }: { language: string; file: string }, port = 3000) {
  const [block = ''] = codeBlocks(pageText('docs/webhooks.md'), language);
  const path = pathOf(`test/client-matrix/receiver-${process.pid}.${file}`);
  writeFileSync(path, block.replaceAll('3000', String(port)));
  return { path, [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

describe('A receiver in docs/webhooks.md', () => {
  const service = TestService.of(sqlite, { env });
  const folder = Folder.of();

  for (const receiver of receivers) {
    const { name, command, args } = receiver;
    it(`accepts what the service sends, and answers 400 to the rest, for ${name}`, {
      skip: command === undefined && 'Flask and standardwebhooks are not installed',
    }, async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/webhooks`;
      const tenant = await Tenant.create(service, name);
      const secret = await tenant.endpoint('crm', url, ['webhook_endpoint.tested']);
      using file = written(receiver, port);
      await using program = new Program(folder, [...args, file.path, 'run', '--port', String(port)], {
        command: command!,
        env: {
          WEBHOOK_SECRET: secret,
          NODE_ENV: 'production',
          PYTHONUNBUFFERED: '1',
          PYTHONDONTWRITEBYTECODE: '1',
        },
      });
      const send = (headers: Record<string, string>, body: string | null = '{}') =>
        fetch(url, { method: 'POST', headers, body });
      await eventually('the receiver', () => {
        assert.ok(!program.hasEnded, program.stderr);
        return send({}).catch(() => null);
      });

      const signed = {
        'content-type': 'application/json',
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      };
      for (const signature of ['v1,AAAA', 'v1,A', 'v1', 'v1,', 'v1,\u00e9', ',', ' ', '']) {
        const headers = { ...signed, 'webhook-signature': signature };
        for (const body of ['{}', null]) assert.equal((await send(headers, body)).status, 400, signature);
        const other = { ...headers, 'content-type': 'text/plain' };
        assert.equal((await send(other)).status, 400, signature);
      }
      const large = JSON.stringify({ type: 'x'.repeat(1_000_000), target: { id: 'large' } });
      const at = new Date(Number(signed['webhook-timestamp']) * 1_000);
      const signature = new Webhook(secret).sign('evt_1', at, large);
      const answer = await send({ ...signed, 'webhook-signature': signature }, large).catch(() => null);
      assert.ok(!answer?.ok, 'the receiver has read a body of a megabyte');
      const connection = await RawConnection.open(url);
      connection.write('POST /webhooks HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{');
      connection.leave();
      await connection.ended;

      const call = (method: string, path: string) => served(() => tenant.call(method, `${PATH}/crm/${path}`));
      assert.equal((await call('POST', 'test')).status, 202);
      await program.says(/webhook_endpoint\.tested crm/);
      await eventually('the delivery', async () => {
        const { json } = await call('GET', 'deliveries');
        return json.deliveries[0].state === 'delivered';
      });
    });
  }

  it('compiles in strict TypeScript', {
    skip: !hasTypes && 'the types of Express are not installed, or the client is not built',
  }, async () => {
    using file = written({ language: 'ts', file: 'compiled.mts' });
    const options = [
      '--ignoreConfig',
      '--strict',
      '--noEmit',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2023',
    ];
    const tsc = pathOf('node_modules/typescript/bin/tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [
      tsc,
      ...options,
      '--types',
      'node',
      file.path,
    ]);
    assert.equal(stdout, '');
  });
});
