// Data sources that the mapping of a user group leads to, and why: a dangling reference is an error, not a default.

import type { Catalogue, DataSource, UnresolvedReason } from '../../domain/catalogue.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { badge, type Html, html, type Insertion, table } from '../html.ts';

const REASONS: Record<UnresolvedReason, string> = {
  missing: 'does not exist',
  other_schema: 'belongs to another schema',
  reserved: 'is reserved for another user group',
};

/** `renderCells` returns the cells after that of the schema; `column` is the name of the second one. */
export function mappedDataSources(
  catalogue: Catalogue,
  userGroup: UserGroup,
  column: string,
  renderCells: (dataSource: DataSource) => readonly [dataSource: Insertion, last: Insertion],
): Html {
  const effective = catalogue.effective(userGroup);
  const mapped = new Set(Object.keys(JSON.parse(userGroup.mapping ?? '{}') as object));
  const row = (schemaId: string, cells: readonly Insertion[]) => [
    html`<code>${schemaId}</code>`,
    ...cells,
    mapped.has(schemaId) ? 'mapping' : 'default',
  ];
  const rows = [
    ...effective.unresolved.map(({ schemaId, reference, reason }) =>
      row(schemaId, [
        html`<code>${reference}</code>`,
        badge('bad', `${REASONS[reason]}: the dashboard shows an error`),
      ]),
    ),
    ...catalogue
      .unmapped(effective)
      .map((schemaId) => [html`<code>${schemaId}</code>`, '', badge('bad', 'no data source'), 'nothing']),
    ...[...effective.dataSources].map(([schemaId, dataSource]) => row(schemaId, renderCells(dataSource))),
  ];
  return table('Data sources', ['Schema', 'Data source', column, 'From'], rows, 'No schema is mapped.');
}
