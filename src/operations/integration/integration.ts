import type { Document } from '../../domain/document.ts';
import { integrationSignature } from '../../domain/embed-token/embed-token.ts';
import {
  type Integration,
  type IntegrationBody,
  integrationDefinition,
  storedIntegration,
} from '../../domain/integration.ts';
import { TokenUnreadable } from '../../domain/key-ring.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { Secret } from '../../domain/secret.ts';
import { digestToken, sameDigest } from '../../domain/token.ts';
import type { Context } from '../context.ts';
import {
  type DocumentContext,
  documentNotFound,
  type NewDocument,
  putPrepared,
  type Target,
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

type IntegrationContext = DocumentContext & Pick<Context, 'signatures'>;

/**
 * Creates or replaces an integration. Without a secret, an integration of the same type keeps its own. Throws
 * `invalid_request` if it has none and needs one, `version_mismatch` and `limit_reached`.
 */
export const putIntegration = putPrepared(
  definition,
  async (target: Target<IntegrationContext>, body: IntegrationBody) => {
    const prepared = prepareIntegration(target, body);
    if (prepared.secret === null) await ensureKeySet(target.context, target.caller);
    return prepared;
  },
);

/**
 * The secret to store is null if a key of the service signs the tokens. Throws `invalid_request` without a stored secret
 * to keep.
 */
export function prepareIntegration(
  { context, key, stored }: Target<Pick<DocumentContext, 'keyRing'>>,
  { integration, text: body, secret }: IntegrationBody,
): NewDocument {
  if (integrationSignature(integration) !== 'secret') return { body, secret: null };
  if (secret !== null)
    return isStored(context, secret, stored) ? { body } : { body, secret: context.keyRing.seal(secret, key) };
  if (stored !== null && stored.secret !== null && storedIntegration(stored).type === integration.type)
    return { body };
  throw invalidField('/secret', `is required for a new integration of the type ${integration.type}`);
}

/** A stored secret that cannot be decrypted differs from any other: sending it again repairs the integration. */
function isStored(
  { keyRing }: Pick<DocumentContext, 'keyRing'>,
  secret: Secret,
  stored: Document | null,
): boolean {
  if (stored === null || stored.secret === null) return false;
  try {
    const current = keyRing.open(stored.secret, stored);
    return sameDigest(digestToken(current.reveal()), digestToken(secret.reveal()));
  } catch (error) {
    if (error instanceof TokenUnreadable) return false;
    throw error;
  }
}
