// Mints a token for a tool, from an integration and the stored values of one user group.

import type { Caller } from '../../domain/api-token.ts';
import type { Document } from '../../domain/document.ts';
import {
  checkLength,
  embedTokenPayload,
  embedTokenType,
  integrationSignature,
  propertiesInTokens,
  refuseReserved,
  selectResource,
} from '../../domain/embed-token/embed-token.ts';
import { narrowed } from '../../domain/embed-token/narrow.ts';
import { GroupValues } from '../../domain/embed-token/template.ts';
import type { IntegrationType } from '../../domain/integration.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { Secret } from '../../domain/secret.ts';
import { signWithKey, signWithSecret } from '../../domain/signing-key/json-web-token.ts';
import { issuerUrl } from '../../domain/signing-key/key-set.ts';
import type { PresentedToken } from '../../domain/token.ts';
import { type UserGroup, valuesLength } from '../../domain/user-group/user-group.ts';
import type { Problem } from '../../problem.ts';
import type { Context } from '../context.ts';
import { openSecret } from '../document/document.ts';
import { type EnvironmentConfig, findInConfig } from '../document/environment-config.ts';
import { type FoundIntegration, findIntegration } from '../integration/integration.ts';
import { oncePer } from '../machinery/once-per.ts';
import { tokenNotFound, userGroupNotFound } from '../refusals.ts';
import { ensureKeySet, findSigner, keySetIn } from '../signing-key/key-set.ts';
import { identifyByToken } from '../user-group/resolve.ts';

export interface EmbedTokenBody {
  integration: string;
  /** User group, named by one of its tokens or by its id. */
  group: { token: PresentedToken } | { userGroupId: string };
  viewer: string | null;
  resource: JsonText | null;
  /** Values that replace properties; null for all stored values. */
  narrow: JsonText | null;
}

export interface EmbedToken {
  token: Secret;
  type: IntegrationType;
  /** Milliseconds since 1970. */
  expiresAt: number;
  url: Secret | null;
}

/** Inputs of a token. */
export interface TokenContent {
  config: EnvironmentConfig;
  found: FoundIntegration;
  /** Narrowed user group, if the token is narrowed. */
  userGroup: UserGroup;
  narrow: JsonText | null;
  viewer: string | null;
  /** Requested resource. */
  resource: JsonText | null;
  /** Latest expiry of the token, in milliseconds since 1970; null if only its integration limits it. */
  until: number | null;
}

/**
 * Mints a token. Throws `not_found` for the integration, `user_group_token_not_found`,
 * `user_group_not_found`, `invalid_request` for a resource that the integration does not allow, and
 * `claim_missing` or `claim_invalid` for values that the group lacks, that are invalid or that are not its
 * own.
 */
export async function mintEmbedToken(
  context: Context,
  caller: Caller,
  { integration: id, group, narrow, ...more }: EmbedTokenBody,
): Promise<EmbedToken> {
  const viewed = await findInConfig(context, caller, () => findViewed(context, caller, group));
  if (viewed === null) {
    // An unknown integration is reported first.
    findIntegration(await context.configs.of(context.store, caller), id);
    throw 'token' in group ? tokenNotFound() : notViewable();
  }
  const { config } = viewed;
  const { userGroup: stored, until } = viewed.found;
  const found = findIntegration(config, id);
  const userGroup =
    narrow === null ? stored : narrowed(stored, narrow, propertiesInTokens(found.integration));
  const token = await signEmbedToken(context, caller, { config, found, userGroup, narrow, until, ...more });
  context.usage.count(stored, 'embed_tokens', context.clock(), id);
  return token;
}

/**
 * How far the clock of a tool may be behind. Cube, jose and PyJWT reject an `iat` or `nbf` in the future: with a tenth of a
 * second, they would reject one new token in ten.
 */
const CLOCK_DIFFERENCE_SECONDS = 60;

/**
 * Signs a token. Throws `invalid_request` for the resource, `claim_missing` and `claim_invalid`, and
 * `user_group_token_not_found` if the token would already be expired.
 */
