// Simulates a power failure at selected moments of a recorded run: rebuilds a possible state of the disk, lets the
// service open it, and checks that every response sent before that moment still holds.

import { Folder } from '../test/support/process.ts';
import { type Survival, survivals } from './power-cut/disk.ts';
import type { Recording } from './power-cut/recording.ts';
import { API_TOKEN_RESPONSE, Replay } from './power-cut/replay.ts';
import type { Entry } from './support/journal.ts';
import { Ledger, PromiseBroken, type Round } from './support/ledger.ts';
import { Random } from './support/random.ts';
import { reopen } from './support/reopening.ts';

interface PowerCutOptions {
  recording: Recording;
  cuts: number;
  seed: number;
  /** Whether the disk acknowledges syncs without performing them: the rig must then find losses. */
  isLying: boolean;
  onCut: (cuts: number, fault: string | null) => unknown;
}

interface PowerCutFigures {
  events: number;
  syncs: number;
  /** Syncs of the database file, each of which completes a checkpoint. */
  checkpoints: number;
  cuts: number;
  /** Power cuts after which a promise was broken. */
  faults: number;
}

interface Cut {
  /** The number of events before the cut. */
  at: number;
  survival: Survival;
  seed: number;
}

/** Number of events on either side of a sync, where a cut is most likely to cause damage. */
const NEAR_SYNC = 4;

export async function cutPower(options: PowerCutOptions): Promise<PowerCutFigures> {
  const { events, root } = options.recording;
  const replay = new Replay(root, options.isLying);
  let [applied, done, faults] = [0, 0, 0];
  for (const cut of chooseCuts(options)) {
    while (applied < cut.at) replay.apply(events[applied++]!);
    const fault = await faultAfter(cut, replay, options.recording);
    if (fault !== null) faults++;
    options.onCut(++done, fault && `cut after ${cut.at} events, ${cut.survival} kept: ${fault}`);
  }
  const syncs = events.filter((event) => event.kind === 'end sync');
  const checkpoints = syncs.filter(({ path }) => path.endsWith('.db'));
  return { events: events.length, syncs: syncs.length, checkpoints: checkpoints.length, cuts: done, faults };
}

/** Chooses half of the cuts near syncs and half at random moments; returns them in chronological order. */
function chooseCuts({ recording: { events }, cuts, seed }: PowerCutOptions): Cut[] {
  const random = new Random(seed);
  const syncs = events.flatMap(({ kind }, index) => (kind.endsWith('sync') ? [index] : []));
  const choose = (): Cut => {
    const near = random.pick(syncs) - NEAR_SYNC + random.below(2 * NEAR_SYNC);
    const at = random.chance(0.5) ? near : random.below(events.length + 1);
    return { at: Math.max(0, at), survival: random.pick(survivals), seed: random.below(2 ** 32) };
  };
  return Array.from({ length: cuts }, choose).sort((a, b) => a.at - b.at);
}

async function faultAfter(cut: Cut, replay: Replay, recording: Recording): Promise<string | null> {
  using folder = new Folder();
  const random = new Random(cut.seed);
  replay.disk.restore(folder.path, cut.survival, random);
  const { answered } = replay;
  try {
    await reopen({
      path: folder.join('data/user-groups.db'),
      ledger: Ledger.from(roundsUntil(recording.rounds, answered)),
      apiToken: answered.has(API_TOKEN_RESPONSE) ? recording.apiToken : null,
      random,
    });
    return null;
  } catch (error) {
    return error instanceof PromiseBroken ? error.message : String((error as Error).stack);
  }
}

/**
 * Returns what callers knew: for each group, the rounds up to the first unsent response, which is then lost.
 */
function roundsUntil(rounds: Recording['rounds'], answered: ReadonlySet<string>): Round[] {
  const waiting = new Set<string>();
  const known: Round[] = [];
  for (const { id, exchanges } of rounds) {
    if (waiting.has(id)) continue;
    const isUnanswered = ({ requestId }: Entry) => requestId !== null && !answered.has(requestId);
    known.push({
      id,
      exchanges: exchanges.map((each) => (isUnanswered(each) ? { ...each, response: null } : each)),
    });
    if (exchanges.some(isUnanswered)) waiting.add(id);
  }
  return known;
}
