// Compares our pipeline with the one of `pg` (`pipeline: true`): the two lookups of a GET, as the service sends them for
// a batch of callers, on one connection, in alternating rounds.

import { join } from 'node:path';
import pg from 'pg';
import { printTable } from '../src/commands/output.ts';
import { keyOf } from '../src/domain/user-group/user-group.ts';
import { FIND as FIND_API_TOKENS } from '../src/store/postgres/api-token.ts';
import { Connection } from '../src/store/postgres/client/connection.ts';
import { NUMBER_TYPES, Pipeline, type SentStatement } from '../src/store/postgres/client/pipeline.ts';
import { columnsOfKeys, FIND_BY_KEY } from '../src/store/postgres/user-group/user-group.ts';
import { median } from './median.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { seed } from './seed.ts';

const BATCH_SIZES = [1, 12, 64, 256];
const TIMEOUT_MS = 10_000;
const DIGEST = 'A'.repeat(43);

interface PipeliningOptions {
  folder: string;
  groups: number;
  rounds: number;
  seconds: number;
  report: (text: string) => void;
}

type Send = (statements: readonly SentStatement[]) => Promise<unknown>;

interface Cost {
  wallMicros: number;
  cpuMicros: number;
}

export async function comparePipelining({
  folder,
  groups,
  rounds,
  seconds,
  report,
}: PipeliningOptions): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openBenchServer());
  const file = await seed(join(folder, 'seeded'), groups);
  const { databaseUrl } = await copyToPostgres(file, server, stack);
  const senders = { ours: await ours(databaseUrl, stack), 'of pg': await ofPg(databaseUrl, stack) };
  const rows: string[][] = [];
  for (const size of BATCH_SIZES) {
    const costs: Record<keyof typeof senders, Cost[]> = { ours: [], 'of pg': [] };
    for (let round = 0; round <= rounds; round++) {
      for (const name of ['ours', 'of pg'] as const) {
        const cost = await costOf(senders[name], lookups(size, groups), round === 0 ? 1 : seconds);
        if (round > 0) costs[name].push(cost);
      }
    }
    report(`measured batches of ${size}`);
    rows.push(rowOf(size, costs));
  }
  printTable(['keys', 'wall us: ours', 'pg', 'ratio', 'client CPU us: ours', 'pg', 'ratio'], rows);
}

function rowOf(size: number, costs: { ours: Cost[]; 'of pg': Cost[] }): string[] {
  const figures = (['wallMicros', 'cpuMicros'] as const).flatMap((figure) => {
    const [a, b] = [costs.ours, costs['of pg']].map((list) => median(list.map((cost) => cost[figure])));
    return [a!.toFixed(0), b!.toFixed(0), (a! / b!).toFixed(2)];
  });
  return [String(size), ...figures];
}

/** The lookups of an API token and of groups by their ids. The groups need not exist: the statement is the same. */
function lookups(size: number, groups: number): SentStatement[] {
  const keys = Array.from({ length: size }, (_, index) => ({
    key: keyOf(1, 'Customer', `customer-${(index * 7919) % groups}`),
  }));
  return [
    { name: FIND_API_TOKENS.name, text: FIND_API_TOKENS.sql, values: [[DIGEST]] },
    { name: FIND_BY_KEY.name, text: FIND_BY_KEY.sql, values: columnsOfKeys(keys) },
  ];
}

async function costOf(send: Send, statements: readonly SentStatement[], seconds: number): Promise<Cost> {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  let batches = 0;
  for (; performance.now() - startedAt < seconds * 1_000; batches++) await send(statements);
  const { user, system } = process.cpuUsage(cpu);
  const wallMs = performance.now() - startedAt;
  return { wallMicros: (wallMs * 1_000) / batches, cpuMicros: (user + system) / batches };
}

async function ours(connectionString: string, stack: AsyncDisposableStack): Promise<Send> {
  const connection = new Connection({ connectionString });
  await connection.connect();
  stack.defer(() => connection.end());
  return (statements) => connection.query(new Pipeline(statements, TIMEOUT_MS)).results;
}

async function ofPg(connectionString: string, stack: AsyncDisposableStack): Promise<Send> {
  const types = { getTypeParser: (typeId: number) => (NUMBER_TYPES.includes(typeId) ? Number : String) };
  // Not in the types of `pg` yet.
  const client = new pg.Client({ connectionString, pipeline: true, types } as pg.ClientConfig);
  await client.connect();
  stack.defer(() => client.end());
  return (statements) =>
    Promise.all(
      statements.map(({ name, text, values }) =>
        client.query({ name: name!, text, values: values as unknown[], rowMode: 'array' }),
      ),
    );
}
