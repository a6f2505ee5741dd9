// Computes the difference between the stored and a sent configuration.

import type { Caller } from '../../domain/api-token.ts';
import {
  type ConfigBody,
  configEntry,
  configSection,
  pathInConfig,
  type SectionName,
  sectionNames,
} from '../../domain/config/config.ts';
import {
  type ConfigChange,
  type ConfigPlan,
  type KeptEntry,
  planBytes,
} from '../../domain/config/config-plan.ts';
import { type Document, type DocumentKey, documentTotal, exceededTotal } from '../../domain/document.ts';
import type { EventType } from '../../domain/event/event.ts';
import { type JsonText, jsonPointer } from '../../domain/json/strict-json.ts';
import { refuseFields } from '../../domain/request-body.ts';
import { Problem, type Violation } from '../../problem.ts';
import { refuseLargeCatalogue } from '../catalogue/catalogue.ts';
import { documentKey, limitReached } from '../document/document.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';
import { type ConfigContext, type ConfigTarget, type Prepared, prepareEntry } from './prepare.ts';
import { ENTRY_BYTES, sectionDocuments } from './read.ts';

/** Maximum number of documents that one HTTP call changes. */
export const MAX_CONFIG_CHANGES = 1_000;
/**
 * Maximum number of webhook deliveries that one HTTP call causes: each takes as long as a third of a change, and all
 * are in one transaction, during which other writes wait.
 */
export const MAX_CONFIG_DELIVERIES = 5_000;
/** Remedy for a configuration that is too large for a call. */
export const SEND_LESS =
  'Send fewer entries at a time, or run user-group-service config apply on the database.';

export interface ConfigOptions {
  /** Whether to delete entries of a sent section that were not sent. */
  prune: boolean;
  /** Whether to return the plan without applying it. */
  dryRun: boolean;
  /** No limit if absent. */
  maxChanges?: number;
  /** No limit if absent. */
  maxDeliveries?: number;
  /** Maximum size of the entries and ids of the plan; no limit if absent. */
  maxBytes?: number;
}

export interface Draft {
  change: ConfigChange;
  key: DocumentKey;
  stored: Document | null;
  /** null deletes the document. */
  prepared: Prepared | null;
}

interface DraftedPlan {
  plan: ConfigPlan;
  drafts: readonly Draft[];
  config: EnvironmentConfig;
}

/** Returns the plan, its changes, and the configuration that it was made for. */
export async function draftConfig(
  context: ConfigContext,
  caller: Caller,
  { sections, configVersion }: ConfigBody,
  {
    prune,
    maxChanges = Infinity,
    maxDeliveries = Infinity,
    maxBytes = Infinity,
  }: Omit<ConfigOptions, 'dryRun'>,
): Promise<DraftedPlan> {
  const config = await context.configs.of(context.store, caller);
  if (configVersion !== null && configVersion !== config.version) throw configChanged();
  const errors: Violation[] = [];
  const drafts: Draft[] = [];
  let bytes = 0;
  const count = (entry: ConfigChange | KeptEntry): void => {
    bytes += planBytes(entry);
    if (bytes > maxBytes)
      throw sendLess(
        `The entries that change, before and after, and the ids of those that are kept have more than ${maxBytes} bytes.`,
      );
  };
  for (const { section, id, entry, stored } of targets(config, sections, prune)) {
    await context.cpu.turn(ENTRY_BYTES + (entry ?? stored?.body ?? '').length);
    const key = documentKey(caller, configSection(section).definition, id);
    try {
      const draft = await draftOfEntry(config, section, { context, caller, key, stored }, entry);
      if (draft === null) continue;
      drafts.push(draft);
      count(draft.change);
    } catch (error) {
      if (!(error instanceof Problem) || error.errors.length === 0) throw error;
      errors.push(...inWholeConfig(error.errors, section, id));
    }
  }
  // The rest, which reads every stored document, takes 5 ms for 10 000 of them.
  await context.cpu.turn(config.characters);
  const kept = prune ? [] : keptEntries(config, sections);
  for (const entry of kept) count(entry);
  refuseFields(errors);
  if (drafts.length > maxChanges)
    throw sendLess(
      `The configuration differs in ${drafts.length} entries, and one call changes at most ${maxChanges}.`,
    );
  const deliveries = context.eventRetentionDays === 0 ? 0 : countDeliveries(config, drafts);
  if (deliveries > maxDeliveries)
    throw sendLess(
      `The changes cause ${deliveries} webhook deliveries, one for each endpoint that receives an event, and one call causes at most ${maxDeliveries}.`,
    );
  refuseLimits(config, drafts);
  return {
    config,
    drafts,
    plan: { version: config.version, changes: drafts.map(({ change }) => change), kept },
  };
}

