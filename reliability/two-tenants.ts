// Attacks a service with one tenant while another one uses it, which must hardly notice. Quiet and attacked
// phases alternate, because the speed of the machine changes.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../bench/median.ts';
import type { DatabaseKind } from '../test/support/database.ts';
import { runSql } from '../test/support/sql.ts';
import type { CallName, KnownGroup } from './support/call.ts';
import { type CallLoad, percentiles } from './support/call-load.ts';
import { type Monitored, type TurnFigures, whileMonitored } from './support/event-loop.ts';
import { peakResidentMb } from './support/resident-memory.ts';
import type { AttackerCommand, AttackerMessage } from './two-tenants/attacker.ts';
import { hostileCases } from './two-tenants/case/all.ts';
import type { HostileCase } from './two-tenants/hostile-case.ts';
import { Tenant } from './two-tenants/tenant.ts';
import type { Seen, VictimMessage } from './two-tenants/victim.ts';

interface TwoTenantsOptions {
  kind: DatabaseKind;
  /** The duration of each phase. */
  seconds: number;
  rounds: number;
  /** Names of cases, or their beginnings; all if absent. */
  only?: readonly string[] | undefined;
  /** Whether the attacker has a service and a database of its own, on the same machine. */
  isApart?: boolean | undefined;
  onCase?: (figures: CaseFigures) => void;
}

export interface CaseFigures extends TurnFigures {
  case: string;
  /** Medians of the rounds. */
  quietP99Ms: number;
  attackedP99Ms: number;
  /** Ratio of the second to the first, each at least `FLOOR_MS`; median of the rounds. */
  factor: number;
  /** Call with the highest 99th percentile under attack. */
  slowestCall: string;
  /** Errors of the victim, with their numbers; empty if there were none. */
  errors: string;
  quietWebhookP99Ms: number;
  attackedWebhookP99Ms: number;
  /** Peak memory of the service under attack. */
  memoryMb: number;
  /** Growth of the database during the attacks. */
  storedMb: number;
  /** Responses to the attacker, with their numbers. */
  attack: string;
}

export function casesOf(only?: readonly string[]): readonly HostileCase[] {
  return hostileCases.filter(({ name }) => only?.some((start) => name.startsWith(start)) ?? true);
}

export async function hurtOneOfTwoTenants(options: TwoTenantsOptions): Promise<CaseFigures[]> {
  await fillCompileCache(options.kind);
  const figures: CaseFigures[] = [];
  const { kind, isApart = false } = options;
  for (const hostileCase of casesOf(options.only)) {
    const run = (own: Monitored, attacked: Monitored) => attack(own, attacked, hostileCase, options);
    figures.push(
      await whileMonitored(
        kind,
        (own) => (isApart ? whileMonitored(kind, (other) => run(own, other), SETTINGS) : run(own, own)),
        SETTINGS,
      ),
    );
    options.onCase?.(figures.at(-1)!);
  }
  return figures;
}

/**
 * Fills the compile cache, which a process writes when it exits, while the services of the cases are killed.
 * Without the cache, every thread of a clone loads the type stripper, which takes 10 MB and 50 ms and which
 * an installed package does not need.
 */
async function fillCompileCache(kind: DatabaseKind): Promise<void> {
  await whileMonitored(
    kind,
    async ({ service, issuer }) => {
      await using _ = await Victim.start(service.url, await issuer.create('victim', 'Customer', 'admin'));
      for (let time = 0; time < REQUESTS_OF_PAGES; time++)
        for (const path of ['/openapi.json', '/docs', '/errors', '/console/sign-in'])
          await service.send({ path, token: null });
      service.signal('SIGTERM');
      await service.exit();
    },
    SETTINGS,
  );
}

/**
 * Number of requests per page, enough to reach every thread: otherwise, the cache of a thread other than the
 * main one may not be written.
 */
const REQUESTS_OF_PAGES = 10;

/** Lets both tenants receive webhooks on this machine. */
const SETTINGS = { UGS_WEBHOOK_ALLOW_PRIVATE: 'on' };
const CALLS_PER_SECOND = 80;
const MAX_CONNECTIONS = 16;
const MIX: readonly CallName[] = [
  ...['resolve', 'get', 'update', 'create', 'resolve', 'read', 'rotate', 'get'],
  ...['resolve', 'large update', 'read', 'create'],
] as CallName[];
const GROUPS = 50;
const WARM_UP_SECONDS = 2;
/** Time from the end of an attack until the next quiet phase: longer than a request may wait. */
const SETTLE_MS = 1_500;

