// Kills the service at random moments under load and restarts it, repeatedly; after each kill, everything
// that it acknowledged must still exist. The page cache of the operating system survives a kill;
// `power-cut.ts` tests the loss of unsynced writes.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../test/support/database.ts';
import { createApiToken, Folder } from '../test/support/process.ts';
import { Fleet } from './support/fleet.ts';
import { inspect } from './support/inspection.ts';
import { type IntegrityChecker, openIntegrityChecker } from './support/integrity-checker.ts';
import { Journal, readRounds } from './support/journal.ts';
import { Ledger } from './support/ledger.ts';
import { Load } from './support/load.ts';
import { Random } from './support/random.ts';
import { Workload } from './support/workload.ts';

interface CrashOptions {
  kind: DatabaseKind;
  kills: number;
  /** Processes that serve the database together; SQLite supports one. */
  processes: number;
  seed: number;
  /**
   * SQL that removes data after each kill, to test that the rig detects the loss; every kill then happens
   * under load.
   */
  corruptingSql?: string;
  onKill: (kills: number) => void;
}

interface CrashFigures {
  kills: number;
  /** Kills before the process listened. */
  killsDuringStart: number;
  groups: number;
  answered: number;
  /** Responses that a kill prevented. */
  lostAnswers: number;
}

const GROUPS = 150;
const CALLERS = 12;
/** Maximum time under load before a kill. */
const LOAD_MS = 400;
/** Maximum time from the start of a process to its kill if it does not listen yet. */
const START_MS = 400;
const DURING_START_SHARE = 0.15;
const REPLACED_TOKENS = 3;

/** Throws `PromiseBroken`. */
export async function crash(options: CrashOptions): Promise<CrashFigures> {
  using folder = new Folder();
  const random = new Random(options.seed);
  await using database = await options.kind.create();
  await using checker = await openIntegrityChecker(database);
  await using fleet = new Fleet({ folder, database, checker, random, size: options.processes });
  // The first process creates the database.
  await fleet.killStarting(random.below(START_MS));
  options.onKill(1);
  const { token: apiToken } = await createApiToken(folder, [], { env: database.env });
  const rig = new CrashRig({ ...options, random, fleet, checker, apiToken }, folder.join('journal'));
  await rig.killUnderLoad();
  return await rig.inspectEverything();
}

interface Equipment extends CrashOptions {
  random: Random;
  fleet: Fleet;
  checker: IntegrityChecker;
  apiToken: string;
}

class CrashRig {
  readonly #equipment: Equipment;
  readonly #journalPath: string;
  #kills = 1;
  #killsDuringStart = 1;

  constructor(equipment: Equipment, journalPath: string) {
    this.#equipment = equipment;
    this.#journalPath = journalPath;
  }

  async killUnderLoad(): Promise<void> {
    const { kills, random, fleet, checker, corruptingSql, onKill } = this.#equipment;
    await using journal = await Journal.create(this.#journalPath);
    const workload = this.#createWorkload(new Ledger(), (entry) => journal.append(entry));
    const load = new Load({ workload, random, groups: GROUPS, callers: CALLERS });
    for (; this.#kills < kills; onKill(++this.#kills)) {
      if (corruptingSql === undefined && random.chance(DURING_START_SHARE)) {
        this.#killsDuringStart++;
        await fleet.killStarting(random.below(START_MS));
        continue;
      }
      await fleet.start();
      await this.#inspect(workload, REPLACED_TOKENS);
      let isAlive = true;
      const working = load.run(() => isAlive);
      // Under load for the whole time, what is corrupted has been acknowledged.
      await Promise.race([sleep(corruptingSql === undefined ? random.below(LOAD_MS) : LOAD_MS), working]);
      // Statements of the killed process may still take effect until its connections are closed: inspect only afterwards.
      isAlive = false;
      await fleet.killOne();
      await working;
      if (corruptingSql !== undefined) await checker.corrupt(corruptingSql);
    }
  }

  /** Inspects everything one last time, against the journal on disk. */
  async inspectEverything(): Promise<CrashFigures> {
    await this.#equipment.fleet.start();
    const ledger = Ledger.from(await readRounds(this.#journalPath));
    const { answered, lost } = ledger;
    const groups = await this.#inspect(this.#createWorkload(ledger), Number.MAX_SAFE_INTEGER);
    return {
      kills: this.#kills,
      killsDuringStart: this.#killsDuringStart,
      groups,
      answered,
      lostAnswers: lost,
    };
  }

  #createWorkload(ledger: Ledger, persist: Journal['append'] = async () => {}): Workload {
    const { fleet, apiToken } = this.#equipment;
    return new Workload({ ledger, persist, apiToken, url: () => fleet.url });
  }

  async #inspect(workload: Workload, replacedTokens: number): Promise<number> {
    const { random, checker } = this.#equipment;
    const groups = await inspect({ workload, random, replacedTokens });
    await checker.check(groups);
    return groups;
  }
}
