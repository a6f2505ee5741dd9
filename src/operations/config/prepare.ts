// Converts a sent entry of each section to its stored form, with the same checks as the call for a single
// entry.

import type { Caller } from '../../domain/api-token.ts';
import { readDataSourceId } from '../../domain/catalogue/catalogue.ts';
import { configSection, type configSections, type SectionName } from '../../domain/config/config.ts';
import type { Document, DocumentKey } from '../../domain/document.ts';
import { integrationDefinition } from '../../domain/integration.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { BodyType } from '../../domain/request-body.ts';
import type { SealedSecret, Secret } from '../../domain/secret.ts';
import { digestToken, sameDigest } from '../../domain/token.ts';
import { webhookEndpointText } from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { dataSourceText, schemaText } from '../catalogue/catalogue.ts';
import type { Context } from '../context.ts';
import { type DocumentContext, openSecret } from '../document/document.ts';
import { sealedSecret } from '../integration/integration.ts';
import { mappingPolicyText } from '../mapping-policy/put.ts';
import { propertySchemaText, refuseUnusableSchema } from '../property-schema/put.ts';
import { newSecrets, refuseAddress } from '../webhook-endpoint/webhook-endpoint.ts';

export type ConfigContext = DocumentContext &
  Pick<Context, 'cpu' | 'signatures' | 'propertyValidator' | 'allowsPrivateWebhooks'>;

export interface Prepared {
  /** The body of the document. */
  text: JsonText;
  /** Returns the body with the number that a new data source gets when it is stored. */
  numbered?: (number: number) => JsonText;
  /** undefined keeps the stored secret. */
  secret?: SealedSecret | null | undefined;
}

export interface Target {
  context: ConfigContext;
  caller: Caller;
  key: DocumentKey;
  stored: Document | null;
}

type BodyOf<Name extends SectionName> =
  (typeof configSections)[Name]['body'] extends BodyType<infer Body> ? Body : never;

/** Placeholder for the number of a data source in a plan that creates it. */
const NO_NUMBER = 0;

/** Checks a sent entry beyond its own fields. Throws `invalid_request`. */
const preparations: {
  [Name in SectionName]: (target: Target, body: BodyOf<Name>) => Prepared | Promise<Prepared>;
} = {
  schemas: (_target, body) => ({ text: schemaText(body) }),
  data_sources: ({ stored }, body) => {
    if (stored !== null) return { text: dataSourceText(body, readDataSourceId(stored)) };
    const numbered = (number: number) => dataSourceText(body, number);
    return { text: numbered(NO_NUMBER), numbered };
  },
  mapping_policy: (_target, body) => ({ text: mappingPolicyText(body) }),
  property_schema: async ({ context, caller, stored }, body) => {
    const text = propertySchemaText(body);
    if (stored?.body !== text) await refuseUnusableSchema(context, caller, body);
    return { text };
  },
  integrations: ({ context, key, stored }, body) =>
    isStored(context, stored, body.secret)
      ? { text: body.text }
      : { text: body.text, secret: sealedSecret(context, key, body, stored) },
  webhook_endpoints: ({ context, key, stored }, body) => {
    refuseAddress(context, body);
    const text = webhookEndpointText(body);
    return stored === null ? { text, secret: newSecrets(context, key).sealed } : { text };
  },
};

function isStored(context: ConfigContext, stored: Document | null, secret: Secret | null): boolean {
  if (secret === null || stored === null || stored.secret === null) return false;
  const current = openSecret(context, stored, integrationDefinition.noun);
  return sameDigest(digestToken(current.reveal()), digestToken(secret.reveal()));
}

/** Throws `invalid_request`. */
export async function prepareEntry(section: SectionName, target: Target, entry: JsonText): Promise<Prepared> {
  const prepare = preparations[section] as (target: Target, body: unknown) => Prepared | Promise<Prepared>;
  return prepare(target, configSection(section).body.read(Buffer.from(entry)));
}
