// Target of the config commands: a database, or a running service.

import { configBody, sectionNames } from '../../domain/config/config.ts';
import {
  type ConfigChange,
  type ConfigPlan,
  changeActions,
  type KeptEntry,
} from '../../domain/config/config-plan.ts';
import { jsonText, splitMembers, withMember } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { applyConfig } from '../../operations/config/apply.ts';
import { SEND_LESS } from '../../operations/config/plan.ts';
import { readConfig } from '../../operations/config/read.ts';
import { atCurrentConfig } from '../../operations/document/environment-config.ts';
import { PropertyValidator } from '../../operations/property-schema/validator/validator.ts';
import { Problem } from '../../problem.ts';
import { commandContext, contextWithKeys } from '../command-context.ts';
import { DataError } from '../exit-code.ts';
import { selectTarget, type TargetOptions } from '../option/target-option.ts';
import { atPlace, type Place } from '../option/workspace-option.ts';
import { MAX_MEMBERS, ServiceClient } from '../service-client.ts';
import type { ServiceObject } from '../service-object.ts';

const CODES_ABOUT_FILE = [
  'invalid_request',
  'unknown_field',
  'invalid_json',
  'body_too_large',
  'limit_reached',
];

interface PutOptions {
  prune: boolean;
  dryRun: boolean;
  /** The version that the configuration must still have; null if it may have any. */
  version: number | null;
}

export interface ConfigTarget {
  read(): Promise<JsonText>;
  /**
   * Returns a plan without changes if an earlier attempt, whose response was lost, has made them. Throws
   * `DataError` if the configuration is refused.
   */
  put(config: JsonText, options: PutOptions): Promise<ConfigPlan>;
}

/** Throws `UsageError` unless the options name one environment. */
export async function withConfigTarget(
  options: TargetOptions,
  work: (target: ConfigTarget) => Promise<void>,
): Promise<void> {
  const place = selectTarget(options);
  if ('url' in place) return work(serviceTarget(new ServiceClient(place.url, 'admin')));
  await atPlace({ ...options, ...place }, (at) => work(databaseTarget(at)));
}

function sentText(config: JsonText, version: number | null): JsonText {
  // The plan was refused if the file has the version of another configuration.
  if (version === null || splitMembers(config).has('"config_version"')) return config;
  return withMember(config, 'config_version', jsonText(version));
}

function databaseTarget(place: Place): ConfigTarget {
  const { store } = place;
  return {
    read: async () =>
      (await readConfig(commandContext(place), await atCurrentConfig(store, place.caller))).text,
    put: async (config, { prune, dryRun, version }) => {
      await using propertyValidator = PropertyValidator.forCommand();
      const context = { ...(await contextWithKeys(place, dryRun)), propertyValidator };
      try {
        const body = configBody.read(Buffer.from(sentText(config, version)), MAX_MEMBERS);
        const caller = await atCurrentConfig(store, place.caller);
        return await applyConfig(context, caller, body, { prune, dryRun });
      } catch (error) {
        throw error instanceof Problem ? asFileError(error.code, error) : error;
      }
    },
  };
}

/** Turns an error about the file into one that exits with the code for invalid data. */
function asFileError(code: string, error: Error): Error {
  if (!CODES_ABOUT_FILE.includes(code)) return error;
  const remedy = code === 'body_too_large' ? ` ${SEND_LESS}` : '';
  return new DataError(error.message + remedy, { cause: error });
}

function serviceTarget(client: ServiceClient): ConfigTarget {
  return {
    read: async () => (await client.read('/v1/config')).text('config'),
    async put(config, { prune, dryRun, version }) {
      const path = `/v1/config?prune=${prune}&dry_run=${dryRun}`;
      const response = await client.call('PUT', path, { body: sentText(config, version) });
      const { body, problem, isRepeated } = response;
      if (problem?.code === 'version_mismatch' && isRepeated && !dryRun) {
        const rest = await this.put(config, { prune, dryRun: true, version: null });
        if (rest.changes.length === 0) return rest;
      }
      if (problem !== null) throw asFileError(problem.code, client.refusal(problem));
      return {
        version: body.number('config_version'),
        changes: body.objects('changes').map(changeIn),
        kept: body.objects('kept').map(keptEntryIn),
      };
    },
  };
}

function changeIn(change: ServiceObject): ConfigChange {
  return {
    ...keptEntryIn(change),
    action: change.oneOf('action', changeActions),
    before: change.textOrNull('before'),
    after: change.textOrNull('after'),
    replacesSecret: change.boolean('replaces_secret'),
  };
}

function keptEntryIn(entry: ServiceObject): KeptEntry {
  return { section: entry.oneOf('section', sectionNames), id: entry.string('id') };
}