export function eventTypeOf({ key, change }: Draft): EventType {
  return `${key.kind}.${change.action}d` as EventType;
}

/** Counts the webhook deliveries of the events of all drafts. */
function countDeliveries(config: EnvironmentConfig, drafts: readonly Draft[]): number {
  const byType = Map.groupBy(drafts, eventTypeOf);
  return [...byType].reduce((sum, [type, { length }]) => sum + length * config.endpointsFor(type).length, 0);
}

/** Yields the sent entries with their documents and, to prune, the documents that were not sent. */
function* targets(config: EnvironmentConfig, sections: ConfigBody['sections'], prune: boolean) {
  for (const [section, entries] of sections) {
    const documents = sectionDocuments(config, section);
    for (const [id, entry] of entries) yield { section, id, entry, stored: documents.get(id) ?? null };
    if (!prune) continue;
    for (const [id, stored] of documents) if (!entries.has(id)) yield { section, id, entry: null, stored };
  }
}

function keptEntries(config: EnvironmentConfig, sections: ConfigBody['sections']): KeptEntry[] {
  return [...sections].flatMap(([section, entries]) =>
    [...sectionDocuments(config, section).keys()]
      .filter((id) => !entries.has(id))
      .map((id) => ({ section, id })),
  );
}

/** Without an entry, the document is deleted. Returns null if nothing changes. */
async function draftOfEntry(
  { catalogue }: EnvironmentConfig,
  section: SectionName,
  target: ConfigTarget,
  entry: JsonText | null,
): Promise<Draft | null> {
  const { key, stored } = target;
  const prepared = entry === null ? null : await prepareEntry(section, target, entry);
  const before =
    stored === null
      ? (configSection(section).definition.default?.body ?? null)
      : configEntry(section, stored.body, catalogue);
  const after = prepared === null ? null : configEntry(section, prepared.body, catalogue);
  const secret = prepared?.secret;
  const replacesSecret = stored !== null && secret !== undefined && (secret ?? stored.secret) !== null;
  if (before === after && !replacesSecret) return null;
  const action = stored === null ? 'create' : prepared === null ? 'delete' : 'update';
  return { change: { section, id: key.id, action, before, after, replacesSecret }, key, stored, prepared };
}

/**
 * Refuses a configuration that exceeds a limit, unless the exceeding part does not grow. Throws
 * `limit_reached`.
 */
export function refuseLimits(
  config: EnvironmentConfig,
  drafts: readonly Pick<Draft, 'key' | 'stored' | 'prepared'>[],
): void {
  const changed = new Set(drafts.flatMap(({ stored }) => stored ?? []));
  const after: Pick<Document, 'kind' | 'id' | 'body'>[] = [
    ...config.documents.filter((document) => !changed.has(document)),
    ...drafts.flatMap(({ key, prepared }) => (prepared === null ? [] : { ...key, body: prepared.body })),
  ];
  for (const name of sectionNames) {
    const { definition } = configSection(name);
    const { kind, limit } = definition;
    const before = documentTotal([...sectionDocuments(config, name).values()]);
    const exceeded = exceededTotal(before, documentTotal(after.filter((each) => each.kind === kind)), limit);
    if (exceeded !== null) throw limitReached(definition, exceeded);
  }
  refuseLargeCatalogue(config, after);
}

/** Returns the violations of an entry with pointers into the whole configuration. */
function inWholeConfig(violations: readonly Violation[], section: SectionName, id: string): Violation[] {
  const place = jsonPointer(pathInConfig(section, id));
  return violations.map(({ pointer, detail }) => ({ pointer: place + pointer, detail }));
}

export function configChanged(): Problem {
  return new Problem(
    'version_mismatch',
    'The configuration has changed since it was read. Read or plan it again before you retry.',
  );
}

/** `reason`: which limit of a call is exceeded. */
function sendLess(reason: string): Problem {
  return new Problem('limit_reached', `${reason} ${SEND_LESS}`);
}
