// Sends bursts of bodies at every limit to every endpoint that accepts one: the event loop must not block, other
// requests must be served meanwhile, and requests that cannot be served in time must be rejected with Retry-After.

import type { DatabaseKind } from '../test/support/database.ts';
import { Folder, type Service, serve } from '../test/support/process.ts';
import { EventLoop, monitored } from './event-loop.ts';
import { type BurstResponse, sendBurst } from './large-bodies-burst.ts';
import {
  accepts,
  bodies,
  type Endpoint,
  endpoints,
  type LargeBody,
  type LargeGroup,
  requestOf,
} from './large-bodies-case.ts';
import { QUIET } from './program.ts';
import { DatabaseTokenIssuer } from './token-issuer.ts';

export interface LargeBodiesOptions {
  kind: DatabaseKind;
  /** Requests in each burst. */
  bursts: readonly number[];
  /** Limits the run to these endpoints and bodies, by name. */
  only?: { endpoints?: readonly string[]; bodies?: readonly string[] };
  onBurst?: (figures: BurstFigures) => void;
}

export interface BurstFigures {
  endpoint: string;
  body: string;
  requests: number;
  /** Responses with the status expected from an idle service. */
  answered: number;
  overloaded: number;
  /** Any other response, or none. */
  wrong: number;
  lastAnswerMs: number;
  longestTurnMs: number;
  /** CPU time only, which excludes delays by a busy machine. */
  longestTurnCpuMs: number;
  slowestHealthMs: number;
}

const GROUPS = 20;

export function burstCount({ bursts, only = {} }: Pick<LargeBodiesOptions, 'bursts' | 'only'>): number {
  return bursts.length * cases(only).length;
}

function cases(only: NonNullable<LargeBodiesOptions['only']>): [Endpoint, LargeBody][] {
  return endpoints
    .filter(({ name }) => only.endpoints?.includes(name) ?? true)
    .flatMap((endpoint) =>
      bodies
        .filter((body) => accepts(endpoint, body) && (only.bodies?.includes(body.name) ?? true))
        .map((body): [Endpoint, LargeBody] => [endpoint, body]),
    );
}

/** Sends each body to each endpoint, in bursts of each size. */
export async function burstOfLargeBodies(options: LargeBodiesOptions): Promise<BurstFigures[]> {
  using folder = new Folder();
  const database = await options.kind.create();
  const file = folder.join('longest-iteration');
  const service = await serve(folder, { env: { ...database.env, ...QUIET, ...monitored(file) } });
  try {
    await using issuer = await DatabaseTokenIssuer.open(database);
    const { token } = await issuer.create('default', 'Customer');
    return await new Target(service, new EventLoop(service, file), token).burstAll(options);
  } finally {
    await service.kill();
    await database.drop();
  }
}

class Target {
  readonly #service: Service;
  readonly #loop: EventLoop;
  readonly #apiToken: string;

  constructor(service: Service, loop: EventLoop, apiToken: string) {
    this.#service = service;
    this.#loop = loop;
    this.#apiToken = apiToken;
  }

  /** Sends each body to each endpoint; the first burst warms up the code and does not count. */
  async burstAll({ bursts, only = {}, onBurst }: LargeBodiesOptions): Promise<BurstFigures[]> {
    const figures: BurstFigures[] = [];
    for (const [endpoint, body] of cases(only)) {
      await this.#burst(endpoint, body, GROUPS);
      for (const requests of bursts) {
        const burst = await this.#burst(endpoint, body, requests);
        figures.push(burst);
        onBurst?.(burst);
      }
    }
    return figures;
  }

  async #burst(endpoint: Endpoint, body: LargeBody, count: number): Promise<BurstFigures> {
    const groups = await this.#storeGroups(body.stored);
    const requests = groups.map((group) => requestOf(endpoint, body, group, this.#apiToken));
    await this.#loop.longestIteration();
    const sent = sendBurst({ url: this.#service.url, requests, count });
    const [responses, slowestHealthMs] = await this.#loop.slowestHealthMs(sent);
    const { longestMs, longestCpuMs } = await this.#loop.longestIteration();
    const answered = responses.filter(({ status }) => status === body.status).length;
    const overloaded = responses.filter(isOverloaded).length;
    return {
      endpoint: endpoint.name,
      body: body.name,
      requests: count,
      answered,
      overloaded,
      wrong: count - answered - overloaded,
      lastAnswerMs: Math.round(Math.max(...responses.map(({ tookMs }) => tookMs))),
      longestTurnMs: Math.round(longestMs),
      longestTurnCpuMs: Math.round(longestCpuMs),
      slowestHealthMs: Math.round(slowestHealthMs),
    };
  }

  async #storeGroups(properties: string): Promise<LargeGroup[]> {
    const groups: LargeGroup[] = [];
    for (let group = 0; group < GROUPS; group++) {
      const id = `large-${group}`;
      const body = `{"user_group_id":"${id}","name":"Large","properties":${properties}}`;
      await this.#service.call(this.#apiToken, 'GET', '/api/user', body);
      const { json } = await this.#service.call(this.#apiToken, 'PUT', '/api/user', body);
      groups.push({ id, token: json.user_group.token });
    }
    return groups;
  }
}

function isOverloaded({ status, code, hasRetryAfter }: BurstResponse): boolean {
  return status === 503 && code === 'overloaded' && hasRetryAfter;
}

/** The limits that the service promises. */
export interface BurstLimits {
  turnCpuMs: number;
  healthMs: number;
  answerMs: number;
}

const LIMITS: BurstLimits = { turnCpuMs: 50, healthMs: 100, answerMs: 5_000 };

/** The broken promises according to the figures; empty if all are kept. */
export function brokenPromises(figures: readonly BurstFigures[], limits = LIMITS): string[] {
  return figures.flatMap((burst) => {
    const promises: Record<string, boolean> = {
      'every response has the expected status or the code overloaded': burst.wrong === 0,
      [`no event loop iteration uses more than ${limits.turnCpuMs} ms of CPU time`]:
        burst.longestTurnCpuMs <= limits.turnCpuMs,
      [`/healthz responds within ${limits.healthMs} ms`]: burst.slowestHealthMs <= limits.healthMs,
      [`every response arrives within ${limits.answerMs} ms`]: burst.lastAnswerMs <= limits.answerMs,
    };
    const of = `${burst.requests} requests with the body "${burst.body}" to ${burst.endpoint}`;
    return Object.keys(promises)
      .filter((promise) => !promises[promise])
      .map((promise) => `${promise} (${of})`);
  });
}
