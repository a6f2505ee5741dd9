// Data sources that the mapping of a user group leads to, and why. A dangling reference is an error, never a
// default.

import { type DataSource, parseMapping, type UnresolvedReason } from '../../domain/catalogue/catalogue.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { schemaLink, schemaName } from '../catalogue/data-source.ts';
import {
  absent,
  badge,
  bdi,
  type Html,
  html,
  type Insertion,
  identifier,
  NO_HTML,
  table,
} from '../markup/html.ts';

const REASONS: Record<UnresolvedReason, string> = {
  missing: 'does not exist',
  other_schema: 'belongs to another schema',
  reserved: 'is reserved for another user group',
};

/** Maximum number of schemas before those with their default are folded away. */
export const MAX_UNFOLDED = 12;

/** Folds away what a page says of schemas with their default, if there are many schemas. */
export function foldedDefaults(count: number, content: Insertion): Html {
  if (count === 0) return NO_HTML;
  const schemas = count === 1 ? 'other schema, with its default' : 'other schemas, with their defaults';
  return html`<details><summary>${count} ${schemas}</summary>${content}</details>`;
}

/** `renderCells` returns the two cells after the schema; `column` is the heading of the second one. */
export function mappedDataSources(
  config: EnvironmentConfig,
  userGroup: UserGroup,
  column: string,
  renderCells: (dataSource: DataSource) => readonly [dataSource: Insertion, last: Insertion],
): Html {
  const { catalogue } = config;
  const effective = catalogue.effective(userGroup);
  // A mapping may refer to a schema that does not exist.
  const schema = (id: string) => {
    if (!config.ofKind('schema').has(id)) return identifier(id);
    const name = schemaName(config, id);
    return name === id
      ? schemaLink(id)
      : html`${schemaLink(id)}<br><span class="none long">${bdi(name)}</span>`;
  };
  const mapped = new Set(Object.keys(parseMapping(userGroup.mapping)));
  const row = (schemaId: string, cells: readonly Insertion[]) => [
    schema(schemaId),
    ...cells,
    mapped.has(schemaId) ? 'mapping' : 'default',
  ];
  const wrong = [
    ...effective.unresolved.map(({ schemaId, reference, reason }) =>
      row(schemaId, [
        html`${identifier(String(reference))} ${badge('bad', 'error')} ${REASONS[reason]}: the dashboard shows an error`,
        '',
      ]),
    ),
    ...catalogue
      .unmapped(effective)
      .map((schemaId) => [schema(schemaId), badge('bad', 'no data source'), '', absent('nothing')]),
  ];
  const found = [...effective.dataSources];
  const isLong = wrong.length + found.length > MAX_UNFOLDED;
  const isFolded = ([schemaId]: (typeof found)[number]) => isLong && !mapped.has(schemaId);
  const rowsOf = (entries: typeof found) =>
    entries.map(([schemaId, dataSource]) => row(schemaId, renderCells(dataSource)));
  const folded = rowsOf(found.filter(isFolded));
  const rows = [...wrong, ...rowsOf(found.filter((each) => !isFolded(each)))];
  const columns = ['Schema', 'Data source', column, 'From'];
  return html`${table('Data sources', columns, rows, 'No schema is mapped.')}
${foldedDefaults(folded.length, table('Default data sources', columns, folded))}`;
}
