// A thousand slow clients of each kind at one time: all are cut off in their time, those who call as one should hardly
// notice, and when all have gone nothing of them is left.

import { readdirSync, readlinkSync } from 'node:fs';
import { median } from '../bench/median.ts';
import { sqlite } from '../test/database.ts';
import { eventually, Folder, type Service, serve } from '../test/process.ts';
import { DatabaseIssuer } from './issuer.ts';
import { type CallLoad, call } from './overload-load.ts';
import { processOf, QUIET, writeScript } from './program.ts';
import { mostResidentMb, residentMb } from './resident-memory.ts';
import { type Mode, modes, SlowClients } from './slow-clients-attack.ts';

export interface SlowClientsOptions {
  /** Of each kind. */
  clients: number;
  /** After which each kind is cut off. Those who call as one should are measured for as long, before and meanwhile. */
  limitsMs: Readonly<Record<Mode, number>>;
}

/** For each kind: when the last was cut off, and how those were served who called meanwhile, and before. */
export type SlowClientsFigures = Record<
  `${Mode}${'CutMs' | 'QuietP99Ms' | 'P99Ms' | 'MemoryMb' | 'NotServed'}`,
  number
> & { memoryBeforeMb: number; memoryAfterMb: number; connectionsLeft: number };

const GOOD_PER_SECOND = 200;
const GROUPS = 16;
const LARGE = 'x'.repeat(60_000);
const WARM_UP_SECONDS = 3;
/** A process with nothing to do collects no garbage, and one with little does it within seconds. */
const SETTLE_SECONDS = 10;

/** The median of what others have waited in several rounds, each on a service of its own; the worst of all else. */
export async function besetInRounds(
  rounds: number,
  options: SlowClientsOptions,
  onRound: (done: number) => void,
): Promise<SlowClientsFigures> {
  const all: SlowClientsFigures[] = [];
  while (all.length < rounds) {
    all.push(await besetBySlowClients(options));
    onRound(all.length);
  }
  const names = Object.keys(all[0]!) as (keyof SlowClientsFigures)[];
  const figures = names.map((name) => {
    const ofRounds = all.map((round) => round[name]);
    return [name, name.endsWith('P99Ms') ? median(ofRounds) : Math.max(...ofRounds)];
  });
  return Object.fromEntries(figures);
}

export async function besetBySlowClients(options: SlowClientsOptions): Promise<SlowClientsFigures> {
  using folder = new Folder();
  const database = await sqlite.create();
  const script = writeScript(folder.join('program'));
  const service = await serve(folder, {
    env: { ...database.env, ...QUIET, ...timeouts(options.limitsMs) },
    command: script,
  });
  try {
    await using issuer = await DatabaseIssuer.open(database);
    const { token } = await issuer.create('default', 'Customer');
    await makeLargeGroups(service, token);
    return await new Siege({ ...options, service, pid: processOf(script), apiToken: token }).run();
  } finally {
    await service.kill();
    await database.drop();
  }
}

function timeouts({ headers, body, answers }: SlowClientsOptions['limitsMs']): Record<string, string> {
  return {
    UGS_HEADERS_TIMEOUT_MS: String(headers),
    UGS_REQUEST_TIMEOUT_MS: String(body),
    UGS_ANSWER_TIMEOUT_MS: String(answers),
  };
}

/** What slow readers leave lying: 60 KB each, and a page of them is a megabyte. */
async function makeLargeGroups(service: Service, token: string): Promise<void> {
  for (let group = 0; group < GROUPS; group++) {
    const body = { user_group_id: `large-${group}`, name: 'Large', properties: { text: LARGE } };
    await service.call(token, 'GET', '/api/user', body);
  }
}

interface Scene extends SlowClientsOptions {
  service: Service;
  pid: number;
  apiToken: string;
}

