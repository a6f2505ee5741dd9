// Measures the cost of events: creates, updates and lookups with and without them, in alternating rounds; and
// a page of one group's events among few and among many events.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { send } from '../test/support/http.ts';
import { compareCosts } from './cost.ts';
import { median } from './median.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { verdict } from './report.ts';
import { copyOf, type SeededDatabase, seed } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';

/** Minimum ratio of requests per second with events to those without. */
const MIN_RATES = {
  get: 0.97,
  resolve: 0.97,
  create: 0.85,
  'create-random-id': 0.85,
  update: 0.85,
  patch: 0.85,
  // Rotations come last, because they replace the tokens that the other operations need.
  rotate: 0.85,
};
const REQUESTS = 500;
const PAGE = 50;
/** Maximum ratio of the time of a history page among many events to that among few. */
const MAX_GROWTH = 1.3;
/** Number of generated events of one group. */
const OF_ONE_GROUP = 1_000;

interface EventsOptions {
  folder: string;
  seconds: number;
  rounds: number;
  groups: number;
  /** Numbers of generated events. */
  sizes: readonly [small: number, large: number];
  report: (text: string) => void;
}

export async function measureEvents(options: EventsOptions): Promise<void> {
  const { folder, groups, report } = options;
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openBenchServer());
  report(`creating ${groups} user groups`);
  const file = await seed(join(folder, 'seed'), groups);
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    const copies = [0, 1].map((index) => copyOf(file, join(folder, `${engine}-${index}`)));
    const databases: SeededDatabase[] = [];
    for (const copy of copies)
      databases.push(engine === 'SQLite' ? copy : await copyToPostgres(copy, server, stack));
    console.log(`\n${engine}`);
    await compareThroughput(databases, options);
    for (const [index, size] of options.sizes.entries()) await generate(databases[index]!, size);
    await comparePages(engine, databases, options);
  }
}

async function compareThroughput(
  [without, withEvents]: readonly SeededDatabase[],
  options: EventsOptions,
): Promise<void> {
  await using off = await startService(without!, [], { UGS_EVENT_RETENTION_DAYS: '0' });
  await using on = await startService(withEvents!);
  await compareCosts(
    [
      { name: 'without events', service: off, database: without! },
      { name: 'with events', service: on, database: withEvents! },
    ],
    Object.keys(MIN_RATES),
    { ...options, minRates: MIN_RATES },
  );
}

async function comparePages(
  engine: string,
  databases: readonly SeededDatabase[],
  { sizes }: EventsOptions,
): Promise<void> {
  const services: ServerProcess[] = [];
  await using stack = new AsyncDisposableStack();
  for (const database of databases) services.push(stack.use(await startService(database)));
  for (const path of [
    `/v1/user-groups/history/events?limit=${PAGE}`,
    `/v1/events?limit=${PAGE}`,
    `/v1/events?order=oldest&limit=${PAGE}`,
  ]) {
    const times: number[][] = [[], []];
    for (let request = 0; request < REQUESTS; request++) {
      for (const [index, { url }] of services.entries()) {
        const startedAt = performance.now();
        const { status, json } = await send(url, { path, token: databases[index]!.apiToken });
        if (status !== 200 || json.events.length !== PAGE) throw new Error(`unexpected response ${status}`);
        times[index]!.push(performance.now() - startedAt);
      }
    }
    const [small, large] = times.map(median) as [number, number];
    const growth = large / small;
    console.log(
      `${engine}, ${path}: ${small.toFixed(2)} ms among ${sizes[0]} events, ${large.toFixed(2)} ms among ${sizes[1]}: ` +
        `${growth.toFixed(2)} x (<= ${MAX_GROWTH}) ${verdict(growth <= MAX_GROWTH)}`,
    );
  }
}

/** Generates events of as many groups, and events of one group spread evenly among them. */
async function generate({ databaseUrl }: SeededDatabase, count: number): Promise<void> {
  const columns =
    'bucket, workspace_id, environment, target_type, target_id, event_id, type, occurred_at, actor, version, changes, position';
  const every = Math.floor(count / OF_ONE_GROUP);
  const values = (modulo: string) => `select
      case when ${modulo} = 0 then BUCKET else i % 16384 end, w.workspace_id, 'Customer', 'user_group',
      case when ${modulo} = 0 then 'history' else 'generated ' || i end, 'evt_0000000000' || i, 'user_group.updated', 1700000000000,
      '{"type":"api_token","id":1,"name":null,"via":"api"}', i,
      '{"from":{"properties":{"plan":"gold","seats":' || i || '}},"to":{"properties":{"plan":"gold","seats":0}}}',`;
  if (databaseUrl.startsWith('sqlite:')) {
    const database = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
    database.exec(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
       insert into events (${columns}) ${values(`i % ${every}`).replace('BUCKET', '0')}
         coalesce((select max(position) from events), 0) + i from n, (select min(workspace_id) as workspace_id from workspaces) w`,
    );
    database.close();
    return;
  }
  await using stack = new AsyncDisposableStack();
  const client = new pg.Client(databaseUrl);
  stack.defer(() => client.end());
  await client.connect();
  const bucket = await bucketOfHistory(client);
  const base = `coalesce((select max(position) from events), 0) + i`;
  await client.query(
    `insert into events (${columns}) ${values(`i % ${every}`).replace('BUCKET', String(bucket))} ${base}
     from generate_series(1, ${count}) as i, (select min(workspace_id) as workspace_id from workspaces) as w`,
  );
  await client.query(`update event_positions set base = base + ${count}`);
  await client.query('vacuum analyze');
}

async function bucketOfHistory(client: pg.Client): Promise<number> {
  const { computeBucket } = await import('../src/domain/bucket.ts');
  const { rows } = await client.query('select min(workspace_id)::integer as id from workspaces');
  return computeBucket(rows[0].id, 'Customer', 'history');
}
