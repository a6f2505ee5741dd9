// Revokes tokens through one process while callers use them through others, repeatedly: no use sent after the
// revocation was acknowledged may be accepted.

import { randomUUID } from 'node:crypto';
import { send, type TestResponse } from '../test/support/http.ts';
import { type Exit, type Folder, PATIENT, Program } from '../test/support/process.ts';
import { PromiseBroken } from './support/ledger.ts';
import { Random } from './support/random.ts';
import { request, type Site, whileServing } from './support/serving.ts';
import type { TokenIssuer } from './support/token-issuer.ts';
import {
  count,
  noTrials,
  runTrial,
  type Subject,
  type TrialFigures,
  type Trials,
  type TrialsOptions,
} from './support/trial.ts';

interface RevocationFigures extends TrialFigures {
  /** Trials that revoke an API token from the command line. */
  apiTokens: number;
  /** Trials that revoke or rotate an API token over HTTP. */
  apiTokensOverHttp: number;
}

/** Ways in which a token ends, with their weights: a command takes a hundred times as long as a request. */
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

/** Generous time limit, for busy machines. */
const COMMAND_LIMIT_MS = 120_000;
/**
 * Pause between two uses of a caller while a command starts, which takes a hundred times the work of a
 * request.
 */
const PAUSE_MS = 2;

/** Throws `PromiseBroken`. */
export function revocation({ kind, processes, ...options }: TrialsOptions): Promise<RevocationFigures> {
  return whileServing({ kind, processes }, async ({ site, issuer, folder, env }) => {
    await using commands = new Commands(folder, env);
    return await endTokens({
      ...options,
      ...site,
      issuer: { create: (...of) => issuer.create(...of), revoke: (id) => commands.revoke(id) },
    });
  });
}

/** Runs commands, each in a separate process that exits slightly after it reports success. */
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

interface Target extends Site {
  issuer: TokenIssuer;
}

/** Runs the trials with running processes. */
export async function endTokens({
  trials,
  seed,
  onTrial,
  ...target
}: Target & Trials): Promise<RevocationFigures> {
  const random = new Random(seed);
  const figures = { ...noTrials(), apiTokens: 0, apiTokensOverHttp: 0 };
  while (figures.trials < trials) {
    const end = random.weighted(ends);
    const subject = await new Subjects(target, random).of(end);
    const pauseMs = end === 'API token revoked' ? PAUSE_MS : undefined;
    const uses = await runTrial({ name: end, subject, urls: target.urls, random, pauseMs });
    if (end === 'API token revoked') figures.apiTokens++;
    if (isOverHttp(end)) figures.apiTokensOverHttp++;
    count(figures, uses);
    onTrial(figures.trials);
  }
  return figures;
}

class Subjects {
  readonly #target: Target;
  readonly #random: Random;

  constructor(target: Target, random: Random) {
    this.#target = target;
    this.#random = random;
  }

  async of(end: End): Promise<Subject> {
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

  /** Creates an API token and uses it to resolve `userGroupToken`. */
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

  #request(...call: [method: string, path: string, body?: object]): Promise<TestResponse['json']> {
    return request(this.#target, this.#random, call);
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
