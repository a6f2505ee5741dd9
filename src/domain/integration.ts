// An integration: how the tokens for one tool are made. Stored as a document; its secret is encrypted.

import { listViolations, Problem, type Violation } from '../problem.ts';
import type { Document, DocumentDefinition } from './document.ts';
import { isEmpty, parseTemplate, type Template, templatesSchema } from './embed-token/template.ts';
import { decodeString, type JsonObject, jsonText, NULL, objectText, parseTree } from './json/json-tree.ts';
import { type JsonText, jsonPointer } from './json/strict-json.ts';
import type { SchemaMembers } from './schema-value.ts';
import type { Secret } from './secret.ts';
import { MAX_TTL_SECONDS } from './signing-key/key-set.ts';

export const integrationDefinition = {
  kind: 'integration',
  noun: 'integration',
  limit: { documents: 100, bytes: 1024 * 1024 },
} as const satisfies DocumentDefinition;

export const integrationTypes = ['jwt', 'metabase', 'superset', 'lightdash'] as const;
export type IntegrationType = (typeof integrationTypes)[number];

/** A template, with its place in the integration. */
export interface PlacedTemplate {
  path: readonly (string | number)[];
  template: Template;
}

export interface Claim extends PlacedTemplate {
  name: string;
}

export interface Integration<Settings = unknown> {
  type: IntegrationType;
  ttlSeconds: number;
  settings: Settings;
  /** The settings with exact digits, by the JSON text of each name. */
  settingsTree: JsonObject['members'];
  claims: readonly Claim[];
  /** Whether tokens without any restriction are allowed. */
  isUnrestricted: boolean;
}

/** The fields of a request; those in responses are the same without `secret`. */
export interface IntegrationBody {
  integration: Integration;
  /** The stored form. */
  text: JsonText;
  secret: Secret | null;
}

export const integrationFields = {
  type: { type: 'string', enum: integrationTypes, description: 'The type of token to mint.' },
  ttl_seconds: {
    type: 'integer',
    minimum: 60,
    maximum: MAX_TTL_SECONDS,
    default: 300,
    description: 'How long a token is valid.',
  },
  settings: {
    type: 'object',
    additionalProperties: true,
    default: {},
    description: 'The settings of the type. `properties` lists the properties of user groups that may leave.',
  },
  claims: {
    ...templatesSchema,
    default: {},
    description: 'Values from the user group. The type determines where they are in a token.',
  },
  unrestricted: {
    type: 'boolean',
    default: false,
    description:
      'Required to be true if no value of a token depends on the user group: every user group then sees the same data.',
  },
} as const;

/** A field of requests only. */
export const secretField = {
  type: 'string',
  minLength: 16,
  maxLength: 512,
  pattern: '^[!-~]+$',
  'x-pattern-detail': 'must have only visible ASCII characters',
  'x-type-detail': 'must be the secret as a string, or absent to keep the stored one',
  description:
    'The secret that the tool verifies tokens with. Stored encrypted and never returned; if absent, the stored one is kept.',
} as const;

/** The members of a stored integration. */
export function integrationText(members: ReadonlyMap<string, JsonText>): JsonText {
  return objectText(
    Object.entries(integrationFields).map(([name, schema]) => {
      const fallback = 'default' in schema ? jsonText(schema.default) : NULL;
      return [name, members.get(name) ?? fallback];
    }),
  );
}

/** `body` has valid fields. */
export function storedIntegration({ body }: Pick<Document, 'body'>): Integration {
  const { members } = parseTree(body) as JsonObject;
  const { type, ttl_seconds, settings, unrestricted } = JSON.parse(body) as SchemaMembers<
    typeof integrationFields,
    'type'
  >;
  const claims = members.get('"claims"') as JsonObject;
  return {
    type,
    ttlSeconds: ttl_seconds,
    settings,
    settingsTree: (members.get('"settings"') as JsonObject).members,
    claims: [...claims.members].map(([key, tree]) => {
      const name = decodeString(key);
      return { name, path: ['claims', name], template: parseTemplate(tree) };
    }),
    isUnrestricted: unrestricted,
  };
}

export function violation(path: readonly (string | number)[], detail: string): Violation {
  return { pointer: jsonPointer(path), detail };
}

/** A property may only leave if `settings.properties` lists it; an empty constant restricts nothing. */
export function templateViolations(
  templates: readonly PlacedTemplate[],
  properties: readonly string[],
): Violation[] {
  return templates.flatMap(({ path, template }) => {
    if (template.source === 'property' && !properties.includes(template.name))
      return violation([...path, 'property'], 'must be listed in settings.properties');
    if (template.source === 'constant' && isEmpty(template.value))
      return violation([...path, 'constant'], 'must not be null or empty: tools read that as no restriction');
    return [];
  });
}

export function claimMissing(violations: readonly Violation[]): Problem {
  const { errors, texts } = listViolations(violations, ({ pointer }) => pointer.slice(1));
  return new Problem('claim_missing', `The user group lacks ${texts.join(', ')}. No token was minted.`, {
    errors,
  });
}

export function claimInvalid(violations: readonly Violation[]): Problem {
  const describe = ({ pointer, detail }: Violation) => `${pointer.slice(1)} ${detail}`.trim();
  const { errors, texts } = listViolations(violations, describe);
  return new Problem('claim_invalid', `${texts.join('; ')}. No token was minted.`, { errors });
}
