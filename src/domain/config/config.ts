// The configuration of an environment as one document: sections with entries by id, and single policies.

import {
  type Catalogue,
  dataSourceDefinition,
  type Reference,
  schemaDefinition,
} from '../catalogue/catalogue.ts';
import { dataSourceBody, schemaBody } from '../catalogue/catalogue-body.ts';
import { type Document, type DocumentDefinition, SINGLETON_ID } from '../document.ts';
import { integrationBody } from '../embed-token/embed-token.ts';
import { integrationDefinition } from '../integration.ts';
import {
  jsonText,
  NULL,
  namedMembers,
  objectText,
  sameJson,
  splitMembers,
  withMember,
} from '../json/json-tree.ts';
import { type JsonText, jsonPointer } from '../json/strict-json.ts';
import { mappingPolicyDefinition } from '../mapping-policy/mapping-policy.ts';
import { mappingPolicyBody } from '../mapping-policy/mapping-policy-body.ts';
import { propertySchemaDefinition } from '../property-schema/property-schema.ts';
import { propertySchemaBody } from '../property-schema/property-schema-body.ts';
import { type BodyType, bodyType, idViolation, invalidField, MAX_LEVELS } from '../request-body.ts';
import type { Schema } from '../schema-value.ts';
import { webhookEndpointDefinition } from '../webhook-endpoint/webhook-endpoint.ts';
import { webhookEndpointBody } from '../webhook-endpoint/webhook-endpoint-body.ts';

/** The version of the format. */
export const CONFIG_FORMAT = 1;

/** One member of the configuration. */
interface ConfigSection {
  readonly definition: DocumentDefinition;
  /** The body of an entry, without the members that the service assigns. */
  readonly body: BodyType<unknown>;
  readonly description: string;
  /** Whether there is one entry instead of one for each id. */
  readonly isSingleton?: true;
}

export const configSections = {
  schemas: { definition: schemaDefinition, body: schemaBody, description: 'Schemas by id.' },
  data_sources: {
    definition: dataSourceDefinition,
    body: dataSourceBody,
    description: 'Data sources by your own id.',
  },
  mapping_policy: {
    definition: mappingPolicyDefinition,
    body: mappingPolicyBody,
    description: 'The mapping policy.',
    isSingleton: true,
  },
  property_schema: {
    definition: propertySchemaDefinition,
    body: propertySchemaBody,
    description: 'The schema of properties; null: none.',
    isSingleton: true,
  },
  integrations: {
    definition: integrationDefinition,
    body: integrationBody,
    description: 'Integrations by id.',
  },
  webhook_endpoints: {
    definition: webhookEndpointDefinition,
    body: webhookEndpointBody,
    description: 'Webhook endpoints by id. A new one gets a secret, which a rotation shows.',
  },
} as const satisfies Record<string, ConfigSection>;

export type SectionName = keyof typeof configSections;

/** Names in the order of the document. */
export const sectionNames = Object.keys(configSections) as SectionName[];

export function configSection(name: SectionName): ConfigSection {
  return configSections[name];
}

export interface ConfigBody {
  /** The entries of each section that was sent, by id. */
  sections: ReadonlyMap<SectionName, ReadonlyMap<string, JsonText>>;
  /** Version that the configuration must still have; null for any. */
  configVersion: number | null;
}

const versionField = {
  type: 'integer',
  minimum: CONFIG_FORMAT,
  maximum: CONFIG_FORMAT,
  description: 'The version of the format.',
} as const;

/** Returns the JSON Schema of each section; `schemaOfEntry` returns that of its entries. */
function sectionFields(schemaOfEntry: (section: ConfigSection) => Schema): Record<string, Schema> {
  return Object.fromEntries(
    sectionNames.map((name) => {
      const section = configSection(name);
      const entry = schemaOfEntry(section);
      const schema = section.isSingleton
        ? { ...entry, type: section.definition.default === undefined ? ['object', 'null'] : 'object' }
        : { type: 'object', additionalProperties: entry };
      return [name, { ...schema, description: section.description }];
    }),
  );
}

export const configFields = {
  version: versionField,
  ...sectionFields(() => ({ type: 'object', additionalProperties: true })),
};

const secretReference = {
  description: 'Where the secret is taken from. If absent, the stored one is kept.',
  oneOf: [
    reference('environment', 'Name of the environment variable that contains the secret.'),
    reference('file', 'Path of the file that contains the secret, relative to that of the configuration.'),
  ],
};

function reference(name: string, description: string): Schema {
  const properties = { [name]: { type: 'string', minLength: 1, description } };
  return { type: 'object', properties, required: [name], additionalProperties: false };
}

