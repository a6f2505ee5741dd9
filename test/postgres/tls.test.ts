// TLS on the way to PostgreSQL, by the parameters of DATABASE_URL that PostgreSQL's own programs take.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { createApiToken, Folder, run, serve } from '../process.ts';
import { type PostgresServer, startPostgres } from './server.ts';

const isInstalled = spawnSync('openssl', ['version']).error === undefined;

describe('A PostgreSQL that speaks TLS', { skip: !isInstalled && 'openssl is not installed' }, () => {
  const folder = new Folder();
  let server: PostgresServer;

  before(async () => {
    server = await startPostgres();
    for (const name of ['server', 'other']) makeCertificate(name);
    await speakTls();
  });
  after(async () => {
    await server.stop();
    folder[Symbol.dispose]();
  });

  function makeCertificate(name: string): void {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', folder.join(`${name}.key`), '-out', folder.join(`${name}.crt`)];
    execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, ...files], {
      stdio: 'ignore',
    });
  }

  async function speakTls(): Promise<void> {
    const { uid, gid } = statSync(server.folder);
    for (const file of ['server.key', 'server.crt']) {
      const target = join(server.folder, file);
      copyFileSync(folder.join(file), target);
      chownSync(target, uid, gid);
    }
    await ask('alter system set ssl = on');
    await ask('select pg_reload_conf()');
  }

  async function ask(sql: string): Promise<unknown[]> {
    const client = new pg.Client(server.url);
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  }

  /** Of a service that trusts the certificate. */
  function trusting(certificate: string): Record<string, string> {
    const url = new URL(server.url);
    url.hostname = 'localhost';
    url.search = `sslmode=verify-full&sslrootcert=${folder.join(certificate)}`;
    return { DATABASE_URL: url.href, UGS_TOKEN_KEYS: generateKeyLine().reveal() };
  }

  it('is asked over TLS where its certificate is trusted', async () => {
    const env = trusting('server.crt');
    const { token } = await createApiToken(folder, [], { env });
    await using service = await serve(folder, { env });
    const body = { user_group_id: 'one', name: 'One' };
    assert.equal((await service.call(token, 'GET', '/api/user', body)).status, 200);
    const connections = await ask(`select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'user-group-service'`);
    assert.deepEqual(connections, [{ ssl: true }]);
  });

  it('is refused where its certificate is another one', async () => {
    const { code, stderr } = await run(folder, ['migrate'], { env: trusting('other.crt') });
    assert.equal(code, 69);
    assert.match(stderr, /^user-group-service: PostgreSQL: [^\n]*certificate[^\n]*\n$/);
  });
});
