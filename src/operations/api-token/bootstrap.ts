// API token whose text the operator sets: created at start as an admin token, so that a deployment needs no
// shell.

import { type ApiToken, apiTokenStatus, type FoundApiToken } from '../../domain/api-token.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Environment } from '../../domain/tenant.ts';
import { digestToken } from '../../domain/token.ts';
import type { Workspace } from '../../store/port.ts';
import type { EventContext } from '../event/event.ts';
import { findWorkspace } from '../workspace/workspace.ts';
import { ApiTokenTaken, createApiToken } from './api-token.ts';
import { authenticates } from './authenticate.ts';

interface BootstrapApiToken {
  token: Secret;
  workspaceName: string;
  environment: Environment;
}

/** Remedy for a refused text, as the end of a message. */
export const BOOTSTRAP_REMEDY = 'set another text ("api-token generate" prints one), or none';

/** The text belongs to an API token that is not an active admin token of the workspace and environment. */
export class BootstrapApiTokenUnusable extends Error {
  override readonly name = 'BootstrapApiTokenUnusable';
}

/**
 * Creates the API token unless it exists; if several processes start together, only one creates it. Throws
 * `BootstrapApiTokenUnusable`: a text that the operator revoked must not become valid again.
 */
export async function ensureBootstrapApiToken(
  context: EventContext,
  bootstrap: BootstrapApiToken,
): Promise<void> {
  const { token, ...place } = bootstrap;
  for (;;) {
    const found = await context.store.read({ kind: 'findApiToken', digest: digestToken(token.reveal()) });
    if (found !== null) return refuseUnusable(context, bootstrap, found);
    try {
      const fields = { ...place, permission: 'admin', name: 'bootstrap' } as const;
      await createApiToken(context, fields, { token });
      return;
    } catch (error) {
      // Another process created it in the meantime.
      if (!(error instanceof ApiTokenTaken)) throw error;
    }
  }
}

async function refuseUnusable(
  { store, clock }: EventContext,
  bootstrap: BootstrapApiToken,
  found: FoundApiToken,
): Promise<void> {
  const workspace = await findWorkspace(store, bootstrap.workspaceName);
  const reason = whyUnusable(found, bootstrap, workspace, clock());
  if (reason === null) return;
  throw new BootstrapApiTokenUnusable(
    `UGS_BOOTSTRAP_API_TOKEN is the text of API token ${found.apiTokenId}, which ${reason}; ${BOOTSTRAP_REMEDY}`,
  );
}

/**
 * Returns why the API token with this text is refused; null if it is not. `workspace` has the configured
 * name.
 */
export function whyUnusable(
  found: ApiToken,
  { token, environment }: Omit<BootstrapApiToken, 'workspaceName'>,
  workspace: Workspace | null,
  now: number,
): string | null {
  const status = apiTokenStatus(found, now);
  if (status !== 'active') return status === 'revoked' ? 'was revoked' : 'has expired';
  if (!authenticates(found, digestToken(token.reveal()), now)) return 'has another text since a rotation';
  if (found.permission !== 'admin') return `has the permission ${found.permission}`;
  const isInPlace = workspace?.workspaceId === found.workspaceId && environment === found.environment;
  return isInPlace ? null : 'is in another workspace or environment';
}
