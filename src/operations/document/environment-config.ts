// Keeps the documents of an environment in memory under the version of its configuration. Every request reads
// that version together with its API token, so a kept document is either current or not used.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../domain/api-token.ts';
import { Catalogue } from '../../domain/catalogue/catalogue.ts';
import { type Document, type DocumentKind, SINGLETON_ID } from '../../domain/document.ts';
import type { EventType } from '../../domain/event/event.ts';
import { mappingMode } from '../../domain/mapping-policy/mapping-policy.ts';
import type { PolicyMode } from '../../domain/policy-mode.ts';
import { type PropertySchema, parsePropertySchema } from '../../domain/property-schema/property-schema.ts';
import { type Tenant, tenantName, tenantOf } from '../../domain/tenant.ts';
import { type UserGroup, versionTag } from '../../domain/user-group/user-group.ts';
import {
  parseWebhookEndpoint,
  type WebhookEndpoint,
} from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { TenantActivity } from '../../scheduling/tenant-activity.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { oncePer } from '../machinery/once-per.ts';
import { changedTooOften, MAX_ATTEMPTS } from '../refusals.ts';

/** Parses only once, because a schema may have 64 KiB. */
const parsedSchema = oncePer(parsePropertySchema);

/** Estimated size of a document without its body. */
const DOCUMENT_CHARACTERS = 512;

type DocumentsByKind = Map<DocumentKind, Map<string, Document>>;

export class EnvironmentConfig {
  readonly version: number;
  /** Time of reading (`performance.now()`). */
  readonly readAt = performance.now();
  /** Estimated size in memory. */
  readonly characters: number;
  readonly #byKind: DocumentsByKind;
  #endpoints: WebhookEndpoint[] | null = null;
  #catalogue: Catalogue | null = null;

  /** Reads one page per turn of the event loop. */
  static async read(store: BatchingStore, tenant: Tenant): Promise<EnvironmentConfig> {
    const { version, pages } = await store.read({ kind: 'findConfig', tenant });
    const byKind: DocumentsByKind = new Map();
    let characters = 0;
    for (const page of pages) {
      if (characters > 0) await nextTurn();
      for (const document of page) {
        const ofKind = byKind.get(document.kind) ?? new Map<string, Document>();
        byKind.set(document.kind, ofKind.set(document.id, document));
        characters += document.body.length + DOCUMENT_CHARACTERS;
      }
    }
    return new EnvironmentConfig(version, byKind, characters);
  }

  private constructor(version: number, byKind: DocumentsByKind, characters: number) {
    this.version = version;
    this.characters = characters;
    this.#byKind = byKind;
  }

  static readonly empty = new EnvironmentConfig(0, new Map(), 0);

  get documents(): Document[] {
    return [...this.#byKind.values()].flatMap((ofKind) => [...ofKind.values()]);
  }

  /** Documents of a kind by id, in id order. */
  ofKind(kind: DocumentKind): ReadonlyMap<string, Document> {
    return this.#byKind.get(kind) ?? EMPTY_MAP;
  }

  get catalogue(): Catalogue {
    this.#catalogue ??= new Catalogue(this.documents);
    return this.#catalogue;
  }

  get mappingMode(): PolicyMode {
    return mappingMode(this.ofKind('mapping_policy').get(SINGLETON_ID));
  }

  get propertySchema(): PropertySchema | null {
    const document = this.ofKind('property_schema').get(SINGLETON_ID);
    return document === undefined ? null : parsedSchema(document);
  }

  /** Returns the ids of the webhook endpoints that receive events of this type. */
  endpointsFor(type: EventType): readonly string[] {
    this.#endpoints ??= [...this.ofKind('webhook_endpoint').values()].map(parseWebhookEndpoint);
    return this.#endpoints.filter((endpoint) => endpoint.receives(type)).map(({ id }) => id);
  }
}

const EMPTY_MAP: ReadonlyMap<string, Document> = new Map();
/**
 * Maximum number of environments in memory. A small configuration takes 3 KB. Requests of further
 * environments read their configuration again, which doubles their cost.
 */
const MAX_ENVIRONMENTS = 16_384;
/** Maximum characters of all documents in memory: forty environments whose documents reach every limit. */
const MAX_CHARACTERS = 256 * 1024 * 1024;

/**
 * Rest before an environment's configuration is read again while several tenants are active. Reading a
 * million characters occupies the event loop for 5 ms; with this rest, an environment that keeps changing its
 * configuration takes at most a fifth of the time.
 */
const REST_MS_PER_CHARACTER = 25 / 1_000_000;
const MIN_REST_MS = 1;

interface Loading {
  /** null requests the current version, whichever it is. */
  version: number | null;
  /**
   * Whether the query has not been sent yet. It will then find this version, and any that a request sees
   * before.
   */
  isWaiting: boolean;
  config: Promise<EnvironmentConfig>;
}

/**
 * Returns the caller with the current version, which requests get from the lookup of their API token;
 * commands call this once per batch.
 */
export async function atCurrentConfig(store: BatchingStore, caller: Caller): Promise<Caller> {
  const configVersion = await store.read({ kind: 'findConfigVersion', tenant: tenantOf(caller) });
  return { ...caller, configVersion };
}

interface ConfigContext {
  store: BatchingStore;
  configs: EnvironmentConfigs;
  clock: () => number;
  startedAt: number;
}

/** A request takes at most five seconds. The rest allows for a difference between the clocks of two processes. */
const RECENT_MS = 60_000;

/**
 * Returns what `find` has found, with the configuration for its user group; null if it has found nothing. Both were
 * true at one instant: a data source is reserved for an id, which a rename or a deletion may give to another group.
 */
export async function findInConfig<Found extends { userGroup: UserGroup } | null>(
  context: ConfigContext,
  caller: Caller,
  find: () => Promise<Found>,
): Promise<{ found: NonNullable<Found>; config: EnvironmentConfig } | Extract<Found, null>> {
  let reader = caller;
  let askedAt = context.startedAt;
  let found = await find();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (found === null) return found as Extract<Found, null>;
    const config = await configFor(context, reader, found.userGroup);
    if (config.readAt < askedAt) return { found, config };
    // The configuration may be newer than the group, unless the group is still the same.
    askedAt = performance.now();
    const again = await find();
    if (again !== null && versionTag(again.userGroup) === versionTag(found.userGroup))
      return { found: again, config };
    found = again;
    reader = { ...caller, configVersion: config.version };
  }
  throw changedTooOften();
}

