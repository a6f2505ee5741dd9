// Revokes tokens through one process while callers use them through others, repeatedly: no use sent after the
// acknowledgement of the revocation may be accepted.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../test/support/database.ts';
import { send, type TestResponse } from '../test/support/http.ts';
import {
  type Exit,
  Folder,
  PATIENT,
  Program,
  type Service,
  serve,
  WITHOUT_FAILURE_LIMIT,
} from '../test/support/process.ts';
import { PromiseBroken } from './ledger.ts';
import { Random } from './random.ts';
import { DatabaseTokenIssuer, type TokenIssuer } from './token-issuer.ts';

export interface RevocationOptions {
  kind: DatabaseKind;
  trials: number;
  /** Processes that serve the database together; SQLite supports one. */
  processes: number;
  seed: number;
  onTrial: (trials: number) => void;
}

export interface RevocationFigures {
  trials: number;
  /** Trials that revoke an API token from the command line. */
  apiTokens: number;
  /** Trials that revoke or rotate an API token over HTTP. */
  apiTokensOverHttp: number;
  uses: number;
  /** Uses sent after the acknowledgement: all rejected. */
  usesAfterwards: number;
  /** Uses sent before it that were accepted. */
  accepted: number;
}

/** The ways in which a token ends, with their weights: a command takes a hundred times as long as a request. */
const ends = {
  'replaced immediately': 6,
  'grace period cut short': 4,
  'group deleted': 4,
  'API token revoked': 2,
  'API token revoked over HTTP': 5,
  'API token revoked in its grace period': 3,
  'API token rotated': 5,
  'grace period of API token cut short': 4,
};
type End = keyof typeof ends;

function isOverHttp(end: End): boolean {
  return end.includes('API token') && end !== 'API token revoked';
}

/** Callers that use a token continuously through each process. */
const CALLERS = 3;
/** Uses that each caller sends after the end. */
const USES_AFTERWARDS = 2;
/** Generous, for busy machines. */
const COMMAND_LIMIT_MS = 120_000;
/** The pause between two uses of a caller while a command starts, which takes a hundred times the work of a request. */
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
    while (services.length < processes)
      services.push(await serve(folder, { env: { ...env, ...WITHOUT_FAILURE_LIMIT } }));
    await using issuer = await DatabaseTokenIssuer.open(database);
    await using commands = new Commands(folder, env);
    const { token } = await issuer.create('default', 'Customer', 'admin');
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

/** Commands, each a separate process, which exit slightly after they report success. */
class Commands implements AsyncDisposable {
  readonly #folder: Folder;
  readonly #env: Record<string, string>;
  readonly #exits: Promise<Exit>[] = [];

  constructor(folder: Folder, env: Record<string, string>) {
    this.#folder = folder;
    this.#env = { ...env, ...PATIENT };
  }

  /** Resolves as soon as the command reports that the API token is revoked. */
  async revoke(id: number): Promise<void> {
    const program = new Program(this.#folder, ['api-token', 'revoke', String(id)], { env: this.#env });
    const exit = program.exit(COMMAND_LIMIT_MS);
    this.#exits.push(exit);
    await Promise.race([program.firstOutput, exit]);
    if (!/^Revoked API token/.test(program.stdout))
      throw new Error('api-token revoke did not revoke the token');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#exits);
  }
}

interface Target {
  /** The URLs of the processes. */
  urls: readonly string[];
  /** An API token with the permission admin. */
  token: string;
  issuer: TokenIssuer;
}

type Trials = Target & Pick<RevocationOptions, 'trials' | 'seed' | 'onTrial'>;

/** Runs the trials with running processes. */
export async function endTokens({ trials, seed, onTrial, ...target }: Trials): Promise<RevocationFigures> {
  const random = new Random(seed);
  const figures = { trials: 0, apiTokens: 0, apiTokensOverHttp: 0, uses: 0, usesAfterwards: 0, accepted: 0 };
  while (figures.trials < trials) {
    const end = random.weighted(ends);
    const uses = await new Trial(target, random).run(end);
    if (end === 'API token revoked') figures.apiTokens++;
    if (isOverHttp(end)) figures.apiTokensOverHttp++;
    figures.uses += uses.length;
    figures.usesAfterwards += uses.filter(({ isAfterwards }) => isAfterwards).length;
    figures.accepted += uses.filter(({ isAccepted }) => isAccepted).length;
    onTrial(++figures.trials);
  }
  return figures;
}

interface Use {
  /** Whether it was sent after the acknowledgement of the end. */
  isAfterwards: boolean;
  isAccepted: boolean;
}

/** A token that will be ended. */
interface Subject {
  /** Returns whether the process accepts the token; null if the process is overloaded. */
  use(url: string): Promise<boolean | null>;
  /** Resolves when the end is acknowledged. */
  end(): Promise<unknown>;
  /** Uses what replaces the token, which every process must accept from the acknowledgement on. */
  useSuccessor?(url: string): Promise<boolean | null>;
  /** After the trial. */
  discard?(): Promise<unknown>;
}

class Trial {
  readonly #target: Target;
  readonly #random: Random;
  readonly #uses: Use[] = [];
  #isEnded = false;

