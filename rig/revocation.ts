// A token is ended through one process while callers use it through others, over and over: none of its uses may be
// accepted that was sent after the end was acknowledged.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../test/database.ts';
import { send, type TestAnswer } from '../test/http.ts';
import { type Exit, Folder, PATIENT, Program, type Service, serve } from '../test/process.ts';
import { DatabaseIssuer, type Issuer } from './issuer.ts';
import { PromiseBroken } from './ledger.ts';
import { Random } from './random.ts';

export interface RevocationOptions {
  kind: DatabaseKind;
  trials: number;
  /** Processes that serve the database together; SQLite takes one. */
  processes: number;
  seed: number;
  onTrial: (trials: number) => void;
}

export interface RevocationFigures {
  trials: number;
  /** Of these, revocations of API tokens by the command line. */
  apiTokens: number;
  uses: number;
  /** Of these, sent after the end was acknowledged: all refused. */
  usesAfterwards: number;
  /** Of those that were sent before it, accepted ones. */
  accepted: number;
}

/** How a token ends, and how often it is tried: a command takes a hundred times as long as a request. */
const ends = {
  'replaced at once': 6,
  'grace period cut short': 4,
  'group deleted': 4,
  'API token revoked': 2,
};
type End = keyof typeof ends;

/** Callers that use a token without a pause, through each process. */
const CALLERS = 3;
/** Uses of each caller that are sent after the end. */
const USES_AFTERWARDS = 2;
/** On a machine that has much else to do. */
const COMMAND_LIMIT_MS = 120_000;
/** Between two uses of a caller while a command starts, which has a hundred times the work of a request. */
const PAUSE_MS = 2;
/** The longest time in use before the end. */
const IN_USE_MS = 8;

/** Throws `PromiseBroken`. */
export async function revocation({
  kind,
  processes,
  ...options
}: RevocationOptions): Promise<RevocationFigures> {
  using folder = new Folder();
  const database = await kind.create();
  const { env } = database;
  const services: Service[] = [];
  try {
    while (services.length < processes) services.push(await serve(folder, { env }));
    await using issuer = await DatabaseIssuer.open(database);
    await using commands = new Commands(folder, env);
    const { token } = await issuer.create('default', 'Customer');
    return await endTokens({
      ...options,
      token,
      issuer: { create: (...of) => issuer.create(...of), revoke: (id) => commands.revoke(id) },
      urls: services.map(({ url }) => url),
    });
  } finally {
    await Promise.all(services.map((service) => service.kill()));
    await database.drop();
  }
}

/** Commands, each a process of its own, that go on for a moment when they have done their work. */
class Commands implements AsyncDisposable {
  readonly #folder: Folder;
  readonly #env: Record<string, string>;
  readonly #exits: Promise<Exit>[] = [];

  constructor(folder: Folder, env: Record<string, string>) {
    this.#folder = folder;
    this.#env = { ...env, ...PATIENT };
  }

  /** Resolves in the moment at which the command says that the API token is revoked. */
  async revoke(id: number): Promise<void> {
    const program = new Program(this.#folder, ['api-token', 'revoke', String(id)], { env: this.#env });
    const exit = program.exit(COMMAND_LIMIT_MS);
    this.#exits.push(exit);
    await Promise.race([program.firstOutput, exit]);
    if (!/is revoked/.test(program.stdout)) throw new Error('api-token revoke has not revoked');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#exits);
  }
}

interface Place {
  /** Of the processes. */
  urls: readonly string[];
  token: string;
  issuer: Issuer;
}

type Trials = Place & Pick<RevocationOptions, 'trials' | 'seed' | 'onTrial'>;

/** The same with processes that run. */
export async function endTokens({ trials, seed, onTrial, ...place }: Trials): Promise<RevocationFigures> {
  const random = new Random(seed);
  const figures = { trials: 0, apiTokens: 0, uses: 0, usesAfterwards: 0, accepted: 0 };
  while (figures.trials < trials) {
    const end = random.weighted(ends);
    const uses = await new Trial(place, random).run(end);
    if (end === 'API token revoked') figures.apiTokens++;
    figures.uses += uses.length;
    figures.usesAfterwards += uses.filter(({ isAfterwards }) => isAfterwards).length;
    figures.accepted += uses.filter(({ isAccepted }) => isAccepted).length;
    onTrial(++figures.trials);
  }
  return figures;
}

interface Use {
  /** Whether it was sent after the end was acknowledged. */
  isAfterwards: boolean;
  isAccepted: boolean;
}

/** A token that is going to end. */
interface Subject {
  /** Says whether the process accepts the token; null where it has no time to look. */
  use(url: string): Promise<boolean | null>;
  /** Resolves when the end is acknowledged. */
  end(): Promise<unknown>;
}

class Trial {
  readonly #place: Place;
  readonly #random: Random;
  readonly #uses: Use[] = [];
  #isEnded = false;

