// The table of types, and what they have in common: which integrations are valid, and from an integration and a group to
// the payload of a token.

import { Problem, type Violation } from '../../problem.ts';
import {
  type Claim,
  claimInvalid,
  claimMissing,
  type Integration,
  type IntegrationBody,
  type IntegrationType,
  integrationOf,
  integrationText,
  type PlacedTemplate,
  templateViolations,
  violation,
} from '../integration.ts';
import { type JsonArray, sameJson, textOf } from '../json/json-tree.ts';
import { type JsonDocument, type JsonText, pointerOf } from '../json/strict-json.ts';
import { partCheck, refuseFields } from '../request-body.ts';
import { Secret } from '../secret.ts';
import type { ClaimValue, CommonSettings, EmbedTokenType, Minting, Signature } from './embed-token-type.ts';
import { jwt } from './jwt.ts';
import { lightdash } from './lightdash.ts';
import { metabase } from './metabase.ts';
import { superset } from './superset.ts';
import { isOfGroup, pathOfValue } from './template.ts';

const types = { jwt, metabase, superset, lightdash } as const satisfies Record<IntegrationType, unknown>;

/** The type, as one whose settings are not known. */
export function typeOf({ type }: Pick<Integration, 'type'>): EmbedTokenType<unknown> {
  return types[type] as EmbedTokenType<unknown>;
}

/** An integration of each type, as it is sent. */
export const integrationExamples = Object.fromEntries(
  Object.entries(types).map(([type, { example }]) => [type, { type, ...example }]),
) as Record<IntegrationType, { type: IntegrationType } & EmbedTokenType<unknown>['example']>;

/** The schemas of the settings, for the API description. */
export const settingsSchemas = Object.fromEntries(
  Object.entries(types).map(([name, { settings }]) => [name, settings]),
) as Record<IntegrationType, object>;

const settingsChecks = Object.fromEntries(
  Object.entries(settingsSchemas).map(([name, schema]) => [name, partCheck(schema)]),
) as Record<IntegrationType, ReturnType<typeof partCheck>>;

/** Throws `invalid_request` with the pointers of what is wrong. */
export function parseIntegration({ value, members }: JsonDocument): IntegrationBody {
  const {
    type,
    settings = {},
    secret,
  } = value as { type: IntegrationType; settings?: object; secret?: string };
  refuseFields(settingsChecks[type](settings, ['settings']));
  const text = integrationText(members);
  const integration = integrationOf({ body: text });
  const isSigned = signatureOf(integration) !== 'secret';
  refuseFields([
    ...violationsOf(integration),
    ...(isSigned && secret !== undefined
      ? [violation(['secret'], 'must be absent: these tokens are signed with a key of the service')]
      : []),
  ]);
  return { integration, text, secret: secret === undefined ? null : new Secret(secret) };
}

function violationsOf(integration: Integration): Violation[] {
  const type = typeOf(integration);
  const templates = templatesOf(integration);
  const { properties = [] } = integration.settings as CommonSettings;
  const isRestricted = type.namesGroup || templates.some(({ template }) => isOfGroup(template));
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

function templatesOf(integration: Integration): PlacedTemplate[] {
  return [...integration.claims, ...(typeOf(integration).templates?.(integration) ?? [])];
}

export function signatureOf(integration: Pick<Integration, 'type' | 'settings'>): Signature {
  return typeOf(integration).signature(integration.settings);
}

/** The texts of the resources that tokens may be for; none for a type without resources. */
export function resourcesOf(integration: Integration): JsonText[] {
  if (!typeOf(integration).hasResources) return [];
  return (integration.settingsTree.get('"resources"') as JsonArray).elements.map(textOf);
}

/**
 * The resource of a token: the requested one if the integration allows it; the only one if the request has none. Throws
 * `invalid_request`.
 */
export function resourceOf(integration: Integration, requested: JsonText | null): JsonText | null {
  if (!typeOf(integration).hasResources) {
    if (requested === null) return null;
    throw invalidResource(`must be absent: a token of the type ${integration.type} is for no resource`);
  }
  const resources = resourcesOf(integration);
  if (requested === null && resources.length === 1) return resources[0]!;
  if (requested === null) throw invalidResource('is required: the integration allows several');
  const allowed = resources.find((resource) => sameJson(resource, requested));
  if (allowed === undefined) throw invalidResource('is not one of settings.resources of the integration');
  return allowed;
}

function invalidResource(detail: string): Problem {
  return new Problem('invalid_request', `resource ${detail}.`, {
    errors: [{ pointer: '/resource', detail }],
  });
}

/** The payload of a token. Throws `claim_missing` for every value that the group lacks, and `claim_invalid`. */
export function payloadOf(minting: Omit<Minting, 'claims'>): JsonText {
  const { integration, values } = minting;
  const missing = templatesOf(integration).filter(({ template }) => values.valueOf(template) === null);
  if (missing.length > 0) throw claimMissing(missing.map(missingValue));
  const claims = integration.claims.map(({ name, path, template }: Claim): ClaimValue => {
    return [name, values.valueOf(template)!, isOfGroup(template) ? pathOfValue(template) : path];
  });
  return typeOf(integration).payload({ ...minting, claims });
}

function missingValue({ path, template }: PlacedTemplate): Violation {
  const pointer = pointerOf(pathOfValue(template));
  return { pointer, detail: `is missing or empty; ${pointerOf(path)} of the integration requires it` };
}

/** Tokens are part of URLs and headers. */
const MAX_TOKEN_BYTES = 4_096;

/** Throws `claim_invalid`. */
export function checkLength(token: string): void {
  if (token.length <= MAX_TOKEN_BYTES) return;
  throw claimInvalid([
    {
      pointer: '',
      detail: `The token would have ${token.length} bytes, and at most ${MAX_TOKEN_BYTES} fit into the URLs and headers of tools: let fewer properties leave`,
    },
  ]);
}
