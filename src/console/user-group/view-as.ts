// Preview of what a dashboard gets for the user group, and a test token.

import { sampleDashboard } from '../../demo/dashboard.ts';
import { isPermitted } from '../../domain/api-token.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { embedTokenBody } from '../../http/endpoints/embed-token/create.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import { httpStatus } from '../../http/response/problem.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import {
  type DecodedToken,
  mintTestToken,
  type Preview,
  viewAs,
} from '../../operations/user-group/view-as.ts';
import { Problem } from '../../problem.ts';
import { attributesOf, dataSourceLink } from '../catalogue/data-source.ts';
import { dashboardSection } from '../demo/dashboard.ts';
import { actionForm, hidden, submit } from '../form/fields.ts';
import { readForm } from '../form/form.ts';
import { integrationLink } from '../integration/integration.ts';
import {
  alert,
  badge,
  bdi,
  definitions,
  type Html,
  html,
  link,
  nameWithId,
  none,
  pathTo,
  pointerText,
  table,
  time,
  userGroupLink,
} from '../markup/html.ts';
import { jsonBlock, jsonText, membersOf } from '../markup/json.ts';
import { shownOnce } from '../markup/shown-once.ts';
import { type Page, type PageCall, READERS, type View, WRITERS } from '../page.ts';
import type { Session } from '../session/session.ts';
import { mappedDataSources } from './data-sources.ts';
import { verdict } from './verdict.ts';

const PATH = '/user-groups/:user_group_id/view-as';

export const view: Page = {
  method: 'GET',
  path: PATH,
  permissions: READERS,
  purpose: 'read user groups',
  handle: preparePage,
};

export const mintTest: Page = {
  method: 'POST',
  path: PATH,
  permissions: WRITERS,
  purpose: 'mint embed tokens',
  access: 'read',
  handle: async ({ context, caller, form, request }) => {
    const userGroupId = userGroupIdParameter(request);
    const { integration, resource } = await readForm(context, form, embedTokenBody, () => ({
      user_group_id: JSON.stringify(userGroupId),
    }));
    const minted = await mintTestToken(context, caller, { integration, userGroupId, resource });
    const { token, url, expiresAt } = minted;
    return {
      title: `Test token of ${integration}`,
      main: html`<p>A token for the user group <code>${userGroupId}</code>. It works until ${time(expiresAt)}, and is shown only here.</p>
${url === null ? shownOnce('Token', token) : shownOnce('URL with the token', url)}
<h2>Claims</h2>
${claims(minted)}
<p class="actions">${link(pathTo('user-groups', userGroupId, 'view-as'), 'Back')}</p>`,
    };
  },
  onRejection: preparePage,
};

async function preparePage(call: PageCall, problem?: Problem): Promise<View> {
  const { context, caller, request, demoDirectory } = call;
  const viewed = await viewAs(context, caller, userGroupIdParameter(request));
  const { userGroup, config, effective, previews } = viewed;
  const { name, providedId, suspendedAt } = userGroup;
  const dashboard = sampleDashboard(demoDirectory, userGroup, effective);
  const told = html`<section aria-labelledby="data-sources"><h2 id="data-sources">Data sources</h2>
${dataSources(userGroup, config)}</section>
<section aria-labelledby="variables"><h2 id="variables">Variables</h2>
${variables(userGroup)}</section>
<section aria-labelledby="embed-tokens"><h2 id="embed-tokens">Embed tokens</h2>
${embedTokens(userGroup, previews, call)}</section>`;
  return {
    title: `View as ${nameWithId(name, providedId)}`,
    heading: `View as ${name}`,
    main: html`${problem === undefined ? '' : alert(problem.message)}
${await verdict(call, userGroup, config)}
<p class="hint">What a dashboard server gets when it resolves the token of ${userGroupLink(providedId)}, and what every integration would mint. Viewing this page is not recorded as a use of the token.</p>
${suspendedAt === null ? '' : SUSPENDED}
${dashboard === null ? told : html`<div class="beside">${dashboardSection(userGroup, dashboard)}<div>${told}</div></div>`}`,
  };
}

