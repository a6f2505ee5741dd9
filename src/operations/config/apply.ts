import type { Caller } from '../../domain/api-token.ts';
import type { ConfigBody } from '../../domain/config/config.ts';
import type { ConfigPlan } from '../../domain/config/config-plan.ts';
import { type DocumentKey, nextVersion } from '../../domain/document.ts';
import { tenantOf } from '../../domain/tenant.ts';
import type { DocumentChange } from '../../store/port.ts';
import { withoutTarget } from '../document/document.ts';
import { callerOfAttempts, type EnvironmentConfig } from '../document/environment-config.ts';
import { newEvent } from '../event/event.ts';
import { leaseId } from '../machinery/id-lease.ts';
import { changedTooOften } from '../refusals.ts';
import { newKeySet } from '../signing-key/key-set.ts';
import {
  endpointKey,
  forgetEndpoint,
  forgetFailures,
  prepareDeliveries,
  unlessUnavailable,
} from '../webhook-endpoint/webhook-endpoint.ts';
import { type ConfigOptions, configChanged, type Draft, draftConfig, eventTypeOf } from './plan.ts';
import type { ConfigContext } from './prepare.ts';

/**
 * Makes the stored configuration equal to the sent one, in one transaction. Sections that are not sent stay
 * unchanged. Throws `invalid_request` with the place of each error, `limit_reached`, and `version_mismatch`
 * if the configuration no longer has the sent version.
 */
export async function applyConfig(
  context: ConfigContext,
  caller: Caller,
  body: ConfigBody,
  options: ConfigOptions,
): Promise<ConfigPlan> {
  for (const reader of callerOfAttempts(caller)) {
    const { plan, drafts, config } = await draftConfig(context, reader, body, options);
    if (options.dryRun || drafts.length === 0) return plan;
    await prepareEndpoints(context, drafts);
    const { version: configVersion } = config;
    const changes = await documentChanges(context, { ...caller, configVersion }, config, drafts);
    const tenant = tenantOf(caller);
    const version = await context.store.write({
      kind: 'changeConfig',
      tenant,
      version: configVersion,
      changes,
    });
    if (version !== 'version_mismatch') {
      await updateDeliveries(context, changes);
      return { ...plan, version };
    }
    if (body.configVersion !== null) throw configChanged();
    // Another call changed the configuration between the read and the write.
  }
  throw changedTooOften('configuration');
}

async function documentChanges(
  context: ConfigContext,
  caller: Caller,
  config: EnvironmentConfig,
  drafts: readonly Draft[],
): Promise<DocumentChange[]> {
  const changes = await Promise.all(drafts.map((draft) => documentChange(context, caller, draft)));
  const needsKeys = changes.some(({ after }) => after?.kind === 'integration' && after.secret === null);
  const hasKeys = config.ofKind('key_set').size > 0;
  return needsKeys && !hasKeys ? [await newKeySet(context, caller), ...changes] : changes;
}

async function documentChange(context: ConfigContext, caller: Caller, draft: Draft): Promise<DocumentChange> {
  const { key, stored, prepared } = draft;
  const now = context.clock();
  const event = await newEvent(context, caller, eventTypeOf(draft), key.id);
  if (prepared === null) return { before: stored, after: null, event: withoutTarget(event) };
  const body = prepared.numbered?.(await leaseId(context.store, 'data_source_id')) ?? prepared.body;
  const after = nextVersion(key, stored, { body, secret: prepared.secret, now });
  return { before: stored, after, event };
}

/** Prepares new webhook endpoints, as the call for a single endpoint does. */
async function prepareEndpoints(context: ConfigContext, drafts: readonly Draft[]): Promise<void> {
  const created = drafts.filter(({ key, stored }) => isEndpoint(key) && stored === null);
  await Promise.all(created.map(({ key }) => prepareDeliveries(context, endpointKey(key, key.id))));
}

/** Follows up on changed webhook endpoints, as the calls for a single endpoint do. */
async function updateDeliveries(context: ConfigContext, changes: readonly DocumentChange[]): Promise<void> {
  for (const { before, after } of changes) {
    const document = (after ?? before)!;
    if (!isEndpoint(document)) continue;
    if (after === null) await forgetEndpoint(context, endpointKey(document, document.id));
    else await unlessUnavailable(forgetFailures(context, after));
  }
}

function isEndpoint({ kind }: DocumentKey): boolean {
  return kind === 'webhook_endpoint';
}
