// What a dashboard server asks: whose token is this?

import type { ResolveBody } from '../domain/body.ts';
import { resolveToken } from '../operations/resolve.ts';
import type { Call } from './operation.ts';

export async function resolve({ context, caller, body }: Call<ResolveBody>): Promise<string> {
  const { userGroup, token } = await resolveToken(context, caller, body);
  const { teamId, providedId, name, properties, mapping, environment } = userGroup;
  const expiresAt = token.expiresAt === null ? 'null' : `"${new Date(token.expiresAt).toISOString()}"`;
  return (
    `{"success":1,"user_group":{"team_id":${teamId},"provided_id":${JSON.stringify(providedId)},` +
    `"name":${JSON.stringify(name)},"properties":${properties},"mapping":${mapping},` +
    `"api_environment_tag":"${environment}"},"token":{"status":"${token.status}","expires_at":${expiresAt}}}`
  );
}