async function attack(
  { service, loop, issuer, database }: Monitored,
  attacked: Monitored,
  { name, otherCalls }: HostileCase,
  { seconds, rounds }: TwoTenantsOptions,
): Promise<CaseFigures> {
  await using victim = await Victim.start(service.url, await issuer.create('victim', 'Customer', 'admin'));
  await using attacker = new Attacker();
  const { token } = await attacked.issuer.create('attacker', 'Customer', 'admin');
  await attacker.send({ prepare: name, url: attacked.service.url, apiToken: token });
  await victim.measure(WARM_UP_SECONDS);
  const storedBefore = await storedMb(database);
  const replies: string[] = [];
  const quiet: Seen[] = [];
  const [[seenUnderAttack, memoryMb], turns] = await loop.turnsDuring(() =>
    peakResidentMb(service.id, attackInRounds()),
  );

  async function attackInRounds(): Promise<Seen[]> {
    const seen: Seen[] = [];
    while (seen.length < rounds) {
      quiet.push(await victim.measure(seconds, otherCalls));
      await attacker.send('start');
      seen.push(await victim.measure(seconds, otherCalls));
      const stopped = await attacker.send('stop');
      if (typeof stopped === 'object') replies.push(countsOf(stopped.replies));
      await sleep(SETTLE_MS);
    }
    return seen;
  }

  const quietP99s = quiet.map((seen) => p99Of(latencies(seen)));
  const attackedP99s = seenUnderAttack.map((seen) => p99Of(latencies(seen)));
  const factors = quietP99s.map(
    (quietP99, round) => Math.max(FLOOR_MS, attackedP99s[round]!) / Math.max(FLOOR_MS, quietP99),
  );
  return {
    case: name,
    quietP99Ms: rounded(median(quietP99s)),
    attackedP99Ms: rounded(median(attackedP99s)),
    factor: rounded(median(factors)),
    slowestCall: slowestCallOf(seenUnderAttack),
    errors: countsOf(...[...quiet, ...seenUnderAttack].map(({ errors }) => errors)),
    quietWebhookP99Ms: rounded(median(quiet.map(({ webhookMs }) => p99Of(webhookMs)))),
    attackedWebhookP99Ms: rounded(median(seenUnderAttack.map(({ webhookMs }) => p99Of(webhookMs)))),
    memoryMb: Math.round(memoryMb),
    storedMb: rounded((await storedMb(database)) - storedBefore),
    ...turns,
    attack: replies.at(-1) ?? '',
  };
}

function latencies({ tookMs }: Seen, wanted?: CallName): number[] {
  return tookMs.filter(([call]) => wanted === undefined || call === wanted).map(([, ms]) => ms);
}

function p99Of(values: readonly number[]): number {
  return percentiles(values)(0.99);
}

function rounded(value: number): number {
  return Math.round(10 * value) / 10;
}

/** Returns the call with the highest 99th percentile. */
function slowestCallOf(seen: readonly Seen[]): string {
  const called = seen.flatMap(({ tookMs }) => tookMs.map(([call]) => call));
  const p99s = [...new Set(called)].map((call) => ({
    call,
    p99Ms: rounded(median(seen.map((each) => p99Of(latencies(each, call))))),
  }));
  const { call, p99Ms } = p99s.toSorted((a, b) => b.p99Ms - a.p99Ms)[0]!;
  return `${call}: ${p99Ms} ms`;
}

/** Adds up the counts of equal names. */
function countsOf(...counts: readonly Readonly<Record<string, number>>[]): string {
  const total = new Map<string, number>();
  for (const each of counts)
    for (const [name, count] of Object.entries(each)) total.set(name, (total.get(name) ?? 0) + count);
  return [...total].map(([name, count]) => `${count} x ${name}`).join(', ');
}