export async function signEmbedToken(
  context: Context,
  caller: Caller,
  { config, found, userGroup, narrow, viewer, resource: requested, until }: TokenContent,
): Promise<EmbedToken> {
  const { integration } = found;
  const turn = context.cpu.turn(valuesLength(userGroup));
  if (turn !== undefined) await turn;
  const now = Math.floor(context.clock() / 1_000);
  const expiresAt = Math.min(
    now + integration.ttlSeconds,
    until === null ? Infinity : Math.floor(until / 1_000),
  );
  // True in the last second of a grace period.
  if (expiresAt <= now) throw tokenNotFound();
  refuseReserved(integration, userGroup, config.catalogue);
  const values = new GroupValues(userGroup);
  const resource = selectResource(integration, requested, values);
  const { issuer, sign } = await signingOf(context, caller, config, found);
  const issuedAt = now - CLOCK_DIFFERENCE_SECONDS;
  const claims = { values, narrow, viewer, resource, issuer, issuedAt, expiresAt };
  const token = await sign(embedTokenPayload({ integration, ...claims }));
  checkLength(token);
  const url = resource && embedTokenType(integration).url?.(integration.settings, resource, token);
  return {
    token: new Secret(token),
    type: integration.type,
    expiresAt: expiresAt * 1_000,
    url: url ? new Secret(url) : null,
  };
}

interface Signing {
  issuer: string | null;
  sign: (payload: JsonText) => string | Promise<string>;
}

/** Returns how tokens of the integration are signed. Creates the key set of the environment if one is needed. */
async function signingOf(
  context: Context,
  caller: Caller,
  config: EnvironmentConfig,
  { document, integration }: FoundIntegration,
): Promise<Signing> {
  const signature = integrationSignature(integration);
  if (signature === 'secret') {
    const header = embedTokenType(integration).header?.(integration.settings);
    const sign = (payload: JsonText) => signWithSecret(payload, integrationSecret(document, context), header);
    return { issuer: null, sign };
  }
  const stored = keySetIn(config) ?? (await ensureKeySet(context, caller));
  const sign = (payload: JsonText) => {
    const key = findSigner(context, stored, signature);
    const signing = () => signWithKey(payload, key);
    // ES256 is fast enough to skip the queue.
    return signature === 'RS256' ? context.signatures.run(caller.workspaceId, signing) : signing();
  };
  return { issuer: issuerUrl(context.publicUrl, stored.keySet), sign };
}

/** Returns null for a token that does not resolve, and for a user group that is missing or suspended. */
async function findViewed(
  context: Context,
  caller: Caller,
  group: EmbedTokenBody['group'],
): Promise<Pick<TokenContent, 'userGroup' | 'until'> | null> {
  if ('token' in group) {
    const found = await identifyByToken(context, caller, group.token);
    return found && { userGroup: found.userGroup, until: found.token.expiresAt };
  }
  const userGroup = await findUnsuspended(context, caller, group.userGroupId);
  if (userGroup === null) return null;
  context.lastUse.resolved(userGroup, context.clock());
  return { userGroup, until: null };
}

/**
 * Returns the user group. Throws `user_group_not_found`, also for a suspended group: no token is minted for
 * it.
 */
export async function findViewable(
  context: Pick<Context, 'store'>,
  caller: Caller,
  userGroupId: string,
): Promise<UserGroup> {
  const userGroup = await findUnsuspended(context, caller, userGroupId);
  if (userGroup === null) throw notViewable();
  return userGroup;
}

async function findUnsuspended(
  { store }: Pick<Context, 'store'>,
  caller: Caller,
  userGroupId: string,
): Promise<UserGroup | null> {
  const userGroup = await store.read({ kind: 'findUserGroup', key: store.userGroupKey(caller, userGroupId) });
  return userGroup?.suspendedAt === null ? userGroup : null;
}

function notViewable(): Problem {
  return userGroupNotFound(' A suspended user group is treated alike.');
}

const integrationSecret = oncePer((document: Document, context: Pick<Context, 'keyRing'>) =>
  openSecret(context, document, 'integration'),
);
