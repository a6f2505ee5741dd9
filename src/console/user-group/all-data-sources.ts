// Data source of every schema for a user group: a page about something else shows only some of many.

import { schemaDefinition } from '../../domain/catalogue/catalogue.ts';
import { foldText } from '../../domain/fold-text.ts';
import { listDocuments } from '../../operations/document/document.ts';
import { idFilter, idPartIn } from '../document-pages.ts';
import { html, isolated, nameWithId, none, pathTo, titleWith } from '../markup/html.ts';
import { nextPage, pageQuery } from '../markup/pagination.ts';
import { type Page, READERS } from '../page.ts';
import { NAME_COLUMNS, type Row, rowsOf, rowTable } from './data-sources.ts';
import { groupInConfig, groupLine } from './group.ts';

/** Lists all schemas, page by page; on the first page, also those that only the mapping has. */
export const allDataSources: Page = {
  method: 'GET',
  path: '/user-groups/:user_group_id/data-sources',
  permissions: READERS,
  purpose: 'read user groups',
  handle: async (call) => {
    const { context, caller, query } = call;
    const { userGroup, config } = await groupInConfig(call);
    const idPart = idPartIn(query);
    const page = { ...pageQuery(query), idPart };
    const { documents, nextCursor } = await listDocuments(context, caller, schemaDefinition, page);
    const rows = new Map(rowsOf(config, userGroup).map((row) => [row.schemaId, row]));
    const part = foldText(idPart);
    const isMissing = ({ schemaId }: Row) =>
      !config.ofKind('schema').has(schemaId) && foldText(schemaId).includes(part);
    const missing = query.has('cursor') ? [] : [...rows.values()].filter(isMissing);
    const shown = [...missing, ...documents.flatMap(({ id }) => rows.get(id) ?? [])];
    const path = ['user-groups', userGroup.providedId, 'data-sources'];
    return {
      title: titleWith(
        `Data sources of ${nameWithId(userGroup.name, userGroup.providedId)}`,
        idPart === '' ? [] : [isolated(idPart)],
      ),
      heading: 'Data sources of a user group',
      main: html`${groupLine(userGroup)}
${idFilter(path, idPart, 'Schema id')}
${shown.length === 0 ? none('No schema.') : rowTable(config, NAME_COLUMNS, shown)}
${nextPage(pathTo(...path), nextCursor, Object.fromEntries(query))}`,
    };
  },
};
