// The table of types, and what all types share: validating an integration, and turning an integration and a
// group into the payload of a token.

import type { Problem, Violation } from '../../problem.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import {
  type Claim,
  claimInvalid,
  claimMissing,
  type Integration,
  type IntegrationBody,
  type IntegrationType,
  integrationFields,
  integrationText,
  integrationTypes,
  type PlacedTemplate,
  secretField,
  storedIntegration,
  templateViolations,
  violation,
} from '../integration.ts';
import { JsonArray, parseTree, sameJson, treeText } from '../json/json-tree.ts';
import { type JsonDocument, type JsonText, jsonPointer } from '../json/strict-json.ts';
import { bodyType, invalidField, partCheck, refuseFields } from '../request-body.ts';
import type { SchemaMembers } from '../schema-value.ts';
import { Secret } from '../secret.ts';
import type { UserGroup } from '../user-group/user-group.ts';
import {
  type ClaimValue,
  type CommonSettings,
  type EmbedTokenType,
  MAX_RESOURCES,
  type Minting,
  refused,
  type Signature,
} from './embed-token-type.ts';
import { jwt } from './jwt.ts';
import { lightdash } from './lightdash.ts';
import { metabase } from './metabase.ts';
import { superset } from './superset.ts';
import { type GroupValues, isOfGroup, parseTemplate, pathOfValue } from './template.ts';

const types = { jwt, metabase, superset, lightdash } as const satisfies Record<IntegrationType, unknown>;

/** Returns the type as one whose settings are unknown. */
export function embedTokenType({ type }: Pick<Integration, 'type'>): EmbedTokenType<unknown> {
  return types[type] as EmbedTokenType<unknown>;
}

/** All types, for the API description, the documentation and the client. */
export const embedTokenTypes: readonly (readonly [IntegrationType, EmbedTokenType<unknown>])[] =
  integrationTypes.map((type) => [type, embedTokenType({ type })]);

/** Whether the tokens of the type are signed with a secret: always, never, or with some algorithms. */
export function algorithmsWithSecret({
  settings: { properties },
  example,
  signature,
}: EmbedTokenType<unknown>): boolean | readonly string[] {
  const algorithms = properties.algorithm?.enum;
  if (algorithms === undefined) return signature(example.settings) === 'secret';
  return algorithms
    .map(String)
    .filter((algorithm) => signature({ ...example.settings, algorithm }) === 'secret');
}

const settingsChecks = new Map(embedTokenTypes.map(([type, { settings }]) => [type, partCheck(settings)]));
const resourceChecks = new Map(
  embedTokenTypes.flatMap(([type, { resource }]) => (resource ? [[type, partCheck(resource)]] : [])),
);

const sentFields = { ...integrationFields, secret: secretField };

export const integrationBody = bodyType({
  name: 'Integration',
  fields: sentFields,
  required: ['type'],
  convert: parseIntegration,
});

/** Throws `invalid_request` with the violations. */
function parseIntegration({
  value,
  members,
}: JsonDocument<SchemaMembers<typeof sentFields, 'type'>>): IntegrationBody {
  const { type, settings, secret } = value;
  refuseFields(settingsChecks.get(type)!(settings, ['settings']));
  const text = integrationText(members);
  const integration = storedIntegration({ body: text });
  const isSigned = integrationSignature(integration) !== 'secret';
  const { secretCharacters = 0 } = embedTokenType(integration);
  refuseFields([
    ...integrationViolations(integration),
    ...(isSigned && secret !== undefined
      ? [violation(['secret'], 'must be absent: these tokens are signed with a key of the service')]
      : []),
    ...(!isSigned && secret !== undefined && secret.length < secretCharacters
      ? [violation(['secret'], `must have at least ${secretCharacters} characters, and has ${secret.length}`)]
      : []),
  ]);
  return { integration, text, secret: secret === undefined ? null : new Secret(secret) };
}

function integrationViolations(integration: Integration): Violation[] {
  const type = embedTokenType(integration);
  const templates = placedTemplates(integration);
  const { properties = [] } = integration.settings as CommonSettings;
  const isRestricted =
    type.namesGroup?.(integration) || templates.some(({ template }) => isOfGroup(template));
  return [
    ...(type.violations?.(integration) ?? []),
    ...templateViolations(templates, properties),
    ...(isRestricted || integration.isUnrestricted
      ? []
      : [
          violation(
            ['unrestricted'],
            'must be true for tokens without a value that depends on the user group: with them every user group sees the same data',
          ),
        ]),
  ];
}

function placedTemplates(integration: Integration): PlacedTemplate[] {
  const resources = resourcesTemplate(integration);
  return [...valueTemplates(integration), ...(resources === null ? [] : [resources])];
}

/** The templates whose values are in every token. */
function valueTemplates(integration: Integration): PlacedTemplate[] {
  return [...integration.claims, ...(embedTokenType(integration).templates?.(integration) ?? [])];
}

/** Returns the names of the properties that tokens depend on: narrowing any other would restrict nothing. */
export function propertiesInTokens(integration: Integration): readonly string[] {
  const { properties = [] } = integration.settings as CommonSettings;
  if (embedTokenType(integration).hasUserGroup?.(integration.settings)) return properties;
  return placedTemplates(integration).flatMap(({ template }) =>
    template.source === 'property' ? [template.name] : [],
  );
}

