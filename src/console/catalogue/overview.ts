import { isPermitted } from '../../domain/api-token.ts';
import { SINGLETON_ID } from '../../domain/document.ts';
import type { PolicyMode } from '../../domain/policy-mode.ts';
import { eventsAbout } from '../event/paths.ts';
import { modeTexts } from '../mapping-policy/mapping-policy.ts';
import { badge, definitions, type Html, html, link, pathTo } from '../markup/html.ts';
import { ADMINS, environmentConfig, type Page, type PageCall, READERS } from '../page.ts';
import { dataSourcePages } from './data-source.ts';
import { schemaPages } from './schema.ts';

/** Shows the start of both lists, and the rules for user groups. */
export const catalogueOverview: Page = {
  method: 'GET',
  path: '/catalogue',
  permissions: READERS,
  purpose: 'read the catalogue',
  handle: async (call) => ({
    title: 'Catalogue',
    main: html`<p class="hint">The mapping of a user group leads from schemas to data sources.</p>
${await schemaPages.section(call)}
${await dataSourcePages.section(call)}
<h2>Rules for user groups</h2>
${await rules(call)}`,
  }),
};

async function rules(call: PageCall): Promise<Html> {
  const { mappingMode, propertySchema } = await environmentConfig(call);
  const isAdmin = isPermitted(call.caller, ADMINS);
  const change = isAdmin
    ? html` · ${link(pathTo('catalogue', 'mapping-policy'), 'Change', 'the mapping policy')}`
    : '';
  const schema =
    propertySchema === null ? html`<span class="none">none</span>` : modeText(propertySchema.mode);
  const open = link(
    pathTo('catalogue', 'property-schema'),
    isAdmin ? 'Change' : 'Show',
    'the property schema',
  );
  return definitions([
    ['Mapping policy', html`${modeText(mappingMode)}${change} · ${eventsLink('mapping_policy')}`],
    ['Property schema', html`${schema} · ${open} · ${eventsLink('property_schema')}`],
  ]);
}

function eventsLink(type: 'mapping_policy' | 'property_schema'): Html {
  return link(eventsAbout({ type, id: SINGLETON_ID }), 'Events', `of the ${type.replace('_', ' ')}`);
}

function modeText(mode: PolicyMode): Html {
  return html`${badge('neutral', mode)} ${modeTexts[mode]}`;
}
