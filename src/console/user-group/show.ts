import type { EffectiveMapping } from '../../domain/catalogue.ts';
import type { UserGroup } from '../../domain/user-group.ts';
import { userGroupIdOf } from '../../http/path-parameter.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { badge, code, definitions, html, link, pathTo, table, time } from '../html.ts';
import { prettyJson } from '../json.ts';
import { type Page, READERS } from '../page.ts';

export const show: Page = {
  method: 'GET',
  path: '/user-groups/:user_group_id',
  permissions: READERS,
  purpose: 'read user groups',
  access: 'read',
  handle: async ({ context, caller, request }) => {
    const userGroup = await findUserGroup(context, caller, userGroupIdOf(request));
    const { catalogue } = await context.configs.of(context.store, caller);
    return {
      title: userGroup.name,
      main: html`<h1>${userGroup.name}</h1>
!${identity(userGroup)}
<p class="actions">!${link(pathTo('user-groups', userGroup.providedId, 'view-as'), 'View as this user group')}</p>
<h2>Data sources</h2>
!${dataSources(userGroup, catalogue.isEmpty ? null : catalogue.effective(userGroup.mapping))}
<h2>Properties</h2>
!${userGroup.properties === null ? html`<p class="none">No properties.</p>` : code(prettyJson(userGroup.properties))}`,
    };
  },
};

function identity(userGroup: UserGroup): string {
  const { providedId, teamId, version, suspendedAt, lastSeenAt, createdAt, updatedAt } = userGroup;
  return definitions([
    ['Id', html`<code>${providedId}</code>`],
    [
      'Status',
      suspendedAt === null
        ? badge('good', 'active')
        : html`!${badge('bad', 'suspended')} since !${time(suspendedAt)}`,
    ],
    ['Last seen', time(lastSeenAt)],
    ['Created', time(createdAt)],
    ['Updated', html`!${time(updatedAt)} (version ${version})`],
    ['Team id', html`${teamId}`],
  ]);
}

/** What its dashboards read: a reference that leads nowhere is an error, not a default. */
function dataSources(userGroup: UserGroup, effective: EffectiveMapping | null): string {
  if (effective === null) {
    return userGroup.mapping === null
      ? html`<p class="none">No mapping.</p>`
      : html`<p class="hint">There is no catalogue: this is the mapping as the API returns it.</p>!${code(prettyJson(userGroup.mapping))}`;
  }
  const rows = [...effective.dataSources].map(([schemaId, { providedId, json }]) => [
    html`<code>${schemaId}</code>`,
    link(pathTo('catalogue', 'data-sources', providedId), providedId),
    html`${(JSON.parse(json) as { name: string }).name}`,
  ]);
  const unresolved = effective.unresolved.map(({ schemaId, reference }) => [
    html`<code>${schemaId}</code>`,
    html`<code>${reference}</code>`,
    badge('bad', 'does not exist: the dashboard shows an error'),
  ]);
  if (rows.length + unresolved.length === 0) return html`<p class="none">No schema is mapped.</p>`;
  return table('Data sources', ['Schema', 'Data source', 'Name'], [...unresolved, ...rows]);
}
