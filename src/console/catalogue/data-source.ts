import {
  type DataSource,
  parseDataSource,
  readDataSourceId,
  storedSchema,
} from '../../domain/catalogue/catalogue.ts';
import type { Document } from '../../domain/document.ts';
import type { CountedFigures } from '../../domain/figures.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { dataSources } from '../../http/endpoints/catalogue/data-source.ts';
import { countDataSourceUse } from '../../operations/catalogue/use.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { DocumentPages, Doubt } from '../document-pages.ts';
import { countedAt, countedFigures } from '../figures.ts';
import { areaField, nameField, textField } from '../form/fields.ts';
import { withSeparators } from '../markup/chart.ts';
import { type Html, html, idLink, joined, link, none, pathTo, userGroupLink } from '../markup/html.ts';
import { jsonBlock, membersOf } from '../markup/json.ts';
import { pageUrl } from '../markup/pagination.ts';
import { environmentConfig, type PageCall } from '../page.ts';
import { LIST_PATH } from '../user-group/search-form.ts';

export const DATA_SOURCES = ['catalogue', 'data-sources'] as const;

export const dataSourcePages = new DocumentPages({
  api: dataSources.kind,
  path: DATA_SOURCES,
  columns: ['Number', 'Schema', 'Name', 'Reserved for'],
  cells: (document) => {
    const { dataSourceId, schemaId, name, reservedFor } = parseDataSource(document);
    return [dataSourceId, schemaLink(schemaId), name, reservedFor === null ? '' : userGroupLink(reservedFor)];
  },
  idHint: 'Your own id. Mappings refer to the data source by it, or by its number.',
  initial: (query) => ({ schema_id: query.get('schema') ?? '' }),
  fields: (form) => html`${textField({
    ...form.field('schema_id'),
    hint: 'The id of the schema that it belongs to.',
    isRequired: true,
  })}
${nameField({ ...form.field('name'), hint: 'For people.' })}
${areaField({
  ...form.field('attributes'),
  placeholder: EXAMPLE,
  hint: 'A JSON object: what a dashboard server needs to connect, such as host, database, region and the name of a secret. Never a credential.',
})}
${textField({
  ...form.field('user_group_id'),
  hint: 'Empty: any user group can be mapped to it. With an id, every other user group that is mapped to it gets an error, and never this data.',
})}`,
  doubt: async (call, id, { schema_id: schemaId }) => {
    const config = await environmentConfig(call);
    const stored = config.ofKind('data_source').get(id);
    const isStored = stored !== undefined && parseDataSource(stored).schemaId === schemaId;
    if (isStored || config.ofKind('schema').has(schemaId)) return null;
    return new Doubt('/schema_id', 'is not the id of a schema: no mapping can use it yet');
  },
  rows: (document) => {
    const dataSource = parseDataSource(document);
    const { dataSourceId, schemaId, name, reservedFor } = dataSource;
    return [
      ['Number', html`<code>${dataSourceId}</code>`],
      ['Schema', schemaLink(schemaId)],
      ['Name', name],
      ['Attributes', jsonBlock(attributesOf(dataSource))],
      ['Reserved for', reservedFor === null ? none('Any user group.') : userGroupLink(reservedFor)],
    ];
  },
  more: used,
  countUse: async (document, call) => {
    const count = usersIn(await countedFigures(call), document);
    // Uses old figures too: a count now has a time limit, and finds fewer among many user groups.
    if (count > 0) return { count, isBounded: false };
    return countDataSourceUse(call.context, call.caller, document);
  },
  consequences: async (document, call) => {
    const { catalogue } = await environmentConfig(call);
    const { schemaIds } = catalogue.referencesTo(document.id);
    return html`<p>References to it are then dangling: dashboards report an error instead of the data of another data source. Its number is not used again.</p>
${await used(document, call)}
${schemaIds.length === 0 ? '' : html`<p>It is the default of: ${joined(schemaIds.map(schemaLink), ', ')}</p>`}`;
  },
});

const EXAMPLE = `{
  "host": "db-7.internal",
  "database": "acme",
  "secret_name": "prod/acme/orders"
}`;

export function attributesOf({ json }: DataSource): JsonText {
  return membersOf(json).get('attributes')!;
}

export function dataSourceLink(providedId: string): Html {
  return idLink(pathTo(...DATA_SOURCES, providedId), providedId);
}

/** Returns the name of a schema for people; its id if the schema does not exist. */
export function schemaName(config: EnvironmentConfig, schemaId: string): string {
  const document = config.ofKind('schema').get(schemaId);
  return document === undefined ? schemaId : storedSchema(document).name;
}

export function schemaLink(schemaId: string): Html {
  return idLink(pathTo('catalogue', 'schemas', schemaId), schemaId);
}

/** Shows how many user groups use the data source, by their mapping or as a default. */
async function used(document: Document, call: PageCall): Promise<Html> {
  const figures = await countedFigures(call);
  const count = usersIn(figures, document);
  const url = pageUrl(LIST_PATH, { data_source: document.id });
  const text =
    figures === null
      ? html`${link(url, 'User groups that use it')} <span class="hint">(being counted)</span>`
      : html`Used by ${link(url, `${withSeparators(count)} user ${count === 1 ? 'group' : 'groups'}`)}, including as a default, ${countedAt(figures)}`;
  return html`<p id="used-by">${text}</p>`;
}

function usersIn(figures: CountedFigures | null, document: Document): number {
  return figures?.dataSources[String(readDataSourceId(document))] ?? 0;
}
