// Data sources that the mapping of a user group leads to: a dangling reference is an error, not a default.

import type { DataSource, EffectiveMapping } from '../../domain/catalogue.ts';
import { badge, type Html, html, type Insertion, table } from '../html.ts';

/** `cellsOf` returns the cells after that of the schema; `column` is the name of the last one. */
export function mappedDataSources(
  { dataSources, unresolved }: EffectiveMapping,
  column: string,
  cellsOf: (dataSource: DataSource) => readonly [dataSource: Insertion, last: Insertion],
): Html {
  const rows = [
    ...unresolved.map(({ schemaId, reference }) => [
      html`<code>${schemaId}</code>`,
      html`<code>${reference}</code>`,
      badge('bad', 'does not exist: the dashboard shows an error'),
    ]),
    ...[...dataSources].map(([schemaId, dataSource]) => [
      html`<code>${schemaId}</code>`,
      ...cellsOf(dataSource),
    ]),
  ];
  return table('Data sources', ['Schema', 'Data source', column], rows, 'No schema is mapped.');
}