  constructor(target: Target, random: Random) {
    this.#target = target;
    this.#random = random;
  }

  async run(end: End): Promise<readonly Use[]> {
    const { urls } = this.#target;
    const subject = await this.#subject(end);
    for (const url of urls)
      if ((await subject.use(url)) === false) throw new PromiseBroken(`${end}: rejected before the end`);
    const callers = urls.flatMap((url) =>
      Array.from({ length: CALLERS }, () => this.#call(url, end, subject)),
    );
    // Failures are reported at the end; this prevents unhandled rejections until then.
    Promise.all(callers).catch(() => {});
    try {
      await sleep(this.#random.below(IN_USE_MS));
      await subject.end();
    } finally {
      this.#isEnded = true;
      // In the same event loop iteration as the acknowledgement, while the callers wait for responses.
      callers.push(...urls.map((url) => this.#use(url, end, subject)));
      callers.push(...urls.map((url) => this.#useSuccessor(url, end, subject)));
      // A broken promise is reported once no use is in flight, since the processes may be stopped afterwards.
      await Promise.allSettled(callers);
    }
    await Promise.all(callers);
    await subject.discard?.();
    return this.#uses;
  }

  async #useSuccessor(url: string, end: End, { useSuccessor }: Subject): Promise<void> {
    if (useSuccessor !== undefined && (await useSuccessor(url)) === false)
      throw new PromiseBroken(`${end}: the new token was rejected after the acknowledgement`);
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
    if (isAfterwards && isAccepted) throw new PromiseBroken(`${end}: accepted after the acknowledgement`);
  }

  async #subject(end: End): Promise<Subject> {
    const { token: apiToken, issuer } = this.#target;
    const id = randomUUID();
    const { user_group } = await this.#request('POST', '/v1/user-groups', {
      user_group_id: id,
      name: 'Trial',
    });
    const first: string = user_group.token;
    if (isOverHttp(end)) return this.#apiToken(end, first);
    const rotate = (token: string, seconds: number) =>
      this.#request('POST', '/api/user', { current_token: token, grace_period_seconds: seconds });
    const ofGroup = (ending: () => Promise<unknown>): Subject => ({
      use: (url) => resolves(url, { apiToken, token: first }),
      end: ending,
    });
    switch (end) {
      case 'replaced immediately':
        return ofGroup(() => rotate(first, 0));
      case 'grace period cut short': {
        const second = (await rotate(first, 3_600)).user_group.token;
        return ofGroup(() => rotate(second, 0));
      }
      case 'group deleted':
        return ofGroup(() => this.#request('DELETE', `/v1/user-groups/${id}`));
      case 'API token revoked': {
        const issued = await issuer.create('default', 'Customer');
        return {
          use: (url) => resolves(url, { apiToken: issued.token, token: first }),
          end: () => issuer.revoke(issued.id),
        };
      }
      default:
        throw new Error(`${end}: not an end of a user group token`);
    }
  }

  /** An API token, used to resolve `userGroupToken`. */
  async #apiToken(end: End, userGroupToken: string): Promise<Subject> {
    const body = { name: 'trial', permission: 'resolve' };
    const { api_token } = await this.#request('POST', '/v1/api-tokens', body);
    const path = `/v1/api-tokens/${api_token.api_token_id}`;
    const revoke = () => this.#request('DELETE', path);
    const rotate = async (seconds: number): Promise<string> => {
      const body = { grace_period_seconds: seconds };
      return (await this.#request('POST', `${path}/rotate`, body)).api_token.token;
    };
    const use = (apiToken: string) => (url: string) => resolves(url, { apiToken, token: userGroupToken });
    if (end.includes('grace period')) await rotate(3_600);
    const old = use(api_token.token);
    if (end.startsWith('API token revoked')) return { use: old, end: revoke };
    let successor = '';
    return {
      use: old,
      end: async () => {
        successor = await rotate(0);
      },
      useSuccessor: (url) => use(successor)(url),
      discard: revoke,
    };
  }

  /** Sends a request that must succeed to any of the processes. */
  async #request(method: string, path: string, body?: object): Promise<TestResponse['json']> {
    const { urls, token } = this.#target;
    let response: TestResponse;
    // All requests are repeatable; a repeated deletion returns 404.
    do response = await send(this.#random.pick(urls), { method, path, token, body });
    while (response.status === 503);
    const { status, json } = response;
    if (status >= 300 && !(method === 'DELETE' && status === 404))
      throw new PromiseBroken(`${method} ${path} returned ${status} ${json?.code}`);
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
    throw new PromiseBroken(`a use returned ${status} ${json.code}`);
  return status === 200;
}
