import { isPermitted } from '../../domain/api-token.ts';
import { type Reference, storedSchema } from '../../domain/catalogue/catalogue.ts';
import type { Document } from '../../domain/document.ts';
import { schemas } from '../../http/endpoints/catalogue/schema.ts';
import { countSchemaUse } from '../../operations/catalogue/use.ts';
import { DocumentPages, Doubt, newPath } from '../document-pages.ts';
import { checkField, nameField, textField } from '../form/fields.ts';
import { type Form, numberMember, textMember } from '../form/form.ts';
import { absent, buttonTo, type Html, html, idCell, pathTo, table, time } from '../markup/html.ts';
import { ADMINS, environmentConfig } from '../page.ts';
import { DATA_SOURCES, dataSourceLink, dataSourceTable } from './data-source.ts';

const SCHEMAS = ['catalogue', 'schemas'] as const;

/** Maximum number of data sources on the page of a schema. */
const SHOWN = 50;

export const schemaPages = new DocumentPages({
  api: schemas.kind,
  path: SCHEMAS,
  list: { title: 'Schemas', table: schemaTable },
  idHint: 'The id that mappings use for the schema.',
  members: (form) => ({
    name: textMember(form, 'name'),
    default_data_source: defaultMember(form),
  }),
  typed: (document) => {
    const { name, default_data_source: reference } = storedSchema(document);
    return {
      name,
      default_data_source: reference === null ? '' : String(reference),
      ...(typeof reference === 'number' && { default_is_number: 'on' }),
    };
  },
  initial: () => ({}),
  fields: (form) => html`${nameField({ ...form.field('name'), hint: 'For people.' })}
${textField({
  ...form.field('default_data_source'),
  hint: 'For user groups whose mapping has no entry for this schema. Empty: they have none.',
})}
${checkField({
  ...form.field('default_is_number'),
  label: 'This is the number of the data source, not your own id',
})}`,
  doubt: async (call, id, { default_data_source: reference = null }) => {
    const { catalogue } = await environmentConfig(call);
    if (reference === null || reference === catalogue.defaultOf(id)) return null;
    const dataSource = catalogue.find(reference);
    if (dataSource?.schemaId === id && dataSource.reservedFor === null) return null;
    return new Doubt(
      '/default_data_source',
      'is not a data source of this schema that all user groups may use: dashboards of those without an entry show an error',
    );
  },
  countUse: (document, { context, caller }) => countSchemaUse(context, caller, document),
  rows: (document) => {
    const { name, default_data_source: reference } = storedSchema(document);
    return [
      ['Name', name],
      ['Default data source', defaultText(reference)],
    ];
  },
  more: async ({ id }, call) => {
    const { catalogue } = await environmentConfig(call);
    const dataSources = catalogue.ofSchema(id);
    const create = `${newPath(DATA_SOURCES)}?${new URLSearchParams({ schema: id })}`;
    return html`<h2>Data sources of this schema</h2>
${dataSourceTable(dataSources.slice(0, SHOWN))}
${dataSources.length > SHOWN ? html`<p>And ${dataSources.length - SHOWN} more.</p>` : ''}
${isPermitted(call.caller, ADMINS) ? html`<p class="actions">${buttonTo(create, 'New data source')}</p>` : ''}`;
  },
  consequences: async ({ id }, call) => {
    const { catalogue } = await environmentConfig(call);
    const count = catalogue.ofSchema(id).length;
    return html`<p>Entries of mappings for this schema are then dangling references: dashboards that resolve them report an error, until a schema with this id exists again. The mappings themselves stay.</p>
${count === 0 ? '' : html`<p>${count} ${count === 1 ? 'data source belongs' : 'data sources belong'} to it, and ${count === 1 ? 'stays' : 'stay'}.</p>`}`;
  },
});

/** Links to the data source unless the default is its number: pages have the id of the caller. */
function defaultText(reference: Reference | null): Html {
  if (reference === null) return absent('none');
  return typeof reference === 'string' ? dataSourceLink(reference) : html`<code>${reference}</code>`;
}

function defaultMember(form: Form): string {
  const member = form.has('default_is_number') ? numberMember : textMember;
  return member(form, 'default_data_source') ?? 'null';
}

function schemaTable(documents: readonly Document[]): Html {
  return table(
    'Schemas',
    ['Id', 'Name', 'Default data source', 'Updated'],
    documents.map((document) => {
      const { name, default_data_source: reference } = storedSchema(document);
      return [
        idCell(pathTo(...SCHEMAS, document.id), document.id),
        name,
        defaultText(reference),
        time(document.updatedAt),
      ];
    }),
    'No schemas.',
  );
}
