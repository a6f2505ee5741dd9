// Data sources that the mapping of a user group leads to, and why. A dangling reference is an error, never a
// default.

import { type DataSource, parseMapping, type UnresolvedReason } from '../../domain/catalogue/catalogue.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { schemaLink } from '../catalogue/data-source.ts';
import { absent, badge, type Html, html, type Insertion, identifier, table } from '../markup/html.ts';

const REASONS: Record<UnresolvedReason, string> = {
  missing: 'does not exist',
  other_schema: 'belongs to another schema',
  reserved: 'is reserved for another user group',
};

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
  const schema = (id: string) => (config.ofKind('schema').has(id) ? schemaLink(id) : identifier(id));
  const mapped = new Set(Object.keys(parseMapping(userGroup.mapping)));
  const row = (schemaId: string, cells: readonly Insertion[]) => [
    schema(schemaId),
    ...cells,
    mapped.has(schemaId) ? 'mapping' : 'default',
  ];
  const rows = [
    ...effective.unresolved.map(({ schemaId, reference, reason }) =>
      row(schemaId, [
        html`${identifier(String(reference))} ${badge('bad', 'error')} ${REASONS[reason]}: the dashboard shows an error`,
        '',
      ]),
    ),
    ...catalogue
      .unmapped(effective)
      .map((schemaId) => [schema(schemaId), badge('bad', 'no data source'), '', absent('nothing')]),
    ...[...effective.dataSources].map(([schemaId, dataSource]) => row(schemaId, renderCells(dataSource))),
  ];
  return table('Data sources', ['Schema', 'Data source', column, 'From'], rows, 'No schema is mapped.');
}