class Victim implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #load: Omit<CallLoad, 'prefix' | 'seconds'>;
  #phases = 0;

  /**
   * Starts the victim with a catalogue, a property schema and a webhook endpoint of its own, as customers
   * have.
   */
  static async start(url: string, { token: apiToken }: { token: string }): Promise<Victim> {
    const victim = fork(new URL('./two-tenants/victim.ts', import.meta.url));
    const { receiverUrl } = await messageOf<Extract<VictimMessage, { receiverUrl: string }>>(victim);
    const tenant = new Tenant({ url, apiToken });
    const groups = await tenant.storeGroups(GROUPS, () => ({ properties: { plan: 'gold' } }));
    const rotated = await tenant.storeGroups(GROUPS, () => ({}), 'rotated');
    await tenant.call('PUT', '/v1/data-sources/shared', { schema_id: 'sales', name: 'Sales' });
    await tenant.call('PUT', '/v1/schemas/sales', { name: 'Sales', default_data_source: 'shared' });
    await tenant.call('PUT', '/v1/property-schema', { schema: SCHEMA, mode: 'enforce' });
    await tenant.call('PUT', '/v1/webhook-endpoints/rig', {
      url: receiverUrl,
      event_types: ['user_group.created'],
    });
    return new Victim(
      victim,
      url,
      apiToken,
      await tenant.signIn(),
      groups.map((group, index) => ({ ...group, rotatedId: rotated[index]!.id })),
    );
  }

  private constructor(
    victim: ChildProcess,
    url: string,
    apiToken: string,
    cookie: string,
    groups: readonly KnownGroup[],
  ) {
    this.#process = victim;
    const offer = { perSecond: CALLS_PER_SECOND };
    this.#load = {
      url,
      apiToken,
      cookie,
      groups,
      maxConnections: MAX_CONNECTIONS,
      warmUpSeconds: 0,
      offer,
    };
  }

  /** `otherCalls` are sent besides those of the mix. */
  async measure(seconds: number, otherCalls: readonly CallName[] = []): Promise<Seen> {
    const mix = [...MIX, ...otherCalls];
    const load: CallLoad = { ...this.#load, mix, prefix: `phase-${++this.#phases}-`, seconds };
    // The load contains tokens, and other users can read command lines.
    this.#process.send(load);
    const { seen } = await messageOf<Extract<VictimMessage, { seen: Seen }>>(this.#process);
    return seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#process);
  }
}

const SCHEMA = {
  type: 'object',
  properties: { plan: { enum: ['gold', 'silver'] }, value: { type: ['integer', 'string'] } },
};

class Attacker implements AsyncDisposable {
  readonly #process = fork(new URL('./two-tenants/attacker.ts', import.meta.url));

  send(command: AttackerCommand): Promise<AttackerMessage> {
    this.#process.send(command);
    return messageOf(this.#process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#process);
  }
}

/** Returns the next message of the process. Throws if it exits. */
async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const done = new AbortController();
  const exited = once(child, 'exit', done).then(() => {
    throw new Error('a process of the rig exited');
  });
  exited.catch(() => {});
  try {
    const [message] = await Promise.race([once(child, 'message', done), exited]);
    return message as Message;
  } finally {
    done.abort();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Returns the size of the database in megabytes, without the log. */
async function storedMb(database: Monitored['database']): Promise<number> {
  const sql = database.url.startsWith('sqlite:')
    ? 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size'
    : 'select pg_database_size(current_database()) as bytes';
  const [row] = await runSql(database, sql);
  return Number(row!.bytes) / 1_000_000;
}

/**
 * Minimum to which a 99th percentile is raised. Quiet phases of the same service differ by a few
 * milliseconds, because of garbage collection and syncs of the disk.
 */
const FLOOR_MS = 10;

/** The limits that the service promises. */
interface TenantLimits {
  factor: number;
  memoryMb: number;
}

const LIMITS: TenantLimits = { factor: 2, memoryMb: 400 };

/** The broken promises according to the figures; empty if all are kept. */
export function brokenPromises(figures: readonly CaseFigures[], limits = LIMITS): string[] {
  return figures.flatMap(({ case: name, factor, errors, memoryMb }) => {
    const promises: Record<string, boolean> = {
      [`the 99th percentile of the other tenant is at most ${limits.factor} times the quiet one`]:
        factor <= limits.factor,
      'every call of the other tenant succeeds': errors === '',
      [`the service uses at most ${limits.memoryMb} MB`]: memoryMb <= limits.memoryMb,
    };
    return Object.keys(promises)
      .filter((promise) => !promises[promise])
      .map((promise) => `${promise} (${name})`);
  });
}
