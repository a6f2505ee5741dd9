// argv -> measurement -> exit code.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../src/commands/exit-code.ts';
import { measure } from './measure.ts';
import { operations } from './operation.ts';
import { figuresAsJson, printFigures } from './report.ts';
import { WrkMissing } from './wrk.ts';

interface Options {
  seconds: number;
  rounds: number;
  groups: number;
  only: string[];
  json?: string;
}

const names = operations.map(({ name }) => name);

const program = new Command('npm run bench --')
  .description(
    'Measures the service against a bare node:http server that parses the same body and writes the same answer,\n' +
      'in turns and in one run. Needs wrk. bench/README.md says what each figure means.',
  )
  .option('--seconds <seconds>', 'length of a round', positive, 5)
  .option('--rounds <rounds>', 'rounds of each operation on each server; their median counts', positive, 3)
  .option('--groups <groups>', 'user groups in the database', positive, 100_000)
  .addOption(
    new Option('--only <operations>', `some of ${names.join(',')}`).argParser(parseNames).default([]),
  )
  .option('--json <file>', 'write all figures to the file')
  .action(async ({ json, ...options }: Options) => {
    const figures = await measure({ ...options, folder: temporaryFolder(), say });
    if (json !== undefined) writeFileSync(json, figuresAsJson(figures, options));
    printFigures(figures);
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof WrkMissing ? error.message : error);
  process.exitCode = error instanceof WrkMissing ? exitCodes.unavailable : exitCodes.failed;
}

/** Gone when the process ends, however it does. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-service-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  return folder;
}

function say(text: string): void {
  console.error(text);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

function parseNames(text: string): string[] {
  const chosen = text.split(',');
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown === undefined) return chosen;
  throw new InvalidArgumentError(`${unknown} is none of them.`);
}
