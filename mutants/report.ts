// The output of a run: a line for each tested mutant, and a summary.

import type { MutantResult, Verdict } from './run.ts';

const VERDICTS: readonly Verdict[] = ['killed', 'timed out', 'survived', 'equivalent'];

/** Results by area, in the order of the list. */
export type Results = ReadonlyMap<string, readonly MutantResult[]>;

/** A survivor, or a detected mutant that is listed as equivalent. */
export function isUnexpected({ mutant, verdict }: MutantResult): boolean {
  return mutant.equivalent === undefined ? verdict === 'survived' : verdict !== 'equivalent';
}

export function lineOf({ mutant, verdict, by, durationMs }: MutantResult): string {
  const seconds = (durationMs / 1_000).toFixed(1).padStart(5);
  const killer = by === null ? '' : ` <- ${by}`;
  return `${verdict.padEnd(10)} ${seconds} s  ${mutant.name}${killer}`;
}

export function summaryOf(results: Results): string {
  const all = [...results.values()].flat();
  const rows = [...results].map(([area, ofArea]) => rowOf(area, ofArea));
  return [
    `| Area | Mutants | ${VERDICTS.join(' | ')} |`,
    `|---|---|${VERDICTS.map(() => '---|').join('')}`,
    ...rows,
    rowOf('all', all),
    ...section(
      'Survived',
      all.filter(({ verdict }) => verdict === 'survived'),
    ),
    ...section(
      'Equivalent',
      all.filter(({ verdict }) => verdict === 'equivalent'),
    ),
    ...section(
      'Listed as equivalent, but detected',
      all.filter(({ mutant, verdict }) => mutant.equivalent !== undefined && verdict !== 'equivalent'),
    ),
  ].join('\n');
}

export function jsonOf(results: Results): object[] {
  return [...results].flatMap(([area, ofArea]) =>
    ofArea.map(({ mutant: { name, file, equivalent }, verdict, by, durationMs }) => ({
      area,
      name,
      file,
      verdict,
      by,
      duration_ms: Math.round(durationMs),
      ...(equivalent !== undefined && { equivalent }),
    })),
  );
}

function rowOf(name: string, results: readonly MutantResult[]): string {
  const counts = VERDICTS.map((wanted) => results.filter(({ verdict }) => verdict === wanted).length);
  return `| ${[name, results.length, ...counts].join(' | ')} |`;
}

function section(title: string, results: readonly MutantResult[]): string[] {
  if (results.length === 0) return [];
  const lines = results.map(({ mutant: { name, file, equivalent } }) =>
    [`- ${name} (${file})`, equivalent].filter(Boolean).join(': '),
  );
  return ['', `${title}:`, ...lines];
}
