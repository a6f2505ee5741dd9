import { isPermitted } from '../../domain/api-token.ts';
import { type Document, documentFields, SINGLETON_ID } from '../../domain/document.ts';
import {
  parsePropertySchema,
  propertySchemaDefinition,
} from '../../domain/property-schema/property-schema.ts';
import { propertySchemaBody } from '../../domain/property-schema/property-schema-body.ts';
import { deleteDocument, documentNotFound, findDocument } from '../../operations/document/document.ts';
import { putPropertySchema } from '../../operations/property-schema/put.ts';
import { areaField, choiceField } from '../form/fields.ts';
import { readForm, typedFields } from '../form/form.ts';
import { formPages } from '../form/form-pages.ts';
import { confirmation, documentVersion, editForm, preconditionIn } from '../form/version.ts';
import { modeChoices, modeTexts } from '../mapping-policy/mapping-policy.ts';
import { buttonTo, definitions, type Html, html, link, NO_HTML, none, pathTo } from '../markup/html.ts';
import { jsonBlock } from '../markup/json.ts';
import { pageUrl } from '../markup/pagination.ts';
import { ADMINS, type Page, type PageCall, READERS } from '../page.ts';
import { LIST_PATH } from '../user-group/search-form.ts';

const TITLE = 'Property schema';
const NOUN = propertySchemaDefinition.noun;

const shared = { path: '/catalogue/property-schema', permissions: ADMINS } as const;

const [form, action] = formPages({
  ...shared,
  purpose: 'change the property schema',
  initial: async (call) => {
    const stored = await storedIn(call);
    return stored === null ? { mode: EXAMPLE.mode } : typed(stored);
  },
  act: async ({ context, caller, form }) => {
    const body = await readForm(context, form, propertySchemaBody);
    await putPropertySchema(context, caller, SINGLETON_ID, body, preconditionIn(form));
    return { location: pathTo('catalogue'), notice: 'Saved.' };
  },
  view: async (call, form) => {
    const stored = await storedIn(call);
    const opened = { document: stored, typed: stored === null ? {} : typed(stored) };
    return editForm(form, NOUN, opened, {
      title: TITLE,
      text: html`${stored === null ? html`<p>There is none: properties are not checked. The field shows an example.</p>` : ''}
<p>Stored properties are not changed. ${link(pageUrl(LIST_PATH, { invalid: 'properties' }), 'User groups that violate the schema')}</p>`,
      fields: (shown) => html`${areaField({
        ...shown.field('schema'),
        placeholder: EXAMPLE.schema,
        hint: 'JSON Schema 2020-12 for the properties of user groups, at most 64 KiB. Patterns are ECMAScript regular expressions without lookaround or backreferences, and $ref refers to a place in the schema.',
        rows: 18,
      })}
${choiceField({ ...shown.field('mode'), choices: modeChoices })}`,
      more:
        stored === null
          ? NO_HTML
          : buttonTo(pathTo('catalogue', 'property-schema', 'delete'), 'Delete', 'danger'),
    });
  },
});

/** Shows the form to those who may change the schema, and the schema to others. */
const show: Page = {
  ...form,
  permissions: READERS,
  purpose: 'read the property schema',
  handle: async (call) =>
    isPermitted(call.caller, ADMINS)
      ? form.handle(call)
      : { title: TITLE, main: schemaText(await storedIn(call)) },
};

const deletion = formPages({
  path: `${shared.path}/delete`,
  permissions: ADMINS,
  purpose: 'change the property schema',
  act: async ({ context, caller, form }) => {
    await deleteDocument(context, caller, propertySchemaDefinition, SINGLETON_ID, preconditionIn(form));
    return { location: pathTo('catalogue'), notice: 'Deleted.' };
  },
  view: async (call, form) => {
    const stored = await storedIn(call);
    if (stored === null) throw documentNotFound(propertySchemaDefinition);
    return confirmation(form, NOUN, documentVersion(stored), {
      title: 'Delete the property schema?',
      text: html`<p>Properties of user groups are then no longer checked, and forms in this console no longer follow the schema.</p>`,
      button: 'Delete',
    });
  },
});

export const propertySchemaPages: readonly Page[] = [show, action, ...deletion];

const EXAMPLE = {
  schema: `{
  "type": "object",
  "properties": {
    "plan": { "enum": ["gold", "platinum"] },
    "seats": { "type": "integer", "minimum": 1 }
  },
  "required": ["plan"]
}`,
  mode: 'report',
};

function storedIn({ context, caller }: PageCall): Promise<Document | null> {
  return findDocument(context, caller, propertySchemaDefinition);
}

function typed(document: Document): Readonly<Record<string, string>> {
  return typedFields(propertySchemaBody, documentFields(document));
}

function schemaText(stored: Document | null): Html {
  if (stored === null) return none('None: properties are not checked.');
  const { schema, mode } = parsePropertySchema(stored);
  return html`${definitions([['Mode', `${mode}: ${modeTexts[mode]}`]])}${jsonBlock(schema)}`;
}
