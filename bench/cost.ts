// Compares processor time and instructions per request of two servers in alternating rounds: on a busy
// machine, they vary less than requests per second, which are printed too.

import { printTable } from '../src/commands/terminal/output.ts';
import { instructionsDuring } from './instructions.ts';
import { median } from './median.ts';
import { operationOf } from './operation.ts';
import { processorTime } from './processor-time.ts';
import { verdict } from './report.ts';
import { type SeededDatabase, tokensForRound } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { load } from './wrk.ts';

const CONNECTIONS = 32;
const WARM_UP_ROUNDS = 3;

interface Measured {
  name: string;
  service: Pick<ServerProcess, 'url' | 'processId'>;
  database: SeededDatabase;
}

export interface CostOptions {
  connections?: number;
  rounds: number;
  seconds: number;
  /** Minimum ratio of the requests per second of each operation. */
  minRates?: Readonly<Record<string, number>>;
  report: (text: string) => void;
}

/** Cost of a request. */
interface Cost {
  requestsPerSecond: number;
  micros: number;
  instructions: number;
}

/** Prints a row for each operation, with the ratios of the second server to the first. */
export async function compareCosts(
  pair: readonly [Measured, Measured],
  operations: readonly string[],
  { connections = CONNECTIONS, rounds, seconds, minRates = {}, report }: CostOptions,
): Promise<void> {
  const rows: string[][] = [];
  for (const operation of operations) {
    const costs: (readonly [Cost, Cost])[] = [];
    for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
      // Alternates the order too.
      const isReversed = round % 2 === 1;
      const ordered = isReversed ? pair.toReversed() : pair;
      const turn = { operation, connections, seconds, round, rounds: WARM_UP_ROUNDS + rounds };
      const first = await costOf(ordered[0]!, turn);
      const second = await costOf(ordered[1]!, turn);
      if (round >= WARM_UP_ROUNDS) costs.push(isReversed ? [second, first] : [first, second]);
    }
    const figures = (['micros', 'instructions', 'requestsPerSecond'] as const).flatMap((figure) =>
      figuresOf(costs, figure),
    );
    const ratio = figures.at(-1)!;
    report(`${operation}: ${ratio} of the requests/s`);
    rows.push([operation, ...figures, ...judged(Number(ratio), minRates[operation])]);
  }
  const [first, second] = pair.map(({ name }) => name);
  const headings = ['us', 'instructions', 'requests/s'].flatMap((unit) => [
    `${unit}: ${first}`,
    `${second}`,
    'ratio',
  ]);
  printTable(['operation', ...headings], rows);
}

function judged(ratio: number, min: number | undefined): string[] {
  return min === undefined ? [] : [`>= ${min}`, verdict(ratio >= min)];
}

/** Returns the medians, and the median of the ratios of the rounds. */
function figuresOf(costs: readonly (readonly [Cost, Cost])[], figure: keyof Cost): string[] {
  const [first, second, ratio] = [
    costs.map((cost) => cost[0][figure]),
    costs.map((cost) => cost[1][figure]),
    costs.map((cost) => cost[1][figure] / cost[0][figure]),
  ].map(median);
  return [first!.toFixed(1), second!.toFixed(1), ratio!.toFixed(3)];
}

interface Turn {
  operation: string;
  connections: number;
  seconds: number;
  round: number;
  rounds: number;
}

async function costOf(
  { service: { url, processId }, database }: Measured,
  { operation: name, connections, seconds, round, rounds }: Turn,
): Promise<Cost> {
  const operation = operationOf(name);
  const tokens = tokensForRound(operation, database, round, rounds);
  const before = processorTime(processId);
  let requestsPerSecond = 0;
  const instructions = await instructionsDuring(processId, async () => {
    const options = {
      url,
      operation,
      database,
      seconds,
      connections,
      ...(tokens && { tokens }),
    };
    ({ requestsPerSecond } = await load(options));
  });
  const requests = requestsPerSecond * seconds;
  const micros = processorTime(processId) - before;
  return { requestsPerSecond, micros: micros / requests, instructions: instructions / requests };
}