const SUSPENDED = html`<div class="problem"><p>This user group is suspended: its token resolves to nothing, and nothing is minted for it. Below is what is stored.</p></div>`;

/** Shows the data sources as resolve returns them. */
function dataSources(userGroup: UserGroup, config: EnvironmentConfig): Html {
  const { mapping } = userGroup;
  if (config.catalogue.isEmpty)
    return html`<p class="hint">There is no catalogue: dashboards get the mapping as it is stored.</p>
${mapping === null ? none('No mapping.') : jsonBlock(mapping)}`;
  return mappedDataSources(config, userGroup, {
    last: 'Attributes',
    cells: (dataSource) => [
      html`${dataSourceLink(dataSource.providedId)}<br><span class="none long">${bdi(dataSource.name)}, number ${dataSource.dataSourceId}</span>`,
      html`<code>${jsonText(attributesOf(dataSource))}</code>`,
    ],
  });
}

/** Shows the first level of the properties. */
function variables({ properties }: UserGroup): Html {
  const members = membersOf(properties);
  if (members.size === 0) return none('No properties.');
  const rows = Array.from(members, ([name, value]) => [
    html`<code>${name}</code>`,
    html`<code>${jsonText(value)}</code>`,
    typeName(value),
  ]);
  return html`<p class="hint">The properties, for queries to bind as parameters: never as text within SQL.</p>
${table('Variables', ['Name', 'Value', 'Type'], rows)}`;
}

function typeName(text: JsonText): string {
  if (text[0] === '{') return 'object';
  if (text[0] === '[') return 'list';
  if (text[0] === '"') return 'text';
  if (text === 'null') return 'null';
  return text === 'true' || text === 'false' ? 'boolean' : 'number';
}

function embedTokens(userGroup: UserGroup, previews: readonly Preview[] | null, call: PageCall): Html {
  if (previews === null)
    return html`<p class="none">None. The API responds with 404 <code>user_group_not_found</code>.</p>`;
  if (previews.length === 0) return none('No integrations.');
  return html`${previews.map((preview) => integrationView(userGroup, preview, call))}`;
}

function integrationView(userGroup: UserGroup, preview: Preview, { caller, session }: PageCall): Html {
  const { integrationId, integration, outcome } = preview;
  const [resource = null] = preview.resources;
  const title = html`<h3>${integrationLink(caller, integrationId)} ${badge('neutral', integration.type)}</h3>`;
  if (outcome instanceof Problem) return html`${title}${refusal(outcome)}`;
  return html`${title}
<p class="hint">Valid for ${integration.ttlSeconds} seconds${resource === null ? '' : html`, for the resource <code>${resource}</code>`}. Times and ids differ in every token.</p>
${claims(outcome)}
${isPermitted(caller, WRITERS) ? mintForm(userGroup, preview, session) : ''}`;
}

function refusal(problem: Problem): Html {
  return html`<div class="problem"><p>Nothing is minted: ${httpStatus(problem)} <code>${problem.code}</code></p>
${
  problem.errors.length === 0
    ? html`<p>${problem.message}</p>`
    : definitions(problem.errors.map(({ pointer, detail }) => [pointerText(pointer), detail]))
}</div>`;
}

function claims({ header, payload }: DecodedToken): Html {
  return html`${jsonBlock(payload)}
<details><summary>Header</summary>${jsonBlock(header)}</details>`;
}

function mintForm({ providedId }: UserGroup, { integrationId, resources }: Preview, session: Session): Html {
  const content = html`${hidden('integration', integrationId)}
${resources.length > 1 ? resourceField(resources) : ''}
${submit('Mint a one-minute test token', 'plain', `of ${integrationId}`)}`;
  return actionForm(session, pathTo('user-groups', providedId, 'view-as'), content);
}

/** A choice without an id, because the page has one for every integration. */
function resourceField(resources: readonly JsonText[]): Html {
  const options = resources.map((resource) => html`<option value="${resource}">${resource}</option>`);
  return html`<div class="field"><label>Resource <select name="resource">${options}</select></label></div>`;
}
