// Sends operations over HTTP, several concurrently on one group. Each response is journaled before it counts,
// and checked against the ledger immediately.

import { setTimeout as sleep } from 'node:timers/promises';
import { send, type TestRequest, type TestResponse } from '../../test/support/http.ts';
import type { Entry } from './journal.ts';
import { type Ledger, PromiseBroken } from './ledger.ts';
import type { Operation, Response, Verdict } from './model.ts';

/** Maximum response time, whatever fault is injected and however busy the machine is. */
const ANSWER_LIMIT_MS = 60_000;

const MAX_ATTEMPTS = 20;
const PAUSE_MS = 200;

interface WorkloadOptions {
  ledger: Ledger;
  /** Makes an entry durable. */
  persist: (entry: Entry) => Promise<void>;
  apiToken: string;
  /** The URL for the next operation; there may be several processes. */
  url: () => string;
}

/** Exchanges between callers and the service, across all runs of the service. */
export class Workload {
  readonly ledger: Ledger;
  readonly #options: WorkloadOptions;
  #rounds = 0;
  /** Responses that report the database as unavailable: the operation may or may not have taken effect. */
  refused = 0;

  constructor(options: WorkloadOptions) {
    this.ledger = options.ledger;
    this.#options = options;
  }

  /** Sends the operations concurrently and returns how many got a response. Throws `PromiseBroken`. */
  async round(id: string, operations: readonly Operation[]): Promise<number> {
    const round = this.#rounds++;
    const exchanges = await Promise.all(
      operations.map(async (operation): Promise<Entry> => {
        const entry = { round, id, operation, ...(await this.#send(id, operation)) };
        await this.#options.persist(entry);
        return entry;
      }),
    );
    this.ledger.record({ id, exchanges });
    return exchanges.filter(({ response }) => response !== null).length;
  }

  /**
   * Retries the operation until it gets a response, because a busy service rejects operations. Throws
   * `PromiseBroken`.
   */
  async sendUntilAnswered(id: string, operation: Operation): Promise<void> {
    for (let attempt = 1; (await this.round(id, [operation])) === 0; attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new PromiseBroken(`${id}: no response to ${operation.kind}`);
      await sleep(PAUSE_MS);
    }
  }

  async #send(id: string, operation: Operation): Promise<Pick<Entry, 'response' | 'requestId'>> {
    const { apiToken, url } = this.#options;
    const request = { ...requestOf(id, operation), token: apiToken };
    const response = await within(
      ANSWER_LIMIT_MS,
      send(url(), request).catch(() => null),
    );
    if (response === null) return { response: null, requestId: null };
    const requestId = String(response.headers['x-request-id']);
    if (response.status === 503) {
      assertClearRefusal(response);
      if (response.json.code === 'database_unavailable') this.refused++;
      return { response: null, requestId };
    }
    return { response: responseOf(operation, response), requestId };
  }
}

async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const timeout = sleep(limitMs, null, { signal: timer.signal }).then(() => {
    throw new PromiseBroken(`no response within ${limitMs} ms`);
  });
  timeout.catch(() => {});
  try {
    return await Promise.race([work, timeout]);
  } finally {
    timer.abort();
  }
}

function requestOf(id: string, operation: Operation): TestRequest {
  switch (operation.kind) {
    case 'create': {
      const { name, mapping, properties } = operation;
      return { method: 'GET', body: bodyOf(id, { name, mapping, properties }) };
    }
    case 'read':
      // Creates nothing without a name; the response contains properties if the request has the key.
      return { method: 'GET', body: bodyOf(id, { properties: null }) };
    case 'update':
      return { method: 'PUT', body: bodyOf(id, operation.fields) };
    case 'rotate':
      return {
        method: 'POST',
        body: { current_token: operation.token, grace_period_seconds: operation.isGraceful ? 86_400 : 0 },
      };
    case 'resolve':
      return { method: 'POST', path: '/v1/resolve', body: { token: operation.token } };
    case 'delete':
      return { method: 'DELETE', path: `/v1/user-groups/${encodeURIComponent(id)}` };
    default:
      return operation satisfies never;
  }
}

/** `id` is null if it is in the path. */
export function bodyOf(
  id: string | null,
  { name, mapping, properties }: { name?: string; mapping?: string | null; properties?: string | null },
): string {
  const parts = id === null ? [] : [`"user_group_id":${JSON.stringify(id)}`];
  if (name !== undefined) parts.push(`"name":${JSON.stringify(name)}`);
  if (mapping !== undefined) parts.push(`"mapping":${mapping}`);
  if (properties !== undefined) parts.push(`"properties":${properties}`);
  return `{${parts.join(',')}}`;
}

const ABSENT_CODES = ['user_group_not_found', 'user_group_token_not_found'];

function responseOf(operation: Operation, { status, headers, json }: TestResponse): Response {
  if (status === 204 && operation.kind === 'delete') return { verdict: 'deleted', facts: {} };
  if (status === 404 && ABSENT_CODES.includes(json.code)) return { verdict: 'absent', facts: {} };
  if (status !== 200 || json.success !== 1)
    throw new PromiseBroken(`${operation.kind} returned ${status} ${json?.code}: ${json?.detail}`);
  const { team_id: teamId, token, name, mapping, properties } = json.user_group;
  const version = headers.etag?.match(/^"\d+-(\d+)"$/)?.[1];
  const facts = {
    teamId,
    name,
    ...(token !== undefined && { token }),
    ...(version !== undefined && { version: Number(version) }),
    ...(mapping !== undefined && { mapping: jsonText(mapping) }),
    ...(properties !== undefined && { properties: jsonText(properties) }),
  };
  return { verdict: verdictOf(json), facts };
}

function verdictOf(json: { new_user_group?: boolean; token?: { status: string } }): Verdict {
  if (json.new_user_group) return 'created';
  return json.token?.status === 'retiring' ? 'retiring' : 'present';
}

function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/**
 * A busy machine makes requests wait for others until they are refused as `overloaded`. Even that one leaves open
 * whether a rotation was applied: after a lost result, the store repeats it, and reading the group again may be refused.
 */
const REFUSALS = ['database_unavailable', 'overloaded'];

function assertClearRefusal({ headers, json }: TestResponse): void {
  const isClear = json?.success === 0 && REFUSALS.includes(json.code) && Number(headers['retry-after']) > 0;
  if (!isClear) throw new PromiseBroken(`unexpected 503 response: ${json?.code}: ${json?.detail}`);
}
