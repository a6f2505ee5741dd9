// Measures the writes of a workspace with an ordinary property schema, first alone, then while other workspaces write user
// groups under hostile property schemas.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../test/support/database.ts';
import { send } from '../test/support/http.ts';
import { Folder, serve } from '../test/support/process.ts';
import { type HostileSchema, hidden, hostileSchemas } from './hostile-schema-case.ts';
import { QUIET } from './program.ts';
import { DatabaseTokenIssuer } from './token-issuer.ts';

export interface NeighbourOptions {
  kind: DatabaseKind;
  /** Hostile workspaces; each sends one request at a time. */
  writers: number;
  /** Length of each measurement: the quiet one and one per attack. */
  seconds: number;
  /** Names of attacks; all if absent. */
  only?: readonly string[];
  onAttack?: (figures: NeighbourFigures) => void;
}

/** The neighbour's writes during one measurement. */
export interface NeighbourFigures {
  attack: string;
  writes: number;
  /** Responses other than success. */
  errors: number;
  p50Ms: number;
  p99Ms: number;
  /** Responses that the hostile workspaces got, with their numbers. */
  hostile: string;
}

type Call = (method: string, path: string, body: unknown) => Promise<number>;
/** Sends the next requests of one hostile workspace; returns their statuses. */
type Step = (call: Call, round: number) => Promise<number[]>;

interface SchemaAttack {
  name: string;
  step: Step;
}

const QUIET_NAME = 'none';
const WRITE_EVERY_MS = 20;
const WARM_UP_SECONDS = 2;
/** How long an attack runs before it is measured. */
const LEAD_MS = 3_000;
const PAUSE_MS = 20;
const NEIGHBOUR_GROUPS = 50;

const ordinarySchema = {
  type: 'object',
  required: ['plan'],
  properties: {
    plan: { enum: ['silver', 'gold'] },
    seats: { type: 'integer', minimum: 1 },
    contact: { type: 'string', pattern: '^[^@]+@[^@]+$' },
    regions: { type: 'array', items: { type: 'string', maxLength: 20 }, uniqueItems: true },
  },
  additionalProperties: false,
};

const EXPENSIVE = [
  'many patterns of names',
  'unevaluated members of many branches',
  'a pattern for every item',
  'classes of characters',
  'unique items of items',
  'many alternatives',
];

export const schemaAttacks: readonly SchemaAttack[] = [
  ...hostileSchemas.filter(({ name }) => EXPENSIVE.includes(name)).flatMap(attacksWith),
  {
    name: 'a new schema before every write',
    step: async (call, round) => [
      await putSchema(call, renewed(expensive(round), round)),
      await write(call, expensive(round)),
    ],
  },
];

function expensive(round: number): HostileSchema {
  const { length } = EXPENSIVE;
  return hidden(hostileSchemas.find(({ name }) => name === EXPENSIVE[round % length])!);
}

/** As it is, which the service may refuse to store; and hidden, so that it is stored. */
function attacksWith(schema: HostileSchema): SchemaAttack[] {
  return [schema, hidden(schema)].map((sent) => ({
    name: sent.name,
    step: async (call, round) => [
      ...(round === 0 ? await storeSchema(call, sent) : []),
      await write(call, sent),
    ],
  }));
}

/** The same schema with another text. */
function renewed({ schema, ...others }: HostileSchema, round: number): HostileSchema {
  return { ...others, schema: `{"$comment":"${round}",${schema.slice(1)}` };
}

const MAX_ATTEMPTS = 5;

/** Repeats the request while the service has no time for it. */
async function storeSchema(call: Call, schema: HostileSchema): Promise<number[]> {
  const statuses = [await putSchema(call, schema)];
  while (statuses.at(-1) === 503 && statuses.length < MAX_ATTEMPTS)
    statuses.push(await putSchema(call, schema));
  return statuses;
}

function putSchema(call: Call, { schema }: HostileSchema): Promise<number> {
  return call('PUT', '/v1/property-schema', `{"schema":${schema},"mode":"enforce"}`);
}

function write(call: Call, { properties }: HostileSchema): Promise<number> {
  return call('PUT', '/v1/user-groups/hostile', `{"name":"Hostile","properties":${properties}}`);
}

export function attackCount(only?: readonly string[]): number {
  return chosen(only).length;
}

function chosen(only?: readonly string[]): SchemaAttack[] {
  return schemaAttacks.filter(({ name }) => only?.includes(name) ?? true);
}

