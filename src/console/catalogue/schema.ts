import { isPermitted } from '../../domain/api-token.ts';
import { type Reference, storedSchema } from '../../domain/catalogue/catalogue.ts';
import { schemas } from '../../http/endpoints/catalogue/schema.ts';
import { countSchemaUse } from '../../operations/catalogue/use.ts';
import { DocumentPages, Doubt, newPath } from '../document-pages.ts';
import { checkField, nameField, textField } from '../form/fields.ts';
import { type Form, numberMember, textMember } from '../form/form.ts';
import { absent, buttonTo, type Html, html, time } from '../markup/html.ts';
import { pageUrl } from '../markup/pagination.ts';
import { ADMINS, environmentConfig } from '../page.ts';
import { DATA_SOURCES, dataSourceLink, dataSourcePages } from './data-source.ts';

/** Maximum number of data sources on the page of a schema. */
const SHOWN = 50;

export const schemaPages = new DocumentPages({
  api: schemas.kind,
  path: ['catalogue', 'schemas'],
  columns: ['Name', 'Default data source', 'Updated'],
  cells: (document) => {
    const { name, default_data_source: reference } = storedSchema(document);
    return [name, defaultText(reference), time(document.updatedAt)];
  },
  idHint: 'The id that mappings use for the schema.',
  members: (form) => ({ default_data_source: defaultMember(form) }),
  typed: (document): Readonly<Record<string, string>> => {
    const { default_data_source: reference } = storedSchema(document);
    return typeof reference === 'number' ? { default_is_number: 'on' } : {};
  },
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
    const config = await environmentConfig(call);
    const dataSources = config.catalogue.ofSchema(id);
    const stored = config.ofKind('data_source');
    const shown = dataSources.slice(0, SHOWN).map(({ providedId }) => stored.get(providedId)!);
    const create = pageUrl(newPath(DATA_SOURCES), { schema: id });
    return html`<h2>Data sources of this schema</h2>
${await dataSourcePages.table(shown, call)}
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
