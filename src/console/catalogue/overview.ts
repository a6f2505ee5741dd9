import { isPermitted } from '../../domain/api-token.ts';
import { dataSourceDefinition, schemaDefinition } from '../../domain/catalogue.ts';
import type { DocumentDefinition } from '../../domain/document.ts';
import type { PolicyMode } from '../../domain/policy-mode.ts';
import { listDocuments } from '../../operations/document/document.ts';
import { documentList, newLink, newPath } from '../document-pages.ts';
import { badge, buttonTo, definitions, type Html, html, link, pathTo } from '../html.ts';
import { modeTexts } from '../mapping-policy/mapping-policy.ts';
import { notice } from '../notice.ts';
import { ADMINS, environmentConfig, type Page, type PageCall, READERS } from '../page.ts';
import { PAGE_SIZE } from '../pagination.ts';
import { DATA_SOURCES, dataSourceFields, dataSourceTable } from './data-source.ts';
import { SCHEMAS, schemaTable } from './schema.ts';

/** The start of both lists, and the rules about user groups. */
export const catalogueOverview: Page = {
  method: 'GET',
  path: '/catalogue',
  permissions: READERS,
  purpose: 'read the catalogue',
  handle: async (call) => {
    const isAdmin = isPermitted(call.caller, ADMINS);
    const { context, caller } = call;
    const first = { limit: PAGE_SIZE };
    const schemas = await listDocuments(context, caller, schemaDefinition, first);
    const dataSources = await listDocuments(context, caller, dataSourceDefinition, first);
    return {
      title: 'Catalogue',
      main: html`<h1>Catalogue</h1>
${notice(call.query, { saved: 'Saved.', deleted: 'Deleted.' })}
<p class="hint">What the mapping of a user group leads to: from a schema to a data source.</p>
${section('Schemas', SCHEMAS, schemaDefinition, isAdmin)}
${schemaTable(schemas.documents)}
${schemas.nextCursor === null ? '' : allOf(SCHEMAS, schemaDefinition)}
${section('Data sources', DATA_SOURCES, dataSourceDefinition, isAdmin)}
${dataSourceTable(dataSources.documents.map(dataSourceFields))}
${dataSources.nextCursor === null ? '' : allOf(DATA_SOURCES, dataSourceDefinition)}
<h2>Rules for user groups</h2>
${await rules(call, isAdmin)}`,
    };
  },
};

export const listSchemas = documentList({
  definition: schemaDefinition,
  path: SCHEMAS,
  readers: READERS,
  title: 'Schemas',
  table: schemaTable,
});

export const listDataSources = documentList({
  definition: dataSourceDefinition,
  path: DATA_SOURCES,
  readers: READERS,
  title: 'Data sources',
  table: (documents) => dataSourceTable(documents.map(dataSourceFields)),
});

/** The heading of a list, with the link to add to it. */
function section(
  title: string,
  path: readonly string[],
  definition: DocumentDefinition,
  isAdmin: boolean,
): Html {
  if (!isAdmin) return html`<h2>${title}</h2>`;
  return html`<div class="head"><h2>${title}</h2><div class="actions">${newLink(newPath(path), definition)}</div></div>`;
}

function allOf(path: readonly string[], { noun }: DocumentDefinition): Html {
  return html`<div class="actions">${buttonTo(pathTo(...path), `All ${noun}s`)}</div>`;
}

async function rules({ context, caller }: PageCall, isAdmin: boolean): Promise<Html> {
  const { mappingMode, propertySchema } = await environmentConfig({ context, caller });
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
    ['Mapping policy', html`${modeText(mappingMode)}${change}`],
    ['Property schema', html`${schema} · ${open}`],
  ]);
}

function modeText(mode: PolicyMode): Html {
  return html`${badge('neutral', mode)} ${modeTexts[mode]}`;
}
