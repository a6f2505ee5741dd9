// TLS connections to PostgreSQL, configured by the parameters of DATABASE_URL that libpq supports.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { ConnectionPool } from '../../src/store/postgres/client/pool.ts';
import { optionsFor } from '../support/postgres/options.ts';
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts';
import { createApiToken, eventually, Folder, runHosted, serve } from '../support/process.ts';
import { SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const isInstalled = spawnSync('openssl', ['version']).error === undefined;

describe('A PostgreSQL server with TLS', { skip: !isInstalled && 'openssl is not installed' }, () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  const keys = generateKeyLine().reveal();
  let server: PostgresServer;

  before(async () => {
    server = await startPostgres();
    stack.defer(() => server.stop());
    for (const name of ['server', 'other']) createCertificate(name);
    await enableTls();
  });

  function createCertificate(name: string): void {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const files = ['-keyout', folder.join(`${name}.key`), '-out', folder.join(`${name}.crt`)];
    execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, ...files], {
      stdio: 'ignore',
    });
  }

  async function enableTls(): Promise<void> {
    const { uid, gid } = statSync(server.folder);
    for (const file of ['server.key', 'server.crt']) {
      const target = join(server.folder, file);
      copyFileSync(folder.join(file), target);
      chownSync(target, uid, gid);
    }
    await query('alter system set ssl = on');
    await query('select pg_reload_conf()');
  }

  async function query(sql: string): Promise<unknown[]> {
    await using client = await SqlConnection.open(server.url);
    const { rows } = await client.query(sql);
    return rows;
  }

  /** Returns the settings of a service that trusts the certificate. */
  function trusting(certificate: string): Record<string, string> {
    const url = new URL(server.url);
    url.hostname = 'localhost';
    url.search = `sslmode=verify-full&sslrootcert=${folder.join(certificate)}`;
    return { DATABASE_URL: url.href, UGS_TOKEN_KEYS: keys };
  }

  it('is connected to over TLS if its certificate is trusted', async () => {
    const env = trusting('server.crt');
    const { token } = await createApiToken(folder, [], { env });
    await using service = await serve(folder, { env });
    const body = { user_group_id: 'one', name: 'One' };
    assert.equal((await service.call(token, 'GET', '/api/user', body)).status, 200);
    const connections = await query(`select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'user-group-service'`);
    assert.deepEqual(connections, [{ ssl: true }]);
  });

  it('is connected to over TLS, as variables demand, if Node trusts its certificate', async () => {
    const { DATABASE_URL, ...rest } = trusting('server.crt');
    const [url] = DATABASE_URL!.split('?');
    const env = { ...rest, DATABASE_URL: url!, PGSSLMODE: 'verify-full' };
    const refused = await runHosted(folder, ['doctor'], { env });
    assert.match(refused.stdout + refused.stderr, /self-signed certificate/);
    const extra = { ...env, NODE_EXTRA_CA_CERTS: folder.join('server.crt') };
    await using service = await serve(folder, { env: extra });
    assert.equal((await service.call('', 'GET', '/readyz')).status, 200);
    const connections = await query(`select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'user-group-service'`);
    assert.deepEqual(connections, [{ ssl: true }]);
  });

  it('is connected to again after the file of its authority was missing while requests waited', async () => {
    copyFileSync(folder.join('server.crt'), folder.join('renewed.crt'));
    const pool = new ConnectionPool(optionsFor(trusting('renewed.crt').DATABASE_URL!));
    const one = { name: 'one', sql: 'select 1' };
    const ending = { name: 'end', sql: 'select pg_terminate_backend(pg_backend_pid()) from pg_sleep(0.2)' };
    try {
      await pool.run((session) => session.query(one));
      // The others wait for the connection of the first.
      const failed = [ending, one, one].map((each) => pool.run((session) => session.query(each)));
      rmSync(folder.join('renewed.crt'));
      for (const each of failed)
        await assert.rejects(each, /^StoreUnavailable: PostgreSQL: ENOENT.*renewed.crt'$/);
      copyFileSync(folder.join('server.crt'), folder.join('renewed.crt'));
      await eventually('a connection', () => pool.run((session) => session.query(one)).catch(() => null));
    } finally {
      await pool.close();
    }
  });

  it('is not waited for if the key does not fit the certificate of the client', async () => {
    const { DATABASE_URL, ...env } = trusting('server.crt');
    const files = `sslcert=${folder.join('server.crt')}&sslkey=${folder.join('other.key')}`;
    const exit = await runHosted(folder, ['serve'], {
      env: { ...env, DATABASE_URL: `${DATABASE_URL}&${files}` },
    });
    assert.equal(exit.code, 69);
    assert.match(exit.stderr, /^user-group-service: PostgreSQL: [^\n]*key values mismatch\n$/);
    assert.doesNotMatch(exit.stdout, /database unavailable/);
  });

  it('keeps no connection open that the service could not encrypt', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const files = `sslcert=${folder.join('server.crt')}&sslkey=${folder.join('other.key')}`;
    const pool = new ConnectionPool(optionsFor(`${trusting('server.crt').DATABASE_URL}&${files}`));
    const before = sockets();
    const one = { name: 'one', sql: 'select 1' };
    await assert.rejects(
      pool.run((session) => session.query(one)),
      /key values mismatch/,
    );
    await pool.close();
    await eventually('the connection to be closed', () => sockets() <= before, 10_000);
  });

  for (const command of ['migrate', 'serve']) {
    it(`is rejected if its certificate is a different one, without waiting for it, by "${command}"`, async () => {
      const { code, stdout, stderr } = await runHosted(folder, [command], { env: trusting('other.crt') });
      assert.equal(code, 69);
      assert.match(stderr, /^user-group-service: PostgreSQL: [^\n]*certificate[^\n]*\n$/);
      assert.doesNotMatch(stdout, /database unavailable/);
    });
  }
});
