// Sends bursts of bodies at every limit to every endpoint that accepts one. The event loop must not block,
// other requests must be served meanwhile, and requests that cannot be served in time must be rejected with
// Retry-After.

import type { DatabaseKind } from '../test/support/database.ts';
import { eventually } from '../test/support/process.ts';
import { type BurstResponse, sendBurst } from './large-bodies/burst.ts';
import {
  accepts,
  bodies,
  type Endpoint,
  endpoints,
  type LargeBody,
  type LargeGroup,
  requestOf,
} from './large-bodies/case.ts';
import { type LoopFigures, type Monitored, ONE_THREAD, whileMonitored } from './support/event-loop.ts';

interface LargeBodiesOptions {
  kind: DatabaseKind;
  /** Number of requests in each burst. */
  bursts: readonly number[];
  /** Limits the run to these endpoints and bodies, by name. */
  only?: { endpoints?: readonly string[]; bodies?: readonly string[] };
  onBurst?: (figures: BurstFigures) => void;
}

export interface BurstFigures extends LoopFigures {
  endpoint: string;
  body: string;
  requests: number;
  /** Responses with the status expected from an idle service. */
  answered: number;
  overloaded: number;
  /** Other responses, and requests without a response. */
  wrong: number;
  lastAnswerMs: number;
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
export function burstOfLargeBodies(options: LargeBodiesOptions): Promise<BurstFigures[]> {
  return whileMonitored(options.kind, (monitored) => new Target(monitored).burstAll(options), ONE_THREAD);
}

class Target {
  readonly #monitored: Monitored;

  constructor(monitored: Monitored) {
    this.#monitored = monitored;
  }

  /** Sends each body to each endpoint; the first burst warms the code up and does not count. */
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
    const { service, loop, token } = this.#monitored;
    const groups = await this.#storeGroups(body.stored);
    const requests = groups.map((group) => requestOf(endpoint, body, group, token));
    const [responses, loopFigures] = await loop.during(() =>
      sendBurst({ url: service.url, requests, count }),
    );
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
      ...loopFigures,
    };
  }

  async #storeGroups(properties: string): Promise<LargeGroup[]> {
    const { service, token } = this.#monitored;
    const groups: LargeGroup[] = [];
    for (let group = 0; group < GROUPS; group++) {
      const id = `large-${group}`;
      const body = `{"user_group_id":"${id}","name":"Large","properties":${properties}}`;
      // The previous burst may still overload the service.
      const send = (method: string) =>
        eventually('the group', async () => {
          const { status, json } = await service.call(token, method, '/api/user', body);
          return status === 503 ? null : json.user_group;
        });
      await send('GET');
      groups.push({ id, token: (await send('PUT')).token });
    }
    return groups;
  }
}

function isOverloaded({ status, code, hasRetryAfter }: BurstResponse): boolean {
  return status === 503 && code === 'overloaded' && hasRetryAfter;
}

/** The limits that the service promises. */
interface BurstLimits {
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
      [`/healthz responds within ${limits.healthMs} ms apart from waits for a processor`]:
        burst.slowestServedHealthMs <= limits.healthMs,
      [`every response arrives within ${limits.answerMs} ms`]: burst.lastAnswerMs <= limits.answerMs,
    };
    const of = `${burst.requests} requests with the body "${burst.body}" to ${burst.endpoint}`;
    return Object.keys(promises)
      .filter((promise) => !promises[promise])
      .map((promise) => `${promise} (${of})`);
  });
}
