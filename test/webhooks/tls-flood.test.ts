// Receivers that send without end what TLS processes and Node does not report. OpenSSL has a server that does so.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { after, before, describe, it } from 'node:test';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { freePort } from '../support/connection/free-port.ts';
import { Folder } from '../support/process.ts';
import { emptyWebhook } from '../support/webhooks/empty-webhook.ts';

const isInstalled = spawnSync('openssl', ['version']).error === undefined;
const TOO_LONG = { status: null, error: 'the receiver sent more than 64 KiB without a response' };
/** After this time the sender closes an idle connection. */
const IDLE_MS = 4_000;
const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
/** Commands to send a key update; the server executes one for each block that it reads. */
const KEY_UPDATES = 'k\n'.repeat(100_000);

describe('A receiver that floods its TLS connection', {
  skip: !isInstalled && 'openssl is not installed',
}, () => {
  const folder = Folder.of();
  const sender = new WebhookSender({ allowsPrivate: true });
  before(() => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-keyout', 'key.pem'];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...names, '-out', 'cert.pem'], {
      cwd: folder.path,
      stdio: 'ignore',
    });
  });
  after(() => sender.close());

  /** Starts a server for one connection. */
  async function startServer(...options: string[]) {
    const port = await freePort();
    const files = ['-cert', 'cert.pem', '-key', 'key.pem'];
    const address = ['-accept', `127.0.0.1:${port}`, '-naccept', '1'];
    const server = spawn('openssl', ['s_server', ...address, ...files, ...options], { cwd: folder.path });
    const closed = new Promise((resolve) => server.once('close', resolve));
    server.stdin.on('error', () => {});
    await new Promise<void>((resolve) => {
      server.stdout.on('data', (text: Buffer) => text.includes('ACCEPT') && resolve());
    });
    const updateKeys = (error?: Error | null): unknown =>
      !error && server.stdin.write(KEY_UPDATES, updateKeys);
    return {
      url: `https://127.0.0.1:${port}/`,
      closed,
      respond: () => server.stdin.write(RESPONSE),
      updateKeys,
      async [Symbol.asyncDispose]() {
        server.kill('SIGKILL');
        await closed;
      },
    };
  }

  it('with session tickets is left after 64 KiB', async (t) => {
    trustServer(t.mock);
    await using server = await startServer('-num_tickets', '100000');
    assert.deepEqual(await sender.send(emptyWebhook(server.url)), TOO_LONG);
  });

  it('with key updates is left after 64 KiB', async (t) => {
    trustServer(t.mock);
    await using server = await startServer();
    server.updateKeys();
    assert.deepEqual(await sender.send(emptyWebhook(server.url)), TOO_LONG);
  });

  it('after its response is left too', async (t) => {
    trustServer(t.mock);
    await using server = await startServer();
    server.respond();
    assert.deepEqual(await sender.send(emptyWebhook(server.url)), { status: 200, error: null });
    const startedAt = performance.now();
    server.updateKeys();
    await server.closed;
    assert.ok(performance.now() - startedAt < IDLE_MS);
  });

  function trustServer(mock: typeof import('node:test').mock): void {
    const { request } = https;
    const ca = readFileSync(folder.join('cert.pem'));
    mock.method(https, 'request', (url: string, options: object) => request(url, { ...options, ca }));
  }
});