/**
 * Returns a configuration that is not older than a user group that was just read. Only for a group with a recent change
 * is the current version read.
 */
async function configFor(
  { store, configs, clock }: ConfigContext,
  caller: Caller,
  { updatedAt }: UserGroup,
): Promise<EnvironmentConfig> {
  const mayDiffer = updatedAt > clock() - RECENT_MS && caller.configVersion !== 0;
  return configs.of(store, mayDiffer ? await atCurrentConfig(store, caller) : caller);
}

/**
 * Yields the caller for each attempt at what a change of the configuration makes fail. Attempts after the first see the
 * configuration that made the previous one fail.
 */
export function* callerOfAttempts(caller: Caller): Generator<Caller> {
  yield caller;
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) yield { ...caller, configVersion: null };
}

export class EnvironmentConfigs {
  /**
   * Configurations in the order in which they were read; ordering them by last use would slow every request
   * down.
   */
  readonly #kept = new Map<string, EnvironmentConfig>();
  #characters = 0;
  readonly #loading = new Map<string, Loading>();
  readonly #activity: TenantActivity;

  constructor(activity = new TenantActivity()) {
    this.#activity = activity;
  }

  /**
   * Returns the configuration that the caller's request must see, or a newer one; a promise only if it has to
   * be read.
   */
  of(store: BatchingStore, caller: Caller): EnvironmentConfig | Promise<EnvironmentConfig> {
    if (caller.configVersion === 0) return EnvironmentConfig.empty;
    const name = tenantName(caller);
    const kept = this.#kept.get(name);
    return kept?.version === caller.configVersion ? kept : store.inTime(this.#loadOnce(store, caller, name));
  }

  /**
   * Shares one query among requests that need the same version: after a change in a large environment there
   * may be hundreds. The query does not end with the request that sends it.
   */
  #loadOnce(store: BatchingStore, caller: Caller, name: string): Promise<EnvironmentConfig> {
    const { configVersion: version } = caller;
    const before = this.#loading.get(name);
    const isSame = version !== null && before?.version === version;
    if (before?.isWaiting || isSame) return before.config;
    const load = async (): Promise<EnvironmentConfig> => {
      await before?.config.catch(() => {});
      if (this.#activity.isShared) await this.#rest(name);
      loading.isWaiting = false;
      return this.#load(store.until(Number.POSITIVE_INFINITY), caller, name);
    };
    const loading: Loading = { version, isWaiting: true, config: load() };
    this.#loading.set(name, loading);
    return loading.config.finally(() => {
      if (this.#loading.get(name) === loading) this.#loading.delete(name);
    });
  }

  async #rest(name: string): Promise<void> {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    const restMs = kept.readAt + kept.characters * REST_MS_PER_CHARACTER - performance.now();
    if (restMs >= MIN_REST_MS) await sleep(restMs);
  }

  async #load(store: BatchingStore, caller: Caller, name: string): Promise<EnvironmentConfig> {
    const config = await EnvironmentConfig.read(store, tenantOf(caller));
    this.#forget(name);
    this.#kept.set(name, config);
    this.#characters += config.characters;
    for (const oldest of this.#kept.keys()) {
      const isWithinLimits = this.#kept.size <= MAX_ENVIRONMENTS && this.#characters <= MAX_CHARACTERS;
      // A configuration that exceeds the limit by itself is kept alone.
      if (isWithinLimits || oldest === name) break;
      this.#forget(oldest);
    }
    return config;
  }

  #forget(name: string): void {
    this.#characters -= this.#kept.get(name)?.characters ?? 0;
    this.#kept.delete(name);
  }
}
