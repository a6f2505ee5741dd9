// The disk fails, one call at a time: the first, the second, until a run has no such call any more; for a while, every
// call; and for want of room. The service says so clearly, does nothing by half, and goes on when the disk is well.

import { setTimeout as sleep } from 'node:timers/promises';
import { errors, type Fault, nameOf, SYNC } from './injection.ts';
import { PromiseBroken } from './ledger.ts';
import { Life } from './life.ts';
import { Random } from './random.ts';
import { SmallDisk } from './small-disk.ts';
import { noRemains, type Remains, remainsOfKill, START_CALLS, startUnder } from './start-errors.ts';

export interface IoErrorsOptions {
  seed: number;
  scenarios: readonly Scenario[];
  /** From one call that fails to the next one that does: with 1, each does in its turn. */
  step: number;
  /** Before each run. */
  onRun: (scenario: Scenario, what: string) => void;
}

export interface IoErrorsFigures {
  scenario: Scenario;
  runs: number;
  /** Calls that failed. */
  failed: number;
  /** Answers of 503. */
  refused: number;
}

type Figures = Omit<IoErrorsFigures, 'scenario'>;

interface Course {
  random: Random;
  step: number;
  onRun: (what: string) => void;
}

const scenarios = {
  'first start': (course) => failStarts(noRemains(), course),
  'later start': async (course) => failStarts(await remainsOfKill(course.random), course),
  writing: failWriting,
  checkpoint: failCheckpoints,
  outage: failForAWhile,
  'full disk': fillDisk,
} satisfies Record<string, (course: Course) => Promise<Figures>>;

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

/** By the ends of their names. */
const FILES = ['', '-wal'];
const DATABASE_FILE = [''];
/** The life in between is long, and each restart is one more proof that nothing half done comes to light. */
const CRASH_EVERY = 10;
const OUTAGE_MS = 400;
const PROBE_EVERY_MS = 100;
/** By then there is no room for a small change either. */
const REFUSED_WHEN_FULL = 20;
/** Megabytes. */
const DISK = { size: 6, ballast: 2 };

/** Each call with each error, at each time until no call is left to fail. */
async function failEach(
  calls: readonly string[],
  { step, onRun }: Course,
  strike: (fault: Fault, number: number) => Promise<{ failed: number }>,
): Promise<Pick<Figures, 'runs' | 'failed'>> {
  let [runs, failed] = [0, 0];
  for (const call of calls)
    for (const error of errors)
      for (let [number, isLeft] = [1, true]; isLeft; number += step) {
        const fault = { call, error, when: String(number) };
        onRun(nameOf(fault));
        const count = await strike(fault, number);
        runs++;
        failed += count.failed;
        isLeft = count.failed > 0;
      }
  return { runs, failed };
}

async function failStarts(remains: Remains, course: Course): Promise<Figures> {
  using _folder = remains.folder;
  const figures = await failEach(START_CALLS, course, (fault) => startUnder(fault, remains, course.random));
  return { ...figures, refused: 0 };
}

async function failWriting(course: Course): Promise<Figures> {
  await using life = new Life(course.random);
  await life.start();
  const figures = await failEach(['pwrite64', SYNC, 'pread64'], course, async (fault, number) => {
    const count = await life.under([fault], FILES, () => life.turn());
    await life.assertWell();
    if (number % CRASH_EVERY === 0) await life.crash();
    return count;
  });
  return { ...figures, refused: life.refused };
}

/** The log is copied back into the database: what fails there is tried again, and no caller hears of it. */
async function failCheckpoints(course: Course): Promise<Figures> {
  await using life = new Life(course.random);
  await life.start();
  const figures = await failEach(['pwrite64', SYNC], course, async (fault, number) => {
    // One that is copied back is begun anew by the next change.
    if (number % CRASH_EVERY === 1) await life.emptyLog();
    await life.fillLog();
    const count = await life.under([fault], DATABASE_FILE, async (injection) => {
      // One change begins the copying; a second one would do it again, without the fault.
      while (injection.count.calls === 0) await life.change();
    });
    // Reads only: a change would do the copying too.
    await life.inspect();
    if (number % CRASH_EVERY === 0) await life.crash();
    return count;
  });
  if (life.refused > 0)
    throw new PromiseBroken('a change is refused, because an earlier one cannot be copied');
  await life.assertWell();
  return { ...figures, refused: 0 };
}

async function failForAWhile({ random, onRun }: Course): Promise<Figures> {
  await using life = new Life(random);
  await life.start();
  let [runs, failed] = [0, 0];
  for (const call of ['pwrite64', SYNC])
    for (const error of errors)
      for (const isOpeningToo of [false, true]) {
        const fault = { call, error, when: '1+' };
        onRun(nameOf(fault));
        const faults = isOpeningToo ? [fault, { ...fault, call: 'openat' }] : [fault];
        const count = await life.under(faults, FILES, () => endure(life));
        await life.assertWell();
        await life.crash();
        await life.assertWell();
        runs++;
        failed += count.failed;
      }
  return { runs, failed, refused: life.refused };
}

async function endure(life: Life): Promise<void> {
  for (const end = performance.now() + OUTAGE_MS; performance.now() < end; await sleep(PROBE_EVERY_MS)) {
    await life.assertRefusing();
    await life.assertNotReady();
  }
}

/** No call is made to fail here: the log grows until there is no room. What is there can be read, after a restart too. */
async function fillDisk({ random, onRun }: Course): Promise<Figures> {
  onRun('');
  await using life = new Life(random);
  using disk = new SmallDisk(life.folder.join('data'), DISK.size);
  disk.load(DISK.ballast);
  await life.start();
  while (life.refused < REFUSED_WHEN_FULL) await life.turn();
  await life.inspect();
  await life.crash();
  await life.assertRefusing();
  await life.inspect();
  disk.unload();
  await life.assertWell();
  await life.crash();
  await life.assertWell();
  return { runs: 1, failed: 0, refused: life.refused };
}
