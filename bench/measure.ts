// Measures `npm run bench`: each operation on the service and on the bare server in alternating rounds, so
// that a ratio compares figures of the same run under the same conditions.

import { join } from 'node:path';
import { residentMb } from '../reliability/support/resident-memory.ts';
import { send } from '../test/support/http.ts';
import type { BareResponse } from './bare.ts';
import { type Operation, operations } from './operation.ts';
import { type SeededDatabase, seed, tokensForRound } from './seed.ts';
import { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';
import { measureStart, type StartTimes } from './start-time.ts';
import { medianRound } from './turns.ts';
import { load, type Round } from './wrk.ts';

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;
/** Headers added by Node's server. */
const SERVER_HEADERS = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']);

export interface MeasureOptions {
  folder: string;
  seconds: number;
  rounds: number;
  groups: number;
  /** Names of operations; empty for all of them. */
  only: readonly string[];
  /** Receives progress messages. */
  report: (text: string) => void;
}

export interface OperationFigures {
  operation: Operation;
  service: Round;
  bare: Round;
}

export interface Figures {
  operations: OperationFigures[];
  /** Resident memory of the service after all load. */
  residentMegabytes: number;
  start: StartTimes;
}

export async function measure(options: MeasureOptions): Promise<Figures> {
  const { folder, groups, only, report } = options;
  report(`creating ${groups} user groups`);
  const database = await seed(join(folder, 'service'), groups);
  report('starting the service several times');
  const start = await measureStart(database, join(folder, 'first-start'));
  await using service = await startService(database);
  const figures: OperationFigures[] = [];
  for (const operation of operations) {
    if (only.length > 0 && !only.includes(operation.name)) continue;
    figures.push(await measureOperation(operation, service, database, options));
  }
  if (service.output !== '') throw new Error(`the service logged warnings:\n${service.output}`);
  return { operations: figures, residentMegabytes: residentMb(service.processId), start };
}

async function measureOperation(
  operation: Operation,
  service: ServerProcess,
  database: SeededDatabase,
  { rounds, seconds, report }: MeasureOptions,
): Promise<OperationFigures> {
  await using bare = await startBare(operation, service, database);
  const measured = { bare: [] as Round[], service: [] as Round[] };
  const servers = { bare, service };
  // Round 0 warms up and does not count.
  for (let round = 0; round <= rounds; round++) {
    const tokens = tokensForRound(operation, database, round, rounds);
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
      report(
        `${operation.name}, round ${round}, ${name}: ${Math.round(figures.requestsPerSecond)} requests/s`,
      );
    }
  }
  return {
    operation,
    service: medianRound(measured.service),
    bare: medianRound(measured.bare),
  };
}

async function startBare(
  operation: Operation,
  service: ServerProcess,
  database: SeededDatabase,
): Promise<ServerProcess> {
  const response = await sampleResponse(operation, service, database);
  return ServerProcess.start({
    script: ['bench/bare.ts'],
    env: { BENCH_RESPONSE: JSON.stringify(response) },
  });
}

/** Returns the response of the service to a request of the operation. */
async function sampleResponse(
  { method, path, body, mediaType, header }: Operation,
  { url }: ServerProcess,
  { apiToken, tokens }: SeededDatabase,
): Promise<BareResponse> {
  const values: Record<string, string> = { group: '0', new: '0', random: '0' };
  const fill = (template: string) =>
    template.replace(/\{([a-z_]+)\}/g, (_, name: string) => values[name] ?? tokens.at(-1)!);
  const response = await send(url, {
    method,
    path: fill(path),
    token: apiToken,
    ...(body !== '' && { body: fill(body) }),
    headers: {
      ...(mediaType !== undefined && { 'content-type': mediaType }),
      ...(header !== undefined && Object.fromEntries([fill(header).split(': ')])),
    },
  });
  if (response.status >= 300)
    throw new Error(`${method} ${path} returned ${response.status}: ${response.text}`);
  const headers = Object.entries(response.headers).filter(([name]) => !SERVER_HEADERS.has(name));
  return {
    status: response.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: response.text,
  };
}
