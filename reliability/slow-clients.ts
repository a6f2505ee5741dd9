// A thousand concurrent slow clients of each kind: the service must disconnect all of them at their timeout, regular
// callers must hardly be affected, and no connection or memory may remain afterwards.

import { median } from '../bench/median.ts';
import { sqlite } from '../test/support/database.ts';
import { openFiles } from '../test/support/open-files.ts';
import { eventually, Folder, type Service, serve } from '../test/support/process.ts';
import { type Mode, modes, SlowClients } from './slow-clients/attack.ts';
import { type CallLoad, call } from './support/call-load.ts';
import { QUIET } from './support/program.ts';
import { peakResidentMb, residentMb } from './support/resident-memory.ts';
import { DatabaseTokenIssuer } from './support/token-issuer.ts';

interface SlowClientsOptions {
  /** Number of clients of each kind. */
  clients: number;
  /** The timeout of each kind. Regular callers are measured for the same duration, before and during the attack. */
  limitsMs: Readonly<Record<Mode, number>>;
}

/**
 * Figures for each kind: when the last client was disconnected, and how regular callers were served before
 * and during the attack.
 */
type SlowClientsFigures = Record<
  `${Mode}${'CutMs' | 'QuietP99Ms' | 'P99Ms' | 'MemoryMb' | 'NotServed'}`,
  number
> & { memoryBeforeMb: number; memoryAfterMb: number; connectionsLeft: number };

const GOOD_PER_SECOND = 200;
const GROUPS = 16;
const LARGE = 'x'.repeat(60_000);
const WARM_UP_SECONDS = 3;
/**
 * Time for which a small load runs before memory is measured: it makes the process collect garbage within
 * seconds, which an idle process does not.
 */
const SETTLE_SECONDS = 10;

/**
 * Returns the median latency of regular callers over several rounds, each with a new service, and the maximum
 * of all other figures.
 */
export async function attackInRounds(
  rounds: number,
  options: SlowClientsOptions,
  onRound: (done: number) => void,
): Promise<SlowClientsFigures> {
  const all: SlowClientsFigures[] = [];
  while (all.length < rounds) {
    all.push(await attackWithSlowClients(options));
    onRound(all.length);
  }
  const names = Object.keys(all[0]!) as (keyof SlowClientsFigures)[];
  const figures = names.map((name) => {
    const ofRounds = all.map((round) => round[name]);
    return [name, name.endsWith('P99Ms') ? median(ofRounds) : Math.max(...ofRounds)];
  });
  return Object.fromEntries(figures);
}

export async function attackWithSlowClients(options: SlowClientsOptions): Promise<SlowClientsFigures> {
  using folder = new Folder();
  await using database = await sqlite.create();
  await using service = await serve(folder, {
    env: { ...database.env, ...QUIET, ...timeouts(options.limitsMs) },
  });
  await using issuer = await DatabaseTokenIssuer.open(database);
  const { token } = await issuer.create('default', 'Customer');
  await createLargeGroups(service, token);
  return await new AttackRun({ ...options, service, apiToken: token }).run();
}

function timeouts({ headers, body, answers }: SlowClientsOptions['limitsMs']): Record<string, string> {
  return {
    UGS_HEADERS_TIMEOUT_MS: String(headers),
    UGS_REQUEST_TIMEOUT_MS: String(body),
    UGS_ANSWER_TIMEOUT_MS: String(answers),
  };
}

/** Creates the groups that slow readers list: 60 KB each, so that their pages are full. */
async function createLargeGroups(service: Service, token: string): Promise<void> {
  for (let group = 0; group < GROUPS; group++) {
    const body = { user_group_id: `large-${group}`, name: 'Large', properties: { text: LARGE } };
    await service.call(token, 'GET', '/api/user', body);
  }
}

interface AttackTarget extends SlowClientsOptions {
  service: Service;
  apiToken: string;
}

class AttackRun {
  readonly #target: AttackTarget;
  readonly #figures: Partial<SlowClientsFigures> = {};

  constructor(target: AttackTarget) {
    this.#target = target;
  }

