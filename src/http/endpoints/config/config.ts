import { CONFIG_FORMAT, configBody, configFields } from '../../../domain/config/config.ts';
import { planTexts } from '../../../domain/config/config-plan.ts';
import { applyConfig } from '../../../operations/config/apply.ts';
import { MAX_CONFIG_CHANGES, MAX_CONFIG_DELIVERIES } from '../../../operations/config/plan.ts';
import { MAX_CONFIG_BYTES, readConfig as read } from '../../../operations/config/read.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { raw, successBody } from '../../json.ts';
import { queryType } from '../../request/query.ts';
import { namedSchema, objectSchema, successSchema } from '../../schema.ts';

const configVersionSchema = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Increases with every change of the configuration.',
} as const;

const example = {
  version: CONFIG_FORMAT,
  schemas: { '40': { name: 'Orders', default_data_source: 'shared' } },
  data_sources: { shared: { schema_id: '40', name: 'Reference data', attributes: { database: 'shared' } } },
  mapping_policy: { mode: 'report' },
  property_schema: null,
  integrations: {},
  webhook_endpoints: {},
};

const shared = { paths: ['/v1/config'], permissions: ['admin'] } as const;

export const readConfig = endpoint({
  ...shared,
  operationId: 'readConfig',
  method: 'GET',
  purpose: 'read the configuration',
  access: 'list',
  handle: async ({ context, caller }) => {
    const { version, text } = await read(context, caller, MAX_CONFIG_BYTES);
    return successBody({ config: raw(text), config_version: version });
  },
  description: {
    tag: 'Configuration',
    summary: 'Read the configuration',
    text:
      'Everything that the workspace and environment is configured with, as one document: what `user-group-service config ' +
      'export` writes. Secrets are not part of it: where one is stored, there is the name of an environment variable to ' +
      `take it from. At most ${MAX_CONFIG_BYTES} bytes; the command line exports more from the database.`,
    responses: {
      200: {
        description: 'The configuration.',
        schema: successSchema('StoredConfig', {
          config: objectSchema(configFields),
          config_version: configVersionSchema,
        }),
        examples: successExample('stored', 'A configuration', { config: example, config_version: 7 }),
      },
    },
    problems: ['limit_reached'],
  },
});

const applyQuery = queryType({
  parameters: {
    prune: {
      type: 'boolean',
      default: false,
      description: 'Whether entries of a sent section are deleted that were not sent.',
    },
    dry_run: {
      type: 'boolean',
      default: false,
      description: 'Whether to return the changes without making them.',
    },
  },
  convert: ({ prune, dry_run: dryRun }) => ({ prune, dryRun }),
});

const entryPlace = {
  section: { type: 'string', description: 'The member of the configuration.' },
  id: { type: 'string', description: 'The id of the entry; `default` in a section that has one entry.' },
} as const;

const entrySchema = { type: ['object', 'null'], additionalProperties: true } as const;

const changeSchema = namedSchema('ConfigChange', {
  ...entryPlace,
  action: { type: 'string', enum: ['create', 'update', 'delete'], description: 'What happens to it.' },
  before: { ...entrySchema, description: 'The entry as it was; null if there was none.' },
  after: { ...entrySchema, description: 'The entry as it is; null if it is deleted.' },
  replaces_secret: { type: 'boolean', description: 'Whether a sent secret differs from the stored one.' },
});

export const putConfig = endpoint({
  ...shared,
  operationId: 'putConfig',
  method: 'PUT',
  purpose: 'change the configuration',
  query: applyQuery,
  body: configBody,
  handle: async ({ context, caller, body, query }) => {
    const plan = await applyConfig(context, caller, body, {
      ...query,
      maxChanges: MAX_CONFIG_CHANGES,
      maxDeliveries: MAX_CONFIG_DELIVERIES,
      maxBytes: MAX_CONFIG_BYTES,
    });
    const { changes, kept, config_version } = planTexts(plan);
    return successBody({ changes: raw(changes), kept: raw(kept), config_version: raw(config_version) });
  },
  description: {
    tag: 'Configuration',
    summary: 'Apply a configuration',
    text:
      'Makes the stored configuration equal to the sent one, in one transaction: all of it or nothing. Sections that are not ' +
      'sent stay as they are. Entries of a sent section that were not sent stay too, and are listed in `kept`, unless ' +
      '`prune` is true. The same configuration a second time changes nothing and records no event.\n\nAn entry has the ' +
      'fields of the body of its own `PUT`; an integration without `secret` keeps the stored one. With `config_version` of ' +
      `an earlier response, the call is refused if the configuration has changed since. At most ${MAX_CONFIG_CHANGES} changes, ` +
      `${MAX_CONFIG_DELIVERIES} webhook deliveries of their events, and ${MAX_CONFIG_BYTES} bytes of entries in the response.`,
    requests: { catalogue: { summary: 'A catalogue', value: example } },
    responses: {
      200: {
        description: 'The changes; none if the configuration was the same.',
        schema: successSchema('ConfigChanges', {
          changes: { type: 'array', items: changeSchema },
          kept: { type: 'array', items: objectSchema(entryPlace) },
          config_version: configVersionSchema,
        }),
        examples: successExample('changed', 'A change', {
          changes: [
            {
              section: 'mapping_policy',
              id: 'default',
              action: 'update',
              before: { mode: 'off' },
              after: { mode: 'report' },
              replaces_secret: false,
            },
          ],
          kept: [],
          config_version: 8,
        }),
      },
    },
    problems: ['limit_reached', 'version_mismatch'],
  },
});
