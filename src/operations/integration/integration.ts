import type { Caller } from '../../domain/api-token.ts';
import type { Document } from '../../domain/document.ts';
import { signatureOf } from '../../domain/embed-token/mint.ts';
import {
  type Integration,
  type IntegrationBody,
  integrationDefinition,
  integrationOf,
} from '../../domain/integration.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { invalidField } from '../../domain/request-body.ts';
import {
  type DocumentContext,
  documentKey,
  documentNotFound,
  putDocument,
  type StoredDocument,
} from '../document/document.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';
import { ensureKeySet } from '../signing-key/key-set.ts';

const definition = integrationDefinition;
/** Documents never change: another version is another document. */
const parsed = new WeakMap<Document, Integration>();

export interface FoundIntegration {
  document: Document;
  integration: Integration;
}

/** Throws `not_found`. */
export function findIntegration(config: EnvironmentConfig, id: string): FoundIntegration {
  const document = config.ofKind(definition.kind).get(id);
  if (document === undefined) throw documentNotFound(definition);
  const integration = parsed.get(document) ?? integrationOf(document);
  parsed.set(document, integration);
  return { document, integration };
}

/**
 * Upsert. Without a secret, an integration of the same type keeps its own. Throws `invalid_request` if it has none and
 * needs one, `version_mismatch` and `limit_reached`.
 */
export async function putIntegration(
  context: DocumentContext,
  caller: Caller,
  id: string,
  { integration, text, secret }: IntegrationBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  if (signatureOf(integration) !== 'secret') {
    await ensureKeySet(context, caller);
    const fields = { body: text, secret: null, replacesSecret: true };
    return putDocument(context, caller, definition, id, fields, precondition);
  }
  if (secret !== null) {
    const sealed = context.keyRing.seal(secret, documentKey(caller, definition, id));
    const fields = { body: text, secret: sealed, replacesSecret: true };
    return putDocument(context, caller, definition, id, fields, precondition);
  }
  const { store, configs } = context;
  const stored = (await configs.of(store, caller)).ofKind(definition.kind).get(id);
  if (stored === undefined || stored.secret === null || integrationOf(stored).type !== integration.type) {
    throw invalidField('/secret', `is required for a new integration of the type ${integration.type}`);
  }
  // It must not be created again in between, without a secret.
  return putDocument(context, caller, definition, id, { body: text }, { ifMatch: '*', ...precondition });
}
