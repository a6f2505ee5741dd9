import type { Caller } from '../../domain/api-token.ts';
import type { Document, DocumentKey } from '../../domain/document.ts';
import { integrationSignature } from '../../domain/embed-token/embed-token.ts';
import {
  type Integration,
  type IntegrationBody,
  integrationDefinition,
  storedIntegration,
} from '../../domain/integration.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { SealedSecret } from '../../domain/secret.ts';
import type { Context } from '../context.ts';
import {
  type DocumentContext,
  documentKey,
  documentNotFound,
  putDocument,
  type StoredDocument,
} from '../document/document.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';
import { oncePer } from '../machinery/once-per.ts';
import { ensureKeySet } from '../signing-key/key-set.ts';

const definition = integrationDefinition;
/** A document never changes: each version is a new document. */
const parsedIntegration = oncePer(storedIntegration);

export interface FoundIntegration {
  document: Document;
  integration: Integration;
}

/** Throws `not_found`. */
export function findIntegration(config: EnvironmentConfig, id: string): FoundIntegration {
  const document = config.ofKind(definition.kind).get(id);
  if (document === undefined) throw documentNotFound(definition);
  return { document, integration: parsedIntegration(document) };
}

/**
 * Creates or replaces an integration. Without a secret, an integration of the same type keeps its own. Throws
 * `invalid_request` if it has none and needs one, `version_mismatch` and `limit_reached`.
 */
export async function putIntegration(
  context: DocumentContext & Pick<Context, 'signatures'>,
  caller: Caller,
  id: string,
  body: IntegrationBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const key = documentKey(caller, definition, id);
  if (integrationSignature(body.integration) !== 'secret') await ensureKeySet(context, caller);
  const replacement = (stored: Document | null) => ({
    body: body.text,
    secret: sealedSecret(context, key, body, stored),
  });
  return putDocument(context, caller, definition, id, replacement, precondition);
}

/**
 * Returns the secret to store: null if a key of the service signs the tokens, undefined to keep the stored
 * secret. Throws `invalid_request` without a stored secret to keep.
 */
export function sealedSecret(
  { keyRing }: Pick<DocumentContext, 'keyRing'>,
  key: DocumentKey,
  { integration, secret }: IntegrationBody,
  stored: Document | null,
): SealedSecret | null | undefined {
  if (integrationSignature(integration) !== 'secret') return null;
  if (secret !== null) return keyRing.seal(secret, key);
  if (stored !== null && stored.secret !== null && storedIntegration(stored).type === integration.type)
    return undefined;
  throw invalidField('/secret', `is required for a new integration of the type ${integration.type}`);
}
