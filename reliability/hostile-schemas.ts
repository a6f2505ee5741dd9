// Stores the most expensive property schemas, and user groups whose properties are expensive to check with
// them, and measures how long the event loop is blocked.

import type { DatabaseKind } from '../test/support/database.ts';
import { send } from '../test/support/http.ts';
import { type HostileSchema, hostileSchemas } from './hostile-schemas/case.ts';
import { type LoopFigures, type Monitored, ONE_THREAD, whileMonitored } from './support/event-loop.ts';

interface HostileSchemasOptions {
  kind: DatabaseKind;
  /** Number of changes of user groups sent at the same time for each schema. */
  changes: number;
  /** Names of schemas; all if absent. */
  only?: readonly string[];
  onSchema?: (figures: SchemaFigures) => void;
}

interface SchemaFigures extends LoopFigures {
  schema: string;
  /** Status of the response to the schema. */
  status: number;
  /** Statuses of the changes, with their numbers. */
  changes: string;
  /** Responses other than success, 400, 422 or `overloaded`. */
  wrong: number;
  lastAnswerMs: number;
}

export function schemaCount(only?: readonly string[]): number {
  return chosen(only).length;
}

function chosen(only?: readonly string[]): HostileSchema[] {
  return hostileSchemas.filter(({ name }) => only?.includes(name) ?? true);
}

export function sendHostileSchemas(options: HostileSchemasOptions): Promise<SchemaFigures[]> {
  const sendAll = async (monitored: Monitored): Promise<SchemaFigures[]> => {
    const attack = new Attack(monitored);
    await attack.warmUp(options.changes);
    const figures: SchemaFigures[] = [];
    for (const schema of chosen(options.only)) {
      figures.push(await attack.run(schema, options.changes));
      options.onSchema?.(figures.at(-1)!);
    }
    return figures;
  };
  return whileMonitored(options.kind, sendAll, ONE_THREAD);
}

/** Attempts to store a schema; each waits for 1.5 seconds at most. */
const ATTEMPTS = 10;

interface Answer {
  status: number;
  isRight: boolean;
  tookMs: number;
}

class Attack {
  readonly #monitored: Monitored;

  constructor(monitored: Monitored) {
    this.#monitored = monitored;
  }

  /** Lets V8 compile the code of the service, and starts the thread that checks. */
  async warmUp(changes: number): Promise<void> {
    const text = JSON.stringify('x'.repeat(60_000));
    const schema = `{"properties":{"a":{"const":${text}}}}`;
    for (let round = 0; round < 3; round++)
      await this.run({ name: 'warm-up', schema, properties: `{"a":${text}}` }, changes);
  }

  async run({ name, schema, properties }: HostileSchema, changes: number): Promise<SchemaFigures> {
    const [[stored, answers], loopFigures] = await this.#monitored.loop.during(() =>
      this.#store(schema, properties, changes),
    );
    await this.#send('DELETE', '/v1/property-schema');
    const all = [stored, ...answers];
    return {
      schema: name,
      status: stored.status,
      changes: summary(answers),
      wrong: all.filter(({ isRight }) => !isRight).length,
      lastAnswerMs: Math.round(Math.max(...all.map(({ tookMs }) => tookMs))),
      ...loopFigures,
    };
  }

  async #store(schema: string, properties: string, changes: number): Promise<[Answer, Answer[]]> {
    const body = `{"schema":${schema},"mode":"enforce"}`;
    // Checks with the previous schema may still run.
    let stored = await this.#send('PUT', '/v1/property-schema', body);
    for (let attempt = 1; stored.status === 503 && attempt < ATTEMPTS; attempt++)
      stored = await this.#send('PUT', '/v1/property-schema', body);
    const answers = await Promise.all(
      Array.from({ length: changes }, (_, index) =>
        this.#send(
          'PUT',
          `/v1/user-groups/hostile-${index}`,
          `{"name":"Hostile","properties":${properties}}`,
        ),
      ),
    );
    return [stored, answers];
  }

  async #send(method: string, path: string, body?: string): Promise<Answer> {
    const sentAt = performance.now();
    const { service, token } = this.#monitored;
    const { status, json } = await send(service.url, { method, path, token, body });
    const isRight = [200, 201, 400, 422].includes(status) || json?.code === 'overloaded';
    return { status, isRight, tookMs: performance.now() - sentAt };
  }
}

function summary(answers: readonly Answer[]): string {
  const counts = Map.groupBy(answers, ({ status }) => status);
  return [...counts].map(([status, { length }]) => `${length} x ${status}`).join(', ');
}

/** The limits that the service promises. */
interface SchemaLimits {
  turnCpuMs: number;
  answerMs: number;
}

const LIMITS: SchemaLimits = { turnCpuMs: 20, answerMs: 5_000 };

/** The broken promises according to the figures; empty if all are kept. */
export function brokenPromises(figures: readonly SchemaFigures[], limits = LIMITS): string[] {
  return figures.flatMap(({ schema, status, wrong, longestTurnCpuMs, lastAnswerMs }) => {
    const promises: Record<string, boolean> = {
      'the schema is stored or rejected': status !== 503,
      'every schema and change is accepted, or rejected with a reason': wrong === 0,
      [`no event loop iteration uses more than ${limits.turnCpuMs} ms of CPU time`]:
        longestTurnCpuMs <= limits.turnCpuMs,
      [`every response arrives within ${limits.answerMs} ms`]: lastAnswerMs <= limits.answerMs,
    };
    return Object.keys(promises)
      .filter((promise) => !promises[promise])
      .map((promise) => `${promise} (${schema})`);
  });
}
