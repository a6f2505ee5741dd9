// Data sources that the mapping of a user group leads to, and why. A dangling reference is an error, never a
// default.

import { type DataSource, parseMapping, type UnresolvedReason } from '../../domain/catalogue/catalogue.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { dataSourceLink, schemaLink, schemaName } from '../catalogue/data-source.ts';
import {
  absent,
  badge,
  bdi,
  type Html,
  html,
  type Insertion,
  identifier,
  link,
  NO_HTML,
  pathTo,
  table,
} from '../markup/html.ts';
import { PAGE_SIZE } from '../markup/pagination.ts';

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

interface Columns {
  /** Heading of the last cell. */
  last: string;
  /** Returns the two cells after the schema. */
  cells(dataSource: DataSource): readonly [dataSource: Insertion, last: Insertion];
}

export const NAME_COLUMNS: Columns = {
  last: 'Name',
  cells: ({ providedId, name }) => [dataSourceLink(providedId), name],
};

export interface Row {
  schemaId: string;
  isMapped: boolean;
  /** Null if dashboards show an error, or have no data source. */
  dataSource: DataSource | null;
  /** The cells between the schema and "From" if `dataSource` is null. */
  wrong: readonly Insertion[];
  from: Insertion;
}

/** Returns a row for each schema of the catalogue and of the mapping, those without a data source first. */
export function rowsOf({ catalogue }: EnvironmentConfig, userGroup: UserGroup): Row[] {
  const effective = catalogue.effective(userGroup);
  const mapped = new Set(Object.keys(parseMapping(userGroup.mapping)));
  const row = (schemaId: string, dataSource: DataSource | null, wrong: readonly Insertion[] = []): Row => {
    const isMapped = mapped.has(schemaId);
    return { schemaId, isMapped, dataSource, wrong, from: isMapped ? 'mapping' : 'default' };
  };
  return [
    ...effective.unresolved.map(({ schemaId, reference, reason }) =>
      row(schemaId, null, [
        html`${identifier(String(reference))} ${badge('bad', 'error')} ${REASONS[reason]}: the dashboard shows an error`,
        '',
      ]),
    ),
    ...catalogue.unmapped(effective).map((schemaId) => ({
      ...row(schemaId, null, [badge('bad', 'no data source'), '']),
      from: absent('nothing'),
    })),
    ...Array.from(effective.dataSources, ([schemaId, dataSource]) => row(schemaId, dataSource)),
  ];
}

export function rowTable(
  config: EnvironmentConfig,
  { last, cells }: Columns,
  rows: readonly Row[],
  caption = 'Data sources',
): Html {
  // A mapping may refer to a schema that does not exist.
  const schema = (id: string) => {
    if (!config.ofKind('schema').has(id)) return identifier(id);
    const name = schemaName(config, id);
    return name === id
      ? schemaLink(id)
      : html`${schemaLink(id)}<br><span class="none long">${bdi(name)}</span>`;
  };
  return table(
    caption,
    ['Schema', 'Data source', last, 'From'],
    rows.map(({ schemaId, dataSource, wrong, from }) => [
      schema(schemaId),
      ...(dataSource === null ? wrong : cells(dataSource)),
      from,
    ]),
    'No schema is mapped.',
  );
}

/** Shows a page of the schemas, and folds away those with their default if there are many. */
export function mappedDataSources(config: EnvironmentConfig, userGroup: UserGroup, columns: Columns): Html {
  const rows = rowsOf(config, userGroup);
  const left = byImportance(rows).slice(PAGE_SIZE);
  const isLeft = new Set(left);
  const shown = rows.filter((row) => !isLeft.has(row));
  const isFolded = ({ isMapped, dataSource }: Row) =>
    rows.length > MAX_UNFOLDED && !isMapped && dataSource !== null;
  const unfolded = shown.filter((row) => !isFolded(row));
  const folded = shown.filter(isFolded);
  return html`${rowTable(config, columns, unfolded)}
${foldedDefaults(folded.length, rowTable(config, columns, folded, 'Default data sources'))}
${left.length === 0 ? '' : leftText(userGroup, left)}`;
}

/** Neither many schemas without a data source nor a large mapping hides the other. */
function byImportance(rows: readonly Row[]): Row[] {
  const wrong = rows.filter(({ dataSource }) => dataSource === null);
  const found = rows.filter(({ dataSource }) => dataSource !== null);
  return [
    ...wrong.slice(0, PAGE_SIZE / 2),
    ...found.filter(({ isMapped }) => isMapped),
    ...wrong.slice(PAGE_SIZE / 2),
    ...found.filter(({ isMapped }) => !isMapped),
  ];
}

function leftText({ providedId }: UserGroup, left: readonly Row[]): Html {
  const wrong = left.filter(({ dataSource }) => dataSource === null).length;
  const which = wrong === 0 ? '' : `, ${wrong} of them without a data source`;
  const path = pathTo('user-groups', providedId, 'data-sources');
  return html`<p>And ${left.length} more ${left.length === 1 ? 'schema' : 'schemas'}${which}: ${link(path, 'All data sources of this user group')}</p>`;
}