/** Returns the template of the resources; null if the integration lists them itself. */
function resourcesTemplate({ settingsTree }: Integration): PlacedTemplate | null {
  const resources = settingsTree.get('"resources"');
  if (resources === undefined || resources instanceof JsonArray) return null;
  return { path: ['settings', 'resources'], template: parseTemplate(resources) };
}

export function integrationSignature(integration: Pick<Integration, 'type' | 'settings'>): Signature {
  return embedTokenType(integration).signature(integration.settings);
}

/**
 * Returns the texts of the resources that tokens for the user group may be for; none for a type without
 * resources. Throws `claim_missing` and `claim_invalid` if they come from a property that is absent, or is
 * not a list of resources.
 */
export function allowedResources(integration: Integration, values: GroupValues): JsonText[] {
  if (embedTokenType(integration).resource === undefined) return [];
  const placed = resourcesTemplate(integration);
  if (placed === null) return elementTexts(integration.settingsTree.get('"resources"') as JsonArray);
  const { template } = placed;
  const path = pathOfValue(template);
  const value = values.fill(template);
  if (value === null) throw claimMissing([missingValue(placed)]);
  const tree = parseTree(value);
  if (!(tree instanceof JsonArray) || tree.elements.length > MAX_RESOURCES)
    throw refused(path, `must be a list of at most ${MAX_RESOURCES} resources`);
  const check = resourceChecks.get(integration.type)!;
  const errors = (JSON.parse(value) as unknown[]).flatMap((each, index) =>
    check(each, [...path, String(index)]),
  );
  if (errors.length > 0) throw claimInvalid(errors);
  return elementTexts(tree);
}

function elementTexts({ elements }: JsonArray): JsonText[] {
  return elements.map(treeText);
}

/**
 * Returns the resource of a token: the requested one if the user group may see it; the only one if none is
 * requested. Throws `invalid_request`, and as `allowedResources`.
 */
export function selectResource(
  integration: Integration,
  requested: JsonText | null,
  values: GroupValues,
): JsonText | null {
  if (embedTokenType(integration).resource === undefined) {
    if (requested === null) return null;
    throw invalidResource(`must be absent: a token of the type ${integration.type} has no resource`);
  }
  const resources = allowedResources(integration, values);
  if (requested === null && resources.length === 1) return resources[0]!;
  if (requested === null) throw invalidResource('is required: the user group may see several');
  const allowed = resources.find((resource) => sameJson(resource, requested));
  if (allowed === undefined) throw invalidResource('is not one of those that the user group may see');
  return allowed;
}

function invalidResource(detail: string): Problem {
  return invalidField('/resource', detail);
}

/**
 * Returns the payload of a token. Throws `claim_missing`, for every value that the group lacks, and
 * `claim_invalid`.
 */
export function embedTokenPayload(minting: Omit<Minting, 'claims'>): JsonText {
  const { integration, values } = minting;
  const missing = placedTemplates(integration).filter(({ template }) => values.fill(template) === null);
  if (missing.length > 0) throw claimMissing(missing.map(missingValue));
  refuseLongValues(valueTemplates(integration).map(({ template }) => values.fill(template)!));
  const claims = integration.claims.map(({ name, path, template }: Claim): ClaimValue => {
    return [name, values.fill(template)!, isOfGroup(template) ? pathOfValue(template) : path];
  });
  return embedTokenType(integration).payload({ ...minting, claims });
}

/**
 * Throws `claim_invalid` if a token would have a mapping entry whose data source is reserved for another user
 * group: a tool that looks the data source up would show the data of that group.
 */
export function refuseReserved(integration: Integration, userGroup: UserGroup, catalogue: Catalogue): void {
  const reserved = catalogue.reservedEntries(userGroup);
  if (reserved.length === 0) return;
  const isNamed = (schemaId: string) =>
    placedTemplates(integration).some(
      ({ template }) => template.source === 'mapping' && template.name === schemaId,
    );
  const hasAll = embedTokenType(integration).hasUserGroup?.(integration.settings) ?? false;
  const minted = reserved.filter(({ schemaId }) => hasAll || isNamed(schemaId));
  if (minted.length > 0)
    throw claimInvalid(minted.map(({ schemaId, detail }) => violation(['mapping', schemaId], detail)));
}

function missingValue({ path, template }: PlacedTemplate): Violation {
  const detail = `is missing or empty; ${jsonPointer(path)} of the integration requires it`;
  return violation(pathOfValue(template), detail);
}

/** Maximum size: tokens are part of URLs and headers. */
const MAX_TOKEN_BYTES = 4_096;

/** Runs before work on the values, which can be a hundred times longer. Throws `claim_invalid`. */
function refuseLongValues(values: readonly JsonText[]): void {
  const characters = values.reduce((sum, { length }) => sum + length, 0);
  if (characters > MAX_TOKEN_BYTES) throw tooLong(`more than ${characters}`);
}

/** Throws `claim_invalid`. */
export function checkLength(token: string): void {
  if (token.length > MAX_TOKEN_BYTES) throw tooLong(`${token.length}`);
}

function tooLong(size: string): Problem {
  const detail = `The token would have ${size} bytes, and at most ${MAX_TOKEN_BYTES} fit into the URLs and headers of tools: include fewer or shorter properties`;
  return claimInvalid([violation([], detail)]);
}
