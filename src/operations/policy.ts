// The rules about mappings and properties of an environment: reported or enforced when a group is changed.

import type { Caller } from '../domain/api-token.ts';
import {
  mappingPolicyDefinition,
  type PolicyMode,
  propertySchemaDefinition,
  SINGLETON_ID,
} from '../domain/policy.ts';
import type { Precondition } from '../domain/precondition.ts';
import { invalidField, type UserGroupFields } from '../domain/request-body.ts';
import { type JsonText, pointerOf } from '../domain/strict-json.ts';
import type { UserGroup } from '../domain/user-group.ts';
import { type FieldError, Problem } from '../problem.ts';
import type { Context } from './context.ts';
import { type DocumentContext, putDocument, type StoredDocument } from './document.ts';
import type { EnvironmentConfig } from './environment-config.ts';
import { PropertySchemaInvalid } from './property-validator.ts';

type PolicyContext = Pick<Context, 'store' | 'configs' | 'propertyValidator' | 'violations'>;

export function putMappingPolicy(
  context: DocumentContext,
  caller: Caller,
  mode: PolicyMode,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const body = JSON.stringify({ mode }) as JsonText;
  return putDocument(context, caller, mappingPolicyDefinition, SINGLETON_ID, { body }, precondition);
}

/** Throws `invalid_request` if the schema cannot be used. */
export async function putPropertySchema(
  context: DocumentContext & Pick<Context, 'propertyValidator'>,
  caller: Caller,
  { schema, mode }: { schema: JsonText; mode: PolicyMode },
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  try {
    await context.propertyValidator.compile(schema);
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    throw invalidField(`/schema${error.pointer}`, error.message);
  }
  const body = `{"schema":${schema},"mode":${JSON.stringify(mode)}}` as JsonText;
  return putDocument(context, caller, propertySchemaDefinition, SINGLETON_ID, { body }, precondition);
}

/**
 * Checks the fields that a change writes; absent ones are not written. Rejects with `mapping_invalid` and
 * `properties_invalid` if the rules are enforced; otherwise adds to the violations of the request. Returns undefined if
 * the environment has no rules.
 */
export function checkPolicies(
  context: PolicyContext,
  caller: Caller,
  fields: UserGroupFields,
): Promise<void> | undefined {
  return caller.configVersion === 0 ? undefined : checkRules(context, caller, fields);
}

async function checkRules(
  context: PolicyContext,
  caller: Caller,
  { mapping, properties }: UserGroupFields,
): Promise<void> {
  const config = await context.configs.of(context.store, caller);
  if (mapping !== undefined && config.mappingMode !== 'off')
    apply(context, config.mappingMode, 'mapping_invalid', mappingViolations(config, mapping));
  if (properties !== undefined && config.propertySchema !== null && config.propertySchema.mode !== 'off') {
    const [faults] = await propertyViolations(context, config, [properties]);
    apply(context, config.propertySchema.mode, 'properties_invalid', faults!);
  }
}

/** The violations of stored fields, whatever the modes. Without a catalogue, mappings are not checked. */
export async function violationsOf(
  context: Pick<Context, 'propertyValidator'>,
  config: EnvironmentConfig,
  stored: readonly Pick<UserGroup, 'mapping' | 'properties'>[],
): Promise<FieldError[][]> {
  const ofProperties = await propertyViolations(
    context,
    config,
    stored.map(({ properties }) => properties),
  );
  return stored.map(({ mapping }, index) => {
    const ofMapping = config.catalogue.isEmpty ? [] : mappingViolations(config, mapping);
    return [...ofMapping, ...ofProperties[index]!];
  });
}

function apply(
  { violations }: PolicyContext,
  mode: PolicyMode,
  code: 'mapping_invalid' | 'properties_invalid',
  faults: readonly FieldError[],
): void {
  if (faults.length === 0) return;
  if (mode === 'report') {
    violations.push(...faults);
    return;
  }
  const details = faults.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
  throw new Problem(code, `${details.join('; ')}.`, { errors: faults });
}

function mappingViolations(config: EnvironmentConfig, mapping: JsonText | null): FieldError[] {
  return config.catalogue.violations(mapping).map(({ schemaId, detail }) => ({
    pointer: pointerOf(['mapping', schemaId]),
    detail,
  }));
}

/** Absent properties are checked as an empty object: a required property is missing there too. */
async function propertyViolations(
  context: Pick<Context, 'propertyValidator'>,
  config: EnvironmentConfig,
  properties: readonly (JsonText | null)[],
): Promise<FieldError[][]> {
  const { propertySchema } = config;
  if (propertySchema === null) return properties.map(() => []);
  const texts = properties.map((text) => text ?? '{}');
  try {
    const all = await context.propertyValidator.check(propertySchema.schema, texts);
    return all.map((faults) =>
      faults.map(({ pointer, detail }) => ({ pointer: `/properties${pointer}`, detail })),
    );
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    if (properties.length > 1) return propertyViolationsOneByOne(context, config, properties);
    return [[{ pointer: '/properties', detail: `cannot be checked: the property schema ${error.message}` }]];
  }
}

async function propertyViolationsOneByOne(
  context: Pick<Context, 'propertyValidator'>,
  config: EnvironmentConfig,
  properties: readonly (JsonText | null)[],
): Promise<FieldError[][]> {
  const all: FieldError[][] = [];
  for (const text of properties) all.push(...(await propertyViolations(context, config, [text])));
  return all;
}
