// Violations of the rules of an environment for mappings and properties: reported or enforced when a group changes.

import type { Caller } from '../../domain/api-token.ts';
import { EMPTY_OBJECT } from '../../domain/json/json-tree.ts';
import { type JsonText, jsonPointer } from '../../domain/json/strict-json.ts';
import type { PolicyMode } from '../../domain/policy-mode.ts';
import type { PropertySchema } from '../../domain/property-schema/property-schema.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { UserGroupFields } from '../../domain/user-group/user-group-body.ts';
import { listViolations, Problem, type Violation } from '../../problem.ts';
import type { Context } from '../context.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';
import { PropertySchemaInvalid, type Validator } from '../property-schema/validator/validator.ts';

type RuleContext = Pick<Context, 'propertyValidator' | 'violations'> & {
  timedOutSchemas: Pick<Context['timedOutSchemas'], 'report'>;
};

/** Parts of a configuration that are rules. */
export type Rules = Pick<EnvironmentConfig, 'catalogue' | 'mappingMode' | 'propertySchema'>;

/**
 * Checks the fields that a change of the group writes; absent fields are not written. Rejects with
 * `mapping_invalid` and `properties_invalid` if the rules are enforced; otherwise adds to the violations of
 * the request. Returns undefined if the environment has no rules.
 */
export function checkPolicies(
  context: RuleContext & Pick<Context, 'store' | 'configs'>,
  caller: Caller,
  userGroupId: string,
  fields: UserGroupFields,
): Promise<void> | undefined {
  if (caller.configVersion === 0) return undefined;
  return checkRules(context, caller, context.configs.of(context.store, caller), userGroupId, fields);
}

/** Rejects as `checkPolicies` does, but records and reports nothing: for a planned change. */
export function previewRules(
  { propertyValidator }: Pick<Context, 'propertyValidator'>,
  tenant: Tenant,
  rules: Rules,
  userGroupId: string,
  fields: UserGroupFields,
): Promise<void> {
  const context = { propertyValidator, violations: [], timedOutSchemas: { report: () => {} } };
  return checkRules(context, tenant, rules, userGroupId, fields);
}

async function checkRules(
  context: RuleContext,
  tenant: Tenant,
  current: Rules | Promise<Rules>,
  providedId: string,
  { mapping, properties }: UserGroupFields,
): Promise<void> {
  const rules = await current;
  const { mappingMode, propertySchema } = rules;
  // Those of an earlier attempt, or line of an import, are not those of what is written now.
  context.violations.length = 0;
  if (mapping !== undefined && mappingMode !== 'off')
    apply(context, mappingMode, 'mapping_invalid', mappingViolations(rules, { providedId, mapping }));
  if (properties !== undefined && propertySchema !== null && propertySchema.mode !== 'off') {
    const found = await enforcedViolations(context, tenant, propertySchema, properties);
    apply(context, propertySchema.mode, 'properties_invalid', found);
  }
}

/** Returns the violations of properties to store; also reports a schema that takes too long repeatedly. */
async function enforcedViolations(
  { propertyValidator, timedOutSchemas }: RuleContext,
  tenant: Tenant,
  propertySchema: PropertySchema,
  properties: JsonText | null,
): Promise<Violation[]> {
  try {
    const [found] = await propertyViolations(propertyValidator, tenant, propertySchema, [properties]);
    return found!;
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    if (error.isRepeated) timedOutSchemas.report(tenant, propertySchema);
    return [uncheckable(error)];
  }
}

/**
 * Returns the violations of stored fields, whatever the modes. Without a catalogue, mappings are not checked.
 */
export async function groupViolations(
  context: Pick<Context, 'propertyValidator'>,
  tenant: Tenant,
  config: EnvironmentConfig,
  stored: readonly Pick<UserGroup, 'providedId' | 'mapping' | 'properties'>[],
): Promise<Violation[][]> {
  const ofProperties = await violationsOfProperties(context, tenant, config, stored);
  return stored.map((userGroup, index) => {
    const ofMapping = config.catalogue.isEmpty ? [] : mappingViolations(config, userGroup);
    return [...ofMapping, ...ofProperties[index]!];
  });
}

/**
 * Returns the violations of stored properties, whatever the mode. Checks them one by one if the schema takes
 * too long for all together. Rejects if the signal aborts.
 */
export async function violationsOfProperties(
  context: Pick<Context, 'propertyValidator'>,
  tenant: Tenant,
  config: EnvironmentConfig,
  stored: readonly Pick<UserGroup, 'properties'>[],
  signal?: AbortSignal,
): Promise<Violation[][]> {
  const { propertySchema } = config;
  if (propertySchema === null) return stored.map(() => []);
  const all = stored.map(({ properties }) => properties);
  try {
    return await propertyViolations(context.propertyValidator, tenant, propertySchema, all);
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    if (stored.length === 1) return [[uncheckable(error)]];
    const violations: Violation[][] = [];
    for (const one of stored) {
      signal?.throwIfAborted();
      violations.push(...(await violationsOfProperties(context, tenant, config, [one], signal)));
    }
    return violations;
  }
}

function apply(
  { violations }: RuleContext,
  mode: PolicyMode,
  code: 'mapping_invalid' | 'properties_invalid',
  found: readonly Violation[],
): void {
  if (found.length === 0) return;
  if (mode === 'report') {
    violations.push(...found);
    return;
  }
  const { errors, texts } = listViolations(found, ({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
  throw new Problem(code, `${texts.join('; ')}.`, { errors });
}

export function mappingViolations(
  { catalogue }: Pick<Rules, 'catalogue'>,
  userGroup: Pick<UserGroup, 'providedId' | 'mapping'>,
): Violation[] {
  return catalogue.violations(userGroup).map(({ schemaId, detail }) => ({
    pointer: jsonPointer(['mapping', schemaId]),
    detail,
  }));
}

/** Checks absent properties as an empty object, which also lacks a required property. */
async function propertyViolations(
  validator: Validator,
  { workspaceId }: Tenant,
  { schema }: PropertySchema,
  properties: readonly (JsonText | null)[],
): Promise<Violation[][]> {
  const texts = properties.map((text) => text ?? EMPTY_OBJECT);
  const all = await validator.check(workspaceId, schema, texts);
  return all.map((found) =>
    found.map(({ pointer, detail }) => ({ pointer: `/properties${pointer}`, detail })),
  );
}

function uncheckable({ message }: PropertySchemaInvalid): Violation {
  return { pointer: '/properties', detail: `cannot be checked: the property schema ${message}` };
}
