import { isPermitted } from '../../domain/api-token.ts';
import { type Document, documentFields } from '../../domain/document.ts';
import { type PolicyMode, propertySchemaDefinition, SINGLETON_ID } from '../../domain/policy.ts';
import { propertySchemaBody } from '../../http/endpoints/property-schema/property-schema.ts';
import { singletonOf } from '../../http/singleton-endpoints.ts';
import { deleteDocument, documentNotFound } from '../../operations/document/document.ts';
import { putPropertySchema as put } from '../../operations/policy/policy.ts';
import type { Problem } from '../../problem.ts';
import { confirmationProblem, formProblem, preconditionOf, versionField } from '../document-version.ts';
import { actionForm, areaField, cancel, choiceField, submit } from '../fields.ts';
import { Form } from '../form.ts';
import { editableJson, jsonMember, readForm, textMember } from '../form-body.ts';
import { code, definitions, html, pathTo } from '../html.ts';
import { prettyJson } from '../json.ts';
import { modeChoices, modeTexts } from '../mapping-policy/mapping-policy.ts';
import { withNotice } from '../notice.ts';
import { ADMINS, type Page, type PageCall, READERS, type View } from '../page.ts';

const NOUN = propertySchemaDefinition.noun;
const PATH = pathTo('catalogue', 'property-schema');
const DELETE_PATH = pathTo('catalogue', 'property-schema', 'delete');

const shared = { path: '/catalogue/property-schema', permissions: ADMINS } as const;
const change = { ...shared, purpose: 'change the property schema' } as const;

/** A form for those who may change it. */
export const showPropertySchema: Page = {
  ...shared,
  method: 'GET',
  permissions: READERS,
  purpose: 'read the property schema',
  access: 'read',
  handle: async (call) => {
    const stored = await storedIn(call);
    if (!isPermitted(call.caller, ADMINS)) return readView(stored);
    return formView(call, stored, Form.of(stored === null ? EXAMPLE : typed(stored)));
  },
};

export const changePropertySchema: Page = {
  ...change,
  method: 'POST',
  access: 'write',
  handle: async ({ context, caller, form }) => {
    const body = await readForm(context, form, propertySchemaBody, () => ({
      schema: jsonMember(form, 'schema'),
      mode: textMember(form, 'mode'),
    }));
    await put(context, caller, body, preconditionOf(form));
    return { location: withNotice(pathTo('catalogue'), 'saved') };
  },
  retry: async (call, problem) => formView(call, await storedIn(call), call.form, problem),
};

export const confirmPropertySchemaDeletion: Page = {
  ...change,
  method: 'GET',
  path: '/catalogue/property-schema/delete',
  access: 'read',
  handle: (call) => deletionView(call),
};

export const deletePropertySchema: Page = {
  ...change,
  method: 'POST',
  path: '/catalogue/property-schema/delete',
  access: 'write',
  handle: async ({ context, caller, form }) => {
    await deleteDocument(context, caller, propertySchemaDefinition, SINGLETON_ID, preconditionOf(form));
    return { location: withNotice(pathTo('catalogue'), 'deleted') };
  },
  retry: (call, problem) => deletionView(call, problem),
};

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
  return singletonOf(context, caller, propertySchemaDefinition);
}

function typed(document: Document): { schema: string; mode: PolicyMode } {
  const { schema, mode } = documentFields(document);
  return { schema: editableJson(schema!), mode: JSON.parse(mode!) as PolicyMode };
}

function readView(stored: Document | null): View {
  const title = 'Property schema';
  if (stored === null) {
    return { title, main: html`<h1>${title}</h1><p class="none">None: properties are not checked.</p>` };
  }
  const { schema, mode } = documentFields(stored);
  const policyMode = JSON.parse(mode!) as PolicyMode;
  const modeText = `${policyMode}: ${modeTexts[policyMode]}`;
  return {
    title,
    main: html`<h1>${title}</h1>${definitions([['Mode', modeText]])}${code(prettyJson(schema!))}`,
  };
}

function formView(call: PageCall, stored: Document | null, form: Form, problem?: Problem): View {
  const title = 'Property schema';
  const fields = html`${areaField({
    name: 'schema',
    label: 'JSON Schema',
    value: form.text('schema'),
    hint: 'JSON Schema 2020-12 for the properties of user groups, at most 64 KiB. Patterns are regular expressions of ECMAScript without lookaround or backreferences, and $ref leads to a place in the schema.',
    rows: 18,
    problem,
  })}
${choiceField({ name: 'mode', label: 'Mode', value: form.text('mode'), choices: modeChoices, problem })}`;
  const deletion = stored === null ? '' : html`<a class="button" href="${DELETE_PATH}">Delete</a>`;
  return {
    title,
    main: html`<h1>${title}</h1>
${formProblem(NOUN, stored, problem)}
${stored === null ? html`<p>There is none: properties are not checked. This is an example.</p>` : ''}
<p>Stored properties are not changed: “user-group-service check” lists those that violate the schema.</p>
${actionForm(
  call.session,
  PATH,
  html`${versionField(stored, form, problem)}
${fields}
<div class="actions">${submit('Save')} ${cancel(pathTo('catalogue'))} ${deletion}</div>`,
)}`,
  };
}

async function deletionView(call: PageCall, problem?: Problem): Promise<View> {
  const stored = await storedIn(call);
  if (stored === null) throw documentNotFound(propertySchemaDefinition);
  const title = 'Delete the property schema?';
  return {
    title,
    main: html`<h1>${title}</h1>
${confirmationProblem(NOUN, problem)}
<p>Properties of user groups are then not checked, and have no form with fields in this console.</p>
${actionForm(
  call.session,
  DELETE_PATH,
  html`${versionField(stored, call.form, problem)}
<div class="actions">${submit('Delete', 'danger')} ${cancel(PATH)}</div>`,
)}`,
  };
}