class Siege {
  readonly #scene: Scene;
  readonly #figures: Partial<SlowClientsFigures> = {};

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async run(): Promise<SlowClientsFigures> {
    const { pid } = this.#scene;
    const socketsBefore = openSockets(pid);
    await this.#callAsOneShould('warm-up-', WARM_UP_SECONDS);
    const memoryBefore = residentMb(pid);
    for (const mode of modes) await this.#beset(mode);
    await this.#callAsOneShould('after-', SETTLE_SECONDS);
    this.#figures.connectionsLeft = await connectionsLeft(pid, socketsBefore);
    this.#figures.memoryBeforeMb = Math.round(memoryBefore);
    this.#figures.memoryAfterMb = Math.round(residentMb(pid));
    return this.#figures as SlowClientsFigures;
  }

  async #beset(mode: Mode): Promise<void> {
    const { service, apiToken, clients, limitsMs, pid } = this.#scene;
    const seconds = limitsMs[mode] / 1_000;
    const quiet = await this.#callAsOneShould(`quiet-${mode}-`, seconds);
    const attack = new SlowClients({ url: service.url, apiToken, mode, clients });
    await attack.begun;
    const [beset, memoryMb] = await mostResidentMb(pid, this.#callAsOneShould(`beset-${mode}-`, seconds));
    const { lastCutMs } = await attack.cut;
    Object.assign(this.#figures, {
      [`${mode}CutMs`]: Math.round(lastCutMs),
      [`${mode}QuietP99Ms`]: Math.round(quiet.served.p99Ms * 10) / 10,
      [`${mode}P99Ms`]: Math.round(beset.served.p99Ms * 10) / 10,
      [`${mode}MemoryMb`]: Math.round(memoryMb),
      [`${mode}NotServed`]: beset.notServed,
    });
  }

  #callAsOneShould(prefix: string, seconds: number): ReturnType<typeof call> {
    const { service, apiToken } = this.#scene;
    const offer: CallLoad['offer'] = { perSecond: GOOD_PER_SECOND };
    return call({ url: service.url, apiToken, prefix, seconds, warmUpSeconds: 0, offer });
  }
}

/** How many have not ended: those of callers that have just gone end in a moment. */
async function connectionsLeft(pid: number, socketsBefore: number): Promise<number> {
  const left = (): number => Math.max(0, openSockets(pid) - socketsBefore);
  return eventually('the end of every connection', () => left() === 0).then(() => 0, left);
}

function openSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((file) => leadsToSocket(`${folder}/${file}`)).length;
}

function leadsToSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:');
  } catch {
    return false; // closed meanwhile
  }
}

/** How long after its time a client may be cut off: the service looks every two seconds, and each second a byte moves. */
const LATE_MS = 5_000;
/** A client asks for ten lists, and each may wait half a second for its turn: only then is there one that it must take. */
const UNTIL_READY_MS: Readonly<Record<Mode, number>> = { headers: 0, body: 0, answers: 5_000 };
const MOST_TIMES_QUIET = 2;
/** The heap shrinks late. */
const MOST_MB_LEFT = 200;

/** The promises that the figures break; none where all are kept. */
export function brokenPromises(
  figures: SlowClientsFigures,
  limitsMs: SlowClientsOptions['limitsMs'],
): string[] {
  const broken = modes.flatMap((mode) => [
    ...(figures[`${mode}CutMs`] > limitsMs[mode] + UNTIL_READY_MS[mode] + LATE_MS
      ? [`slow ${mode} end in their time`]
      : []),
    ...(figures[`${mode}P99Ms`] > MOST_TIMES_QUIET * figures[`${mode}QuietP99Ms`]
      ? [`slow ${mode} do not double what others wait`]
      : []),
    ...(figures[`${mode}NotServed`] > 0 ? [`slow ${mode} keep nobody from being served`] : []),
  ]);
  if (figures.connectionsLeft > 0) broken.push('no connection is left');
  if (figures.memoryAfterMb - figures.memoryBeforeMb > MOST_MB_LEFT) broken.push('no memory is left');
  return broken;
}
