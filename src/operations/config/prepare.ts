// Converts a sent entry of each section to its stored form, with the same checks as the call for a single
// entry.

import { readDataSourceId } from '../../domain/catalogue/catalogue.ts';
import { configSection, type configSections, type SectionName } from '../../domain/config/config.ts';
import { isReservedId } from '../../domain/document.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { type BodyType, invalidField } from '../../domain/request-body.ts';
import { dataSourceText, NO_NUMBER, schemaText } from '../catalogue/catalogue.ts';
import type { Context } from '../context.ts';
import type { DocumentContext, NewDocument, Target } from '../document/document.ts';
import { prepareIntegration } from '../integration/integration.ts';
import { prepareMappingPolicy } from '../mapping-policy/put.ts';
import { preparePropertySchema } from '../property-schema/put.ts';
import { prepareWebhookEndpoint } from '../webhook-endpoint/webhook-endpoint.ts';

export type ConfigContext = DocumentContext &
  Pick<Context, 'cpu' | 'signatures' | 'propertyValidator' | 'allowsPrivateWebhooks'>;

export interface Prepared extends NewDocument {
  /** Returns the body with the number that a new data source gets when it is stored. */
  numbered?: (number: number) => JsonText;
}

export type ConfigTarget = Target<ConfigContext>;

type BodyOf<Name extends SectionName> =
  (typeof configSections)[Name]['body'] extends BodyType<infer Body> ? Body : never;

/** Checks a sent entry beyond its own fields. Throws `invalid_request`. */
const preparations: {
  [Name in SectionName]: (target: ConfigTarget, body: BodyOf<Name>) => Prepared | Promise<Prepared>;
} = {
  schemas: (_target, body) => ({ body: schemaText(body) }),
  data_sources: ({ stored }, body) => {
    if (stored !== null) return { body: dataSourceText(body, readDataSourceId(stored)) };
    const numbered = (number: number) => dataSourceText(body, number);
    return { body: numbered(NO_NUMBER), numbered };
  },
  mapping_policy: prepareMappingPolicy,
  property_schema: preparePropertySchema,
  integrations: prepareIntegration,
  webhook_endpoints: prepareWebhookEndpoint,
};

/** Throws `invalid_request`. */
export async function prepareEntry(
  section: SectionName,
  target: ConfigTarget,
  entry: JsonText,
): Promise<Prepared> {
  const { id } = target.key;
  if (target.stored === null && isReservedId(id))
    throw invalidField('', `is under an id that must not be ${id}`);
  const prepare = preparations[section] as (
    target: ConfigTarget,
    body: unknown,
  ) => Prepared | Promise<Prepared>;
  return prepare(target, configSection(section).body.read(Buffer.from(entry)));
}
