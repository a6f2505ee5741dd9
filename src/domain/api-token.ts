// API tokens: who calls, for which workspace and environment, and what the call may do.

import type { TokenDigest } from './token.ts';
import type { Environment } from './user-group.ts';

export const permissions = ['read-write', 'read-only', 'resolve'] as const;
export type Permission = (typeof permissions)[number];

/** An API token as it is stored: its digest only, never its text. Instants are milliseconds since 1970. */
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

/** Who is asking, once the API token is found good. */
export type Caller = Pick<ApiToken, 'apiTokenId' | 'workspaceId' | 'environment' | 'permission'>;
