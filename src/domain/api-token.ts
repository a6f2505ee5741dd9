// API tokens: the caller, its workspace and environment, and its permission.

import type { TokenDigest } from './token.ts';
import type { Environment } from './user-group.ts';

export const permissions = ['read-write', 'read-only', 'resolve'] as const;
export type Permission = (typeof permissions)[number];

/** A stored API token: its digest, never its text. Instants are milliseconds since 1970. */
export interface ApiToken {
  apiTokenId: number;
  workspaceId: number;
  environment: Environment;
  permission: Permission;
  name: string | null;
  digest: TokenDigest;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
}

export type ApiTokenStatus = 'active' | 'expired' | 'revoked';

export function statusOf(token: ApiToken, now: number): ApiTokenStatus {
  if (token.revokedAt !== null) return 'revoked';
  return token.expiresAt !== null && token.expiresAt <= now ? 'expired' : 'active';
}

/** The bearer of a valid API token. */
export type Caller = Pick<ApiToken, 'apiTokenId' | 'workspaceId' | 'environment' | 'permission'>;