const configVersionField = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    'The `config_version` of an earlier response: nothing is changed if the configuration has changed since. If absent, it may have.',
} as const;

/** The JSON Schema of a file, for editors. */
export const configFileSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Configuration of the User Group Service',
  type: 'object',
  properties: {
    version: versionField,
    config_version: configVersionField,
    ...sectionFields(fileEntrySchema),
  },
  required: ['version'],
  additionalProperties: false,
};

function fileEntrySchema({ body: { schema } }: ConfigSection): Schema {
  const { title: _, properties, ...rest } = schema!;
  const hasSecret = 'secret' in properties;
  return { ...rest, properties: { ...properties, ...(hasSecret && { secret: secretReference }) } };
}

export const configBody = bodyType({
  name: 'Config',
  fields: {
    ...configFields,
    config_version: configVersionField,
  },
  required: ['version'],
  hint: (value) =>
    'config' in value
      ? 'Send the value of config, not the whole response of GET /v1/config; config_version may be added to it.'
      : undefined,
  // An entry is two levels below the configuration.
  maxLevels: MAX_LEVELS + 2,
  convert: ({ value, members }): ConfigBody => {
    const { config_version: configVersion = null } = value;
    const sections = sectionNames.flatMap((name) => {
      const text = members.get(name);
      return text === undefined ? [] : [[name, sectionEntries(name, text)] as const];
    });
    return { configVersion, sections: new Map(sections) };
  },
});

function sectionEntries(name: SectionName, text: JsonText): ReadonlyMap<string, JsonText> {
  if (configSection(name).isSingleton) return new Map(text === NULL ? [] : [[SINGLETON_ID, text]]);
  const entries = new Map(namedMembers(text));
  for (const id of entries.keys()) {
    const detail = idViolation(id);
    if (detail !== null) throw invalidField(jsonPointer([name, id]), `is under an id that ${detail}`);
  }
  return entries;
}

/**
 * Returns the entry of a stored body, without what the service assigns and without members that have their
 * default. Numbers of data sources differ between environments: a reference by number becomes one by id.
 */
export function configEntry(name: SectionName, body: JsonText, catalogue: Catalogue): JsonText {
  const stored = splitMembers(body);
  return objectText(
    Object.entries(configSection(name).body.schema!.properties).map(([member, schema]) => {
      const text = stored.get(JSON.stringify(member));
      if (text === undefined || text === NULL || sameJson(text, fieldDefault(schema)))
        return [member, undefined];
      return [member, member === 'default_data_source' ? referenceById(text, catalogue) : text];
    }),
  );
}

function referenceById(text: JsonText, catalogue: Catalogue): JsonText {
  const dataSource = catalogue.find(JSON.parse(text) as Reference);
  return dataSource === undefined ? text : jsonText(dataSource.providedId);
}

function fieldDefault({ default: value }: Schema): JsonText | null {
  return value === undefined ? null : jsonText(value as object | null);
}

/** The place of a document in the configuration. */
export function pathInConfig(name: SectionName, id: string): string[] {
  return configSection(name).isSingleton ? [name] : [name, id];
}

/**
 * Writes a configuration from its documents. Refers to a stored secret by the name of an environment
 * variable, which must contain it when the configuration is applied.
 */
export class ConfigWriter {
  readonly #catalogue: Catalogue;
  readonly #entries = new Map<SectionName, [id: string, entry: JsonText][]>();
  readonly #variables = new Set<string>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  add(name: SectionName, document: Document): void {
    const entry = configEntry(name, document.body, this.#catalogue);
    const ofSection = this.#entries.get(name) ?? [];
    this.#entries.set(name, ofSection);
    ofSection.push([document.id, name === 'integrations' ? this.#withSecret(entry, document) : entry]);
  }

  get text(): JsonText {
    const sections = sectionNames.map((name): [string, JsonText] => {
      const { isSingleton, definition } = configSection(name);
      const entries = this.#entries.get(name) ?? [];
      return [
        name,
        isSingleton ? (entries[0]?.[1] ?? definition.default?.body ?? NULL) : objectText(entries),
      ];
    });
    return objectText([['version', jsonText(CONFIG_FORMAT)], ...sections]);
  }

  #withSecret(entry: JsonText, { id, secret }: Document): JsonText {
    if (secret === null) return entry;
    return withMember(entry, 'secret', jsonText({ environment: this.#newVariable(id) }));
  }

  /** A name that no other integration has. */
  #newVariable(integrationId: string): string {
    const stem = `INTEGRATION_${integrationId.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_SECRET`;
    let name = stem;
    for (let number = 2; this.#variables.has(name); number++) name = `${stem}_${number}`;
    this.#variables.add(name);
    return name;
  }
}
