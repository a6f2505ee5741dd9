// The measurement that `npm run bench` makes: each operation on the service and on the bare server, in turns, so
// that a ratio is of one run and of the same minutes of the machine.

import { join } from 'node:path';
import { send } from '../test/http.ts';
import type { BareAnswer } from './bare.ts';
import { type Operation, operations } from './operation.ts';
import { copyOf, type SeededDatabase, seed } from './seed.ts';
import { ServerProcess } from './server-process.ts';
import { startService, startVariant } from './service.ts';
import { measureStart, type StartTimes } from './start-time.ts';
import { medianRound } from './turns.ts';
import { load, type Round } from './wrk.ts';

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;
/** Headers that Node's server writes by itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']);

export interface MeasureOptions {
  folder: string;
  seconds: number;
  rounds: number;
  groups: number;
  /** Names of operations; all of them where it is empty. */
  only: readonly string[];
  /** Told what is going on. */
  say: (text: string) => void;
}

export interface OperationFigures {
  operation: Operation;
  service: Round;
  bare: Round;
  /** The same with a transaction for each request; only of creates. */
  transactionEach: Round | null;
}

export interface Figures {
  operations: OperationFigures[];
  /** Of the service, after all of its load. */
  residentMegabytes: number;
  start: StartTimes;
}

export async function measure(options: MeasureOptions): Promise<Figures> {
  const { folder, groups, only, say } = options;
  say(`making ${groups} user groups`);
  const database = await seed(join(folder, 'service'), groups);
  const copy = copyOf(database, join(folder, 'transaction-each'));
  say('starting the service several times');
  const start = await measureStart(database, join(folder, 'first-start'));
  await using service = await startService(database);
  const figures: OperationFigures[] = [];
  for (const operation of operations) {
    if (only.length > 0 && !only.includes(operation.name)) continue;
    figures.push(await measureOperation(operation, service, database, copy, options));
  }
  if (service.output !== '') throw new Error(`the service has warned:\n${service.output}`);
  return { operations: figures, residentMegabytes: service.residentMegabytes(), start };
}

async function measureOperation(
  operation: Operation,
  service: ServerProcess,
  database: SeededDatabase,
  copy: SeededDatabase,
  { rounds, seconds, say }: MeasureOptions,
): Promise<OperationFigures> {
  await using bare = await startBare(operation, service, database);
  await using transactionEach =
    operation.name === 'create' ? await startVariant(copy, ['--transaction-each']) : null;
  const measured = { bare: [] as Round[], service: [] as Round[], transactionEach: [] as Round[] };
  const servers = { bare, service, ...(transactionEach && { transactionEach }) };
  // Round 0 warms up and does not count.
  for (let round = 0; round <= rounds; round++) {
    const tokens = tokensFor(operation, database, round, rounds);
    for (const [name, { url }] of Object.entries(servers) as [keyof typeof servers, ServerProcess][]) {
      const duration = round === 0 ? WARM_UP_SECONDS : seconds;
      const figures = await load({
        url,
        operation,
        database,
        ...(tokens && { tokens }),
        seconds: duration,
        connections: CONNECTIONS,
      });
      if (round === 0) continue;
      measured[name].push(figures);
      say(`${operation.name}, round ${round}, ${name}: ${Math.round(figures.requestsPerSecond)} requests/s`);
    }
  }
  return {
    operation,
    service: medianRound(measured.service),
    bare: medianRound(measured.bare),
    transactionEach: transactionEach && medianRound(measured.transactionEach),
  };
}

/** A round of rotations takes tokens that none before it has used up; the last one is left for the sample. */
function tokensFor(
  { body }: Operation,
  { tokens }: SeededDatabase,
  round: number,
  rounds: number,
): readonly string[] | undefined {
  if (!body.includes('{current_token}')) return undefined;
  const share = Math.floor((tokens.length - 1) / (rounds + 1));
  return tokens.slice(round * share, (round + 1) * share);
}

async function startBare(
  operation: Operation,
  service: ServerProcess,
  database: SeededDatabase,
): Promise<ServerProcess> {
  const answer = await sampleAnswer(operation, service, database);
  return ServerProcess.start({ script: ['bench/bare.ts'], env: { BENCH_ANSWER: JSON.stringify(answer) } });
}

/** What the service answers to a request of the operation. */
async function sampleAnswer(
  { method, path, body }: Operation,
  { url }: ServerProcess,
  { apiToken, tokens }: SeededDatabase,
): Promise<BareAnswer> {
  const values: Record<string, string> = { group: '0', new: '0', random: '0' };
  const fill = (template: string) =>
    template.replace(/\{([a-z_]+)\}/g, (_, name: string) => values[name] ?? tokens.at(-1)!);
  const answer = await send(url, {
    method,
    path: fill(path),
    token: apiToken,
    ...(body !== '' && { body: fill(body) }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  const headers = Object.entries(answer.headers).filter(([name]) => !OWN_HEADERS.has(name));
  return {
    status: answer.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: answer.text,
  };
}
