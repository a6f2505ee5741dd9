// Runs alternating rounds, so that ratios compare figures of the same run under the same conditions.

import { median } from './median.ts';
import type { Round } from './wrk.ts';

const WARM_UP_SECONDS = 2;

export interface Contender<Figures> {
  name: string;
  run(seconds: number): Promise<Figures>;
}

interface AlternationOptions {
  /** Number of rounds of each contender; their median counts. */
  rounds: number;
  seconds: number;
  report: (text: string) => void;
}

interface Comparison {
  /** Medians of requests per second. */
  before: number;
  after: number;
  /**
   * Median of the ratios of the rounds, which is less affected by drift of the machine than the ratio of the
   * medians.
   */
  ratio: number;
}

/** Returns the figures of each contender, in order. */
export async function inAlternation<Figures extends Round>(
  contenders: readonly Contender<Figures>[],
  options: AlternationOptions,
): Promise<Figures[]> {
  return (await roundsOf(contenders, options)).map(medianRound);
}

export async function compareRates(
  contenders: readonly [before: Contender<Round>, after: Contender<Round>],
  options: AlternationOptions,
): Promise<Comparison> {
  const measured = await roundsOf(contenders, options);
  const [before, after] = measured.map((rounds) => rounds.map(({ requestsPerSecond }) => requestsPerSecond));
  const ratios = before!.map((rate, round) => after![round]! / rate);
  return { before: median(before!), after: median(after!), ratio: median(ratios) };
}

/** Returns the rounds of each contender, in order. */
async function roundsOf<Figures extends Round>(
  contenders: readonly Contender<Figures>[],
  { rounds, seconds, report }: AlternationOptions,
): Promise<Figures[][]> {
  const measured = contenders.map((): Figures[] => []);
  // Round 0 warms up and does not count.
  for (let round = 0; round <= rounds; round++) {
    const turns = [...contenders.entries()];
    for (const [index, { name, run }] of round % 2 === 0 ? turns : turns.reverse()) {
      const figures = await run(round === 0 ? WARM_UP_SECONDS : seconds);
      if (round === 0) continue;
      measured[index]!.push(figures);
      report(`${name}, round ${round}: ${Math.round(figures.requestsPerSecond)} requests/s`);
    }
  }
  return measured;
}

/** Returns the median of each figure over the rounds in which it is known; NaN if it is never known. */
export function medianRound<Figures extends object>(rounds: readonly Figures[]): Figures {
  const names = Object.keys(rounds[0]!) as (keyof Figures)[];
  const figures = names.map((name) => {
    const known = rounds.map((round) => round[name] as number).filter((figure) => !Number.isNaN(figure));
    return [name, median(known)];
  });
  return Object.fromEntries(figures) as Figures;
}
