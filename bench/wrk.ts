// Generates load with wrk: one thread and several connections, each with one request in flight.

import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Operation } from './operation.ts';
import type { SeededDatabase } from './seed.ts';

const SCRIPT = fileURLToPath(new URL('./load.lua', import.meta.url));
/** Timeout of a response. wrk counts slower responses as errors, but slow syncs are not errors. */
const TIMEOUT = '30s';
/** Far more numbers than one round can use. */
const NEW_NUMBERS_PER_ROUND = 10_000_000;

/** wrk is not installed. */
export class WrkMissing extends Error {
  override readonly name = 'WrkMissing';
}

/** A round had unsuccessful responses, so its figures are invalid. */
class RoundFailed extends Error {
  override readonly name = 'RoundFailed';
}

export interface Load {
  url: string;
  operation: Operation;
  database: SeededDatabase;
  seconds: number;
  connections: number;
  /** Tokens for `{current_token}`; `{token}` is any token of the database. */
  tokens?: readonly string[];
}

export interface Round {
  requestsPerSecond: number;
  /** 0 if there was no response. */
  p50Ms: number;
  p99Ms: number;
}

interface Summary {
  requests: number;
  microseconds: number;
  p50: number;
  p99: number;
  badResponses: number;
  connectionErrors: number;
}

let rounds = 0;

/** Runs a round. Throws `RoundFailed` if any response is not 2xx. */
export async function load({
  url,
  operation,
  database,
  seconds,
  connections,
  tokens = `${operation.body}${operation.header}`.includes('{token}') ? database.tokens : [],
}: Load): Promise<Round> {
  rounds++;
  const tokenFile = join(database.folder, `tokens-${rounds}`);
  writeFileSync(tokenFile, tokens.join('\n'));
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', TIMEOUT, '-s', SCRIPT, url];
  const output = await wrk(args, {
    BENCH_METHOD: operation.method,
    BENCH_REQUEST_PATH: operation.path,
    BENCH_BODY: operation.body,
    BENCH_MEDIA_TYPE: operation.mediaType ?? 'application/json',
    BENCH_HEADER: operation.header === undefined ? '' : `\r\n${operation.header}`,
    BENCH_GROUPS: String(database.groups),
    BENCH_FIRST_NEW: String(rounds * NEW_NUMBERS_PER_ROUND),
    BENCH_SEED: String(process.pid * 1_000 + rounds),
    BENCH_TOKENS: tokenFile,
    BENCH_API_TOKEN: database.apiToken,
  });
  const summary = JSON.parse(output.trim().split('\n').at(-1)!) as Summary;
  if (summary.badResponses + summary.connectionErrors > 0) {
    throw new RoundFailed(
      `${operation.name} at ${url}: ${summary.badResponses} of ${summary.requests} responses were not 2xx, ` +
        `and ${summary.connectionErrors} connections failed`,
    );
  }
  return {
    requestsPerSecond: (summary.requests / summary.microseconds) * 1_000_000,
    p50Ms: summary.p50 / 1_000,
    p99Ms: summary.p99 / 1_000,
  };
}

/** Loads all servers at the same time, each with its share of the connections. Throws `RoundFailed`. */
export async function loadAll(
  servers: readonly { url: string }[],
  { connections, ...rest }: Omit<Load, 'url'>,
): Promise<Round> {
  const share = Math.ceil(connections / servers.length);
  const rounds = await Promise.all(servers.map(({ url }) => load({ url, connections: share, ...rest })));
  return {
    requestsPerSecond: rounds.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0),
    p50Ms: Math.max(...rounds.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...rounds.map(({ p99Ms }) => p99Ms)),
  };
}

/** Throws `WrkMissing`. */
export function requireWrk(): void {
  const { error } = spawnSync('wrk', ['-v']);
  if (error === undefined) return;
  throw new WrkMissing(
    'the benchmark requires wrk, which is not installed: "apt install wrk" on Debian and Ubuntu, ' +
      '"brew install wrk" on macOS, or see https://github.com/wg/wrk',
  );
}

async function wrk(args: readonly string[], env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)('wrk', args, { env: { PATH: process.env.PATH, ...env } });
  return stdout;
}
