// Operations over HTTP as a caller sends them, several on one group at a time; each answer is journalled before it
// counts, and held to the ledger at once.

import { setTimeout as sleep } from 'node:timers/promises';
import { send, type TestAnswer, type TestRequest } from '../test/http.ts';
import type { Entry } from './journal.ts';
import { type Ledger, PromiseBroken } from './ledger.ts';
import type { Answer, Operation, Verdict } from './model.ts';

/** No answer may take longer, whatever has broken under the service, and however little it gets of the machine. */
const ANSWER_LIMIT_MS = 60_000;

const MOST_TIMES = 20;
const PAUSE_MS = 200;

export interface ConversationOptions {
  ledger: Ledger;
  /** Makes an entry safe. */
  remember: (entry: Entry) => Promise<void>;
  apiToken: string;
  /** Where the next operation goes; there may be several processes. */
  url: () => string;
}

/** What callers and the service say to each other, over all lives of the service. */
export class Conversation {
  readonly ledger: Ledger;
  readonly #options: ConversationOptions;
  #rounds = 0;
  /** Answers that the database is not available: the operation may have happened or not. */
  refused = 0;

  constructor(options: ConversationOptions) {
    this.ledger = options.ledger;
    this.#options = options;
  }

  /** Sends the operations at one time; says how many were answered. Throws `PromiseBroken`. */
  async round(id: string, operations: readonly Operation[]): Promise<number> {
    const round = this.#rounds++;
    const told = await Promise.all(
      operations.map(async (operation): Promise<Entry> => {
        const entry = { round, id, operation, ...(await this.#ask(id, operation)) };
        await this.#options.remember(entry);
        return entry;
      }),
    );
    this.ledger.record({ id, told });
    return told.filter(({ answer }) => answer !== null).length;
  }

  /** Sends the operation until it is answered: a busy machine refuses what it cannot do in time. Throws `PromiseBroken`. */
  async insist(id: string, operation: Operation): Promise<void> {
    for (let times = 1; (await this.round(id, [operation])) === 0; times++) {
      if (times === MOST_TIMES) throw new PromiseBroken(`${id}: no answer to ${operation.kind}`);
      await sleep(PAUSE_MS);
    }
  }

  async #ask(id: string, operation: Operation): Promise<Pick<Entry, 'answer' | 'requestId'>> {
    const { apiToken, url } = this.#options;
    const request = { ...requestOf(id, operation), token: apiToken };
    const answer = await within(
      ANSWER_LIMIT_MS,
      send(url(), request).catch(() => null),
    );
    if (answer === null) return { answer: null, requestId: null };
    const requestId = String(answer.headers['x-request-id']);
    if (answer.status === 503) {
      assertClearRefusal(answer);
      this.refused++;
      return { answer: null, requestId };
    }
    return { answer: answerOf(operation, answer), requestId };
  }
}

async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const late = sleep(limitMs, null, { signal: timer.signal }).then(() => {
    throw new PromiseBroken(`no answer within ${limitMs} ms`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
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
      // Without a name it creates nothing, and properties are shown where the request has the key.
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

/** `id` is null where it stands in the path. */
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

function answerOf(operation: Operation, { status, headers, json }: TestAnswer): Answer {
  if (status === 204 && operation.kind === 'delete') return { verdict: 'deleted', facts: {} };
  if (status === 404 && ABSENT_CODES.includes(json.code)) return { verdict: 'absent', facts: {} };
  if (status !== 200 || json.success !== 1)
    throw new PromiseBroken(`${operation.kind} was answered with ${status} ${json?.code}: ${json?.detail}`);
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

function assertClearRefusal({ headers, json }: TestAnswer): void {
  const isClear =
    json?.success === 0 && json.code === 'database_unavailable' && Number(headers['retry-after']) > 0;
  if (!isClear) throw new PromiseBroken(`a 503 is not clear: ${json?.code}: ${json?.detail}`);
}