/** The first figures are those without an attack. */
export async function attackNeighbour(options: NeighbourOptions): Promise<NeighbourFigures[]> {
  const { kind, writers, only, onAttack } = options;
  using folder = new Folder();
  const database = await kind.create();
  const service = await serve(folder, { env: { ...database.env, ...QUIET } });
  try {
    await using issuer = await DatabaseTokenIssuer.open(database);
    const callOf = async (workspace: string): Promise<Call> => {
      const { token } = await issuer.create(workspace, 'Customer', 'admin');
      return async (method, path, body) => (await send(service.url, { method, path, token, body })).status;
    };
    const neighbour = new Neighbour(await callOf('neighbour'));
    const attackers = await Promise.all(
      Array.from({ length: writers }, (_, index) => callOf(`hostile-${index}`)),
    );
    await neighbour.start(WARM_UP_SECONDS);
    const all = [await neighbour.measure(QUIET_NAME, options.seconds)];
    onAttack?.(all[0]!);
    for (const attack of chosen(only)) {
      all.push(await neighbour.measureDuring(attack, attackers, options.seconds));
      onAttack?.(all.at(-1)!);
    }
    return all;
  } finally {
    await service.kill();
    await database.drop();
  }
}

class Neighbour {
  readonly #call: Call;
  #writes = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  async start(warmUpSeconds: number): Promise<void> {
    await this.#call('PUT', '/v1/property-schema', { schema: ordinarySchema, mode: 'enforce' });
    await this.measure('warm-up', warmUpSeconds);
  }

  async measureDuring(
    attack: SchemaAttack,
    attackers: readonly Call[],
    seconds: number,
  ): Promise<NeighbourFigures> {
    const stop = new AbortController();
    const statuses: number[] = [];
    const attacking = Promise.all(attackers.map((call) => repeat(attack.step, call, statuses, stop.signal)));
    await sleep(LEAD_MS);
    const figures = await this.measure(attack.name, seconds);
    stop.abort();
    await attacking;
    return { ...figures, hostile: summary(statuses) };
  }

  /** Writes at fixed instants, so that a slow response does not spare the service the next request. */
  async measure(attack: string, seconds: number): Promise<NeighbourFigures> {
    const writes: Promise<{ status: number; tookMs: number }>[] = [];
    const startedAt = performance.now();
    const count = (seconds * 1_000) / WRITE_EVERY_MS;
    for (let index = 0; index < count; index++) {
      await sleep(Math.max(0, startedAt + index * WRITE_EVERY_MS - performance.now()));
      writes.push(this.#write());
    }
    const answers = await Promise.all(writes);
    const latencies = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
    return {
      attack,
      writes: answers.length,
      errors: answers.filter(({ status }) => status !== 200 && status !== 201).length,
      p50Ms: percentile(latencies, 50),
      p99Ms: percentile(latencies, 99),
      hostile: '',
    };
  }

  async #write(): Promise<{ status: number; tookMs: number }> {
    const seats = ++this.#writes;
    const properties = { plan: 'gold', seats, contact: 'ann@example.com', regions: ['EMEA', 'APAC'] };
    const sentAt = performance.now();
    const id = `neighbour-${seats % NEIGHBOUR_GROUPS}`;
    const status = await this.#call('PUT', `/v1/user-groups/${id}`, { name: 'Neighbour', properties });
    return { status, tookMs: performance.now() - sentAt };
  }
}

async function repeat(step: Step, call: Call, statuses: number[], signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    statuses.push(...(await step(call, round)));
    await sleep(PAUSE_MS);
  }
  await call('DELETE', '/v1/property-schema', undefined);
}

function percentile(sorted: readonly number[], percent: number): number {
  return Math.round(sorted[Math.ceil((sorted.length * percent) / 100) - 1]! * 10) / 10;
}

export function summary(statuses: readonly number[]): string {
  const counts = Map.groupBy(statuses, (status) => status);
  return [...counts].map(([status, { length }]) => `${length} x ${status}`).join(', ');
}

const MAX_SLOWDOWN = 2;

/** The broken promises according to the figures; empty if all are kept. `graceMs` allows for a busy machine. */
export function promisesBrokenToNeighbour(figures: readonly NeighbourFigures[], graceMs = 0): string[] {
  const [quiet, ...attacks] = figures;
  return attacks.flatMap(({ attack, errors, p99Ms }) => {
    const promises: Record<string, boolean> = {
      'no write of another workspace fails': errors === 0,
      'the 99th percentile of the writes of another workspace at most doubles':
        p99Ms <= MAX_SLOWDOWN * quiet!.p99Ms + graceMs,
    };
    return Object.keys(promises)
      .filter((promise) => !promises[promise])
      .map((promise) => `${promise} (${attack})`);
  });
}