  constructor(place: Place, random: Random) {
    this.#place = place;
    this.#random = random;
  }

  async run(end: End): Promise<readonly Use[]> {
    const { urls } = this.#place;
    const subject = await this.#subject(end);
    for (const url of urls)
      if ((await subject.use(url)) === false) throw new PromiseBroken(`${end}: refused before it`);
    const callers = urls.flatMap((url) =>
      Array.from({ length: CALLERS }, () => this.#call(url, end, subject)),
    );
    // Told at the end, by when a failure would have gone unheeded.
    Promise.all(callers).catch(() => {});
    try {
      await sleep(this.#random.below(IN_USE_MS));
      await subject.end();
    } finally {
      this.#isEnded = true;
      // In the very turn in which the end is acknowledged, while the callers wait for answers.
      callers.push(...urls.map((url) => this.#use(url, end, subject)));
      // A broken promise is told of once no use is under way, since the processes may end then.
      await Promise.allSettled(callers);
    }
    await Promise.all(callers);
    return this.#uses;
  }

  async #call(url: string, end: End, subject: Subject): Promise<void> {
    for (let afterwards = 0; afterwards < USES_AFTERWARDS; ) {
      if (this.#isEnded) afterwards++;
      else if (end === 'API token revoked') await sleep(PAUSE_MS);
      await this.#use(url, end, subject);
    }
  }

  async #use(url: string, end: End, subject: Subject): Promise<void> {
    const isAfterwards = this.#isEnded;
    const isAccepted = await subject.use(url);
    if (isAccepted === null) return;
    this.#uses.push({ isAfterwards, isAccepted });
    if (isAfterwards && isAccepted) throw new PromiseBroken(`${end}: accepted after it was acknowledged`);
  }

  async #subject(end: End): Promise<Subject> {
    const { token: apiToken, issuer } = this.#place;
    const id = randomUUID();
    const { user_group } = await this.#ask('POST', '/v1/user-groups', { user_group_id: id, name: 'Trial' });
    const first: string = user_group.token;
    const rotate = (token: string, seconds: number) =>
      this.#ask('POST', '/api/user', { current_token: token, grace_period_seconds: seconds });
    const ofGroup = (ending: () => Promise<unknown>): Subject => ({
      use: (url) => resolves(url, { apiToken, token: first }),
      end: ending,
    });
    switch (end) {
      case 'replaced at once':
        return ofGroup(() => rotate(first, 0));
      case 'grace period cut short': {
        const second = (await rotate(first, 3_600)).user_group.token;
        return ofGroup(() => rotate(second, 0));
      }
      case 'group deleted':
        return ofGroup(() => this.#ask('DELETE', `/v1/user-groups/${id}`));
      case 'API token revoked': {
        const issued = await issuer.create('default', 'Customer');
        return {
          use: (url) => resolves(url, { apiToken: issued.token, token: first }),
          end: () => issuer.revoke(issued.id),
        };
      }
      default:
        return end satisfies never;
    }
  }

  /** Asks any of the processes, for what must succeed. */
  async #ask(method: string, path: string, body?: object): Promise<TestAnswer['json']> {
    const { urls, token } = this.#place;
    let answer: TestAnswer;
    // All that is asked can be repeated; of a deletion the second answer says that there is nothing to delete.
    do answer = await send(this.#random.pick(urls), { method, path, token, body });
    while (answer.status === 503);
    const { status, json } = answer;
    if (status >= 300 && !(method === 'DELETE' && status === 404))
      throw new PromiseBroken(`${method} ${path} was answered ${status} ${json?.code}`);
    return json;
  }
}

const REFUSALS = ['unauthenticated', 'user_group_token_not_found'];

async function resolves(
  url: string,
  { apiToken, token }: { apiToken: string; token: string },
): Promise<boolean | null> {
  const { status, json } = await send(url, {
    method: 'POST',
    path: '/v1/resolve',
    token: apiToken,
    body: { token },
  });
  if (status === 503) return null;
  if (status !== 200 && !REFUSALS.includes(json.code))
    throw new PromiseBroken(`a use was answered ${status} ${json.code}`);
  return status === 200;
}
