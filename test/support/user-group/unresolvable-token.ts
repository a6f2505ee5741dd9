import type { EmbedSite } from '../embed-token/site.ts';

interface UnresolvableTokens {
  /** Token that resolves, but not for the callers below. */
  current: string;
  /** Tokens that do not resolve for any caller, by reason. The group `suspended` can be resumed. */
  dead: Record<'unknown' | 'replaced' | 'suspended' | 'deleted' | 'an API token', string>;
  /** API tokens for which no token of the site resolves. */
  callers: Record<'another workspace' | 'another environment', string>;
}

export async function unresolvableTokens(site: EmbedSite): Promise<UnresolvableTokens> {
  const { service } = site;
  const createGroup = (id: string) => site.createGroup({ user_group_id: id, name: 'Acme' });
  const replaced = await createGroup('refused');
  const suspended = await createGroup('suspended');
  await site.suspend('suspended');
  const deleted = await createGroup('deleted');
  await service.call('DELETE', '/v1/user-groups/deleted');
  return {
    current: (await service.post({ current_token: replaced })).json.user_group.token,
    dead: { unknown: 'unknown', replaced, suspended, deleted, 'an API token': service.token },
    callers: {
      'another workspace': (await service.apiToken({ workspaceName: 'other' })).token,
      'another environment': (await service.apiToken({ environment: 'Testing' })).token,
    },
  };
}
