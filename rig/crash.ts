// The service is killed at random moments under load and started again, over and over; after each kill all that it
// has acknowledged must be there. What the operating system has in its cache survives a kill: `power-cut.ts` is for
// what does not.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../test/database.ts';
import { createApiToken, Folder } from '../test/process.ts';
import { Conversation } from './conversation.ts';
import { type Examiner, examinerOf } from './examiner.ts';
import { Fleet } from './fleet.ts';
import { inspect } from './inspection.ts';
import { Journal, readRounds } from './journal.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { Random } from './random.ts';

export interface CrashOptions {
  kind: DatabaseKind;
  kills: number;
  /** Processes that serve the database together; SQLite takes one. */
  processes: number;
  seed: number;
  /** SQL that takes something away after each kill, all of which are then under load: the rig must find it. */
  harm?: string;
  onKill: (kills: number) => void;
}

export interface CrashFigures {
  kills: number;
  /** Of these, before the process listened. */
  killsDuringStart: number;
  groups: number;
  answered: number;
  /** Answers that a kill has cut off. */
  lostAnswers: number;
}

const GROUPS = 150;
const CALLERS = 12;
/** The longest time under load before a kill. */
const LOAD_MS = 400;
/** The longest time from its start after which a process is killed that does not listen yet. */
const START_MS = 400;
const DURING_START_SHARE = 0.15;
const REPLACED_TOKENS = 3;

/** Throws `PromiseBroken`. */
export async function crash(options: CrashOptions): Promise<CrashFigures> {
  using folder = new Folder();
  const random = new Random(options.seed);
  const database = await options.kind.create();
  try {
    await using examiner = await examinerOf(database);
    await using fleet = new Fleet({ folder, database, examiner, random, size: options.processes });
    // The first of all: it makes the database.
    await fleet.killStarting(random.below(START_MS));
    options.onKill(1);
    const { token: apiToken } = await createApiToken(folder, [], { env: database.env });
    const rig = new CrashRig({ ...options, random, fleet, examiner, apiToken }, folder.join('journal'));
    await rig.killUnderLoad();
    return await rig.settleAccounts();
  } finally {
    await database.drop();
  }
}

interface Equipment extends CrashOptions {
  random: Random;
  fleet: Fleet;
  examiner: Examiner;
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
    const { kills, random, fleet, examiner, harm, onKill } = this.#equipment;
    await using journal = await Journal.create(this.#journalPath);
    const conversation = this.#converse(new Ledger(), (entry) => journal.append(entry));
    const load = new Load({ conversation, random, groups: GROUPS, callers: CALLERS });
    for (; this.#kills < kills; onKill(++this.#kills)) {
      if (harm === undefined && random.chance(DURING_START_SHARE)) {
        this.#killsDuringStart++;
        await fleet.killStarting(random.below(START_MS));
        continue;
      }
      await fleet.start();
      await this.#inspect(conversation, REPLACED_TOKENS);
      let isAlive = true;
      const working = load.run(() => isAlive);
      await Promise.race([sleep(random.below(LOAD_MS)), working]);
      // What the dead process has begun may happen until the database has settled: nobody is to look before.
      isAlive = false;
      await fleet.killOne();
      await working;
      if (harm !== undefined) await examiner.harm(harm);
    }
  }

  /** Once more and of everything, by what the journal has on the disk. */
  async settleAccounts(): Promise<CrashFigures> {
    await this.#equipment.fleet.start();
    const ledger = Ledger.from(await readRounds(this.#journalPath));
    const { answered, lost } = ledger;
    const groups = await this.#inspect(this.#converse(ledger), Number.MAX_SAFE_INTEGER);
    return {
      kills: this.#kills,
      killsDuringStart: this.#killsDuringStart,
      groups,
      answered,
      lostAnswers: lost,
    };
  }

  #converse(ledger: Ledger, remember: Journal['append'] = async () => {}): Conversation {
    const { fleet, apiToken } = this.#equipment;
    return new Conversation({ ledger, remember, apiToken, url: () => fleet.url });
  }

  async #inspect(conversation: Conversation, replacedTokens: number): Promise<number> {
    const { random, examiner } = this.#equipment;
    const groups = await inspect({ conversation, random, replacedTokens });
    await examiner.examine(groups);
    return groups;
  }
}
