// Makes the disk fail: for one call per run (the first, then the second, until a run has no such call left),
// for every call during some time, and by running out of space. The service must report it clearly, apply no
// change partially, and recover afterwards.

import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessRun } from './io-errors/process-run.ts';
import {
  emptyState,
  FIRST_START_CALLS,
  type ServiceState,
  START_CALLS,
  startUnder,
  stateAfterKill,
} from './io-errors/start-errors.ts';
import { errors, type Fault, nameOf, SYNC } from './support/injection.ts';
import { PromiseBroken } from './support/ledger.ts';
import { Random } from './support/random.ts';
import { SmallDisk } from './support/small-disk.ts';

interface IoErrorsOptions {
  seed: number;
  scenarios: readonly Scenario[];
  /** Distance between the failing calls of successive runs: with 1, every call fails in some run. */
  step: number;
  /** Called before each run. */
  onRun: (scenario: Scenario, what: string) => void;
}

interface IoErrorsFigures {
  scenario: Scenario;
  runs: number;
  /** Failed calls. */
  failed: number;
  /** Responses with status 503. */
  refused: number;
}

type Figures = Omit<IoErrorsFigures, 'scenario'>;

interface ScenarioContext {
  random: Random;
  step: number;
  onRun: (what: string) => void;
}

const scenarios = {
  'first start': (context) => failStarts(emptyState(), [...START_CALLS, ...FIRST_START_CALLS], context),
  'later start': async (context) => failStarts(await stateAfterKill(context.random), START_CALLS, context),
  writing: failWriting,
  checkpoint: failCheckpoints,
  outage: failTemporarily,
  'full disk': fillDisk,
} satisfies Record<string, (context: ScenarioContext) => Promise<Figures>>;

export type Scenario = keyof typeof scenarios;
export const scenarioNames = Object.keys(scenarios) as Scenario[];

/** Throws `PromiseBroken`. */
export async function* failDisk(options: IoErrorsOptions): AsyncGenerator<IoErrorsFigures> {
  const { seed, step } = options;
  for (const scenario of options.scenarios) {
    const onRun = (what: string) => options.onRun(scenario, what);
    yield { scenario, ...(await scenarios[scenario]({ random: new Random(seed), step, onRun })) };
  }
}

/** Suffixes of the names of the affected files. */
const FILES = ['', '-wal'];
const DATABASE_FILE = [''];
/**
 * Runs between kills. Kills are rare to keep each process run long; each restart checks again that no partial
 * change became visible.
 */
const CRASH_EVERY = 10;
const OUTAGE_MS = 400;
const PROBE_EVERY_MS = 100;
/** Number of rejected changes after which small changes do not fit on the disk either. */
const REFUSED_WHEN_FULL = 20;
/** Sizes in megabytes. */
const DISK = { size: 6, ballast: 2 };

/**
 * Makes each call fail with each error, at each position until no call is left to fail. Throws if one never
 * fails, because then the run tests nothing.
 */
async function failEach(
  calls: readonly string[],
  { step, onRun }: ScenarioContext,
  runWith: (fault: Fault, number: number) => Promise<number>,
): Promise<Pick<Figures, 'runs' | 'failed'>> {
  let [runs, failed] = [0, 0];
  for (const call of calls) {
    const before = failed;
    for (const error of errors)
      for (let [number, isLeft] = [1, true]; isLeft; number += step) {
        const fault = { call, error, when: String(number) };
        onRun(nameOf(fault));
        const failures = await runWith(fault, number);
        runs++;
        failed += failures;
        isLeft = failures > 0;
      }
    if (failed === before) throw new Error(`the service made no call of ${call} that could fail`);
  }
  return { runs, failed };
}

async function failStarts(
  state: ServiceState,
  calls: readonly string[],
  context: ScenarioContext,
): Promise<Figures> {
  using _folder = state.folder;
  const figures = await failEach(calls, context, (fault) => startUnder(fault, state, context.random));
  return { ...figures, refused: 0 };
}

async function failWriting(context: ScenarioContext): Promise<Figures> {
  await using run = new ProcessRun(context.random);
  await run.start();
  const figures = await failEach(['pwrite64', SYNC, 'pread64'], context, async (fault, number) => {
    const failures = await run.withFaults([fault], FILES, () => run.cycle());
    await run.assertRecovered();
    if (number % CRASH_EVERY === 0) await run.crash();
    return failures;
  });
  return { ...figures, refused: run.refused };
}

/**
 * Makes checkpoints fail. After a failed write, the checkpoint is retried, and callers see no error. After a
 * failed sync, the service ends and is started again.
 */
async function failCheckpoints(context: ScenarioContext): Promise<Figures> {
  await using run = new ProcessRun(context.random);
  await run.start();
  const figures = await failEach(['pwrite64', SYNC], context, async (fault, number) => {
    await run.fillLog();
    const failures = await run.withFaults([fault], DATABASE_FILE, () => run.emptyLog());
    await run.inspect();
    if (number % CRASH_EVERY === 0) await run.crash();
    return failures;
  });
  if (run.refused > 0)
    throw new PromiseBroken('a change was rejected because a checkpoint of earlier changes failed');
  await run.assertRecovered();
  return { ...figures, refused: 0 };
}

async function failTemporarily({ random, onRun }: ScenarioContext): Promise<Figures> {
  await using run = new ProcessRun(random);
  await run.start();
  let [runs, failed] = [0, 0];
  for (const call of ['pwrite64', SYNC])
    for (const error of errors)
      for (const failsOpen of [false, true]) {
        const fault = { call, error, when: '1+' };
        onRun(nameOf(fault));
        const faults = failsOpen ? [fault, { ...fault, call: 'openat' }] : [fault];
        failed += await run.withFaults(faults, FILES, () => assertOutage(run));
        await run.assertRecovered();
        await run.crash();
        await run.assertRecovered();
        runs++;
      }
  return { runs, failed, refused: run.refused };
}

async function assertOutage(run: ProcessRun): Promise<void> {
  for (const end = performance.now() + OUTAGE_MS; performance.now() < end; await sleep(PROBE_EVERY_MS)) {
    await run.assertRejectingChanges();
    await run.assertNotReady();
  }
}

/** Fills the disk with the log, without injected faults. Reads must still work, also after a restart. */
async function fillDisk({ random, onRun }: ScenarioContext): Promise<Figures> {
  onRun('');
  await using run = new ProcessRun(random);
  using disk = new SmallDisk(run.folder.join('data'), DISK.size);
  disk.load(DISK.ballast);
  await run.start();
  while (run.refused < REFUSED_WHEN_FULL) await run.cycle();
  await run.inspect();
  await run.crash();
  await run.assertRejectingChanges();
  await run.inspect();
  disk.unload();
  await run.assertRecovered();
  await run.crash();
  await run.assertRecovered();
  return { runs: 1, failed: 0, refused: run.refused };
}