  async run(): Promise<SlowClientsFigures> {
    const { id: pid } = this.#target.service;
    const socketsBefore = openSockets(pid);
    await this.#sendRegularLoad('warm-up-', WARM_UP_SECONDS);
    const memoryBefore = residentMb(pid);
    for (const mode of modes) await this.#attack(mode);
    await this.#sendRegularLoad('after-', SETTLE_SECONDS);
    this.#figures.connectionsLeft = await connectionsLeft(pid, socketsBefore);
    this.#figures.memoryBeforeMb = Math.round(memoryBefore);
    this.#figures.memoryAfterMb = Math.round(residentMb(pid));
    return this.#figures as SlowClientsFigures;
  }

  async #attack(mode: Mode): Promise<void> {
    const { service, apiToken, clients, limitsMs } = this.#target;
    const seconds = limitsMs[mode] / 1_000;
    const quiet = await this.#sendRegularLoad(`quiet-${mode}-`, seconds);
    const attack = new SlowClients({ url: service.url, apiToken, mode, clients });
    await attack.started;
    const load = this.#sendRegularLoad(`attack-${mode}-`, seconds);
    const [attacked, memoryMb] = await peakResidentMb(service.id, load);
    const { lastCutMs } = await attack.cut;
    Object.assign(this.#figures, {
      [`${mode}CutMs`]: Math.round(lastCutMs),
      [`${mode}QuietP99Ms`]: Math.round(quiet.served.p99Ms * 10) / 10,
      [`${mode}P99Ms`]: Math.round(attacked.served.p99Ms * 10) / 10,
      [`${mode}MemoryMb`]: Math.round(memoryMb),
      [`${mode}NotServed`]: attacked.notServed,
    });
  }

  #sendRegularLoad(prefix: string, seconds: number): ReturnType<typeof call> {
    const { service, apiToken } = this.#target;
    const offer: CallLoad['offer'] = { perSecond: GOOD_PER_SECOND };
    return call({ url: service.url, apiToken, prefix, seconds, warmUpSeconds: 0, offer });
  }
}

/** Returns how many connections remain open, after waiting for callers that have just disconnected. */
async function connectionsLeft(pid: number, socketsBefore: number): Promise<number> {
  const left = (): number => Math.max(0, openSockets(pid) - socketsBefore);
  return eventually('the end of every connection', () => left() === 0).then(() => 0, left);
}

function openSockets(pid: number): number {
  return openFiles(pid).filter(({ target }) => target.startsWith('socket:')).length;
}

/**
 * Maximum delay of a disconnection: the service checks every two seconds, and a byte is sent every second.
 */
const LATE_MS = 5_000;
/**
 * Time before the timeout of a client starts: it requests ten lists, and each may be queued for half a
 * second.
 */
const UNTIL_READY_MS: Readonly<Record<Mode, number>> = { headers: 0, body: 0, answers: 5_000 };
const MAX_SLOWDOWN = 2;
/** Maximum memory left; the heap shrinks with a delay. */
const MAX_MB_LEFT = 200;

/** The broken promises according to the figures; empty if all are kept. */
export function brokenPromises(
  figures: SlowClientsFigures,
  limitsMs: SlowClientsOptions['limitsMs'],
): string[] {
  const broken = modes.flatMap((mode) => [
    ...(figures[`${mode}CutMs`] > limitsMs[mode] + UNTIL_READY_MS[mode] + LATE_MS
      ? [`slow ${mode}: clients are disconnected at their timeout`]
      : []),
    ...(figures[`${mode}P99Ms`] > MAX_SLOWDOWN * figures[`${mode}QuietP99Ms`]
      ? [`slow ${mode}: the latency of regular callers does not double`]
      : []),
    ...(figures[`${mode}NotServed`] > 0 ? [`slow ${mode}: every regular call is served`] : []),
  ]);
  if (figures.connectionsLeft > 0) broken.push('no connection remains');
  if (figures.memoryAfterMb - figures.memoryBeforeMb > MAX_MB_LEFT) broken.push('the memory is released');
  return broken;
}
