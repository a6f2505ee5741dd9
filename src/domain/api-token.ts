// API tokens: the caller, its workspace and environment, and its permission.

import { timestampOrNull } from './instant.ts';
import { jsonText } from './json/json-tree.ts';
import type { JsonText } from './json/strict-json.ts';
import { type Tenant, tenantOf } from './tenant.ts';
import { digestToken, type TokenDigest } from './token.ts';

export const permissions = ['admin', 'read-write', 'read-only', 'resolve', 'embed'] as const;
export type Permission = (typeof permissions)[number];

/** A stored API token: its digest, never its text. Instants are milliseconds since 1970. */
export interface ApiToken extends Tenant {
  apiTokenId: number;
  permission: Permission;
  name: string | null;
  digest: TokenDigest;
  /** The text that the last rotation replaced; authenticates until `previousExpiresAt`. */
  previousDigest: TokenDigest | null;
  previousExpiresAt: number | null;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** Precise to the hour. */
  lastUsedAt: number | null;
}

/** An API token with the version of the configuration of its environment. */
export type FoundApiToken = ApiToken & { configVersion: number };

export type ApiTokenStatus = 'active' | 'expired' | 'revoked';

export function apiTokenStatus(token: ApiToken, now: number): ApiTokenStatus {
  if (token.revokedAt !== null) return 'revoked';
  return token.expiresAt !== null && token.expiresAt <= now ? 'expired' : 'active';
}

/** Instant until which the text that the last rotation replaced authenticates; null if none does. */
export function previousTextUntil(token: ApiToken, now: number): number | null {
  const { previousExpiresAt } = token;
  if (previousExpiresAt === null || previousExpiresAt <= now) return null;
  return apiTokenStatus(token, now) === 'active' ? previousExpiresAt : null;
}

const TEXT_TAG_LENGTH = 16;

/** Identifies the token's text, like a version. Not the digest, by which the token is found. */
export function apiTokenTextTag({ digest }: Pick<ApiToken, 'digest'>): string {
  return digestToken(digest).slice(0, TEXT_TAG_LENGTH);
}

/** Returns the fields of the event about its creation, without the digest. */
export function apiTokenFields({ name, permission, expiresAt }: ApiToken): Record<string, JsonText> {
  return {
    name: jsonText(name),
    permission: jsonText(permission),
    expires_at: jsonText(timestampOrNull(expiresAt)),
  };
}

/** The caller: the bearer of an API token, or the operator on the command line, without a token. */
export interface Caller extends Tenant {
  readonly permission: Permission;
  readonly apiTokenId: number | null;
  readonly name: string | null;
  /** Increases with every change of a document of the environment. null: not known yet. */
  readonly configVersion: number | null;
}

/** `admin` permits everything. */
export function isPermitted({ permission }: Caller, permissions: readonly Permission[]): boolean {
  return permission === 'admin' || permissions.includes(permission);
}

/** The caller of a command: the operator, who may do everything. */
export function operator(tenant: Tenant): Caller {
  return { ...tenantOf(tenant), permission: 'admin', apiTokenId: null, name: null, configVersion: null };
}
