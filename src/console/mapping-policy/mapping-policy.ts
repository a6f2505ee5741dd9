import { type Document, SINGLETON_ID } from '../../domain/document.ts';
import { mappingMode, mappingPolicyDefinition } from '../../domain/mapping-policy/mapping-policy.ts';
import { mappingPolicyBody } from '../../domain/mapping-policy/mapping-policy-body.ts';
import { type PolicyMode, policyModes } from '../../domain/policy-mode.ts';
import { findDocument } from '../../operations/document/document.ts';
import { putMappingPolicy } from '../../operations/mapping-policy/put.ts';
import { choiceField } from '../form/fields.ts';
import { readForm } from '../form/form.ts';
import { formPages } from '../form/form-pages.ts';
import { editForm, preconditionIn } from '../form/version.ts';
import { html, link, pathTo } from '../markup/html.ts';
import { pageUrl } from '../markup/pagination.ts';
import { ADMINS, type PageCall } from '../page.ts';
import { LIST_PATH } from '../user-group/search-form.ts';

export const mappingPolicyPages = formPages({
  path: '/catalogue/mapping-policy',
  permissions: ADMINS,
  purpose: 'change the mapping policy',
  initial: async (call) => ({ mode: mappingMode(await storedIn(call)) }),
  act: async ({ context, caller, form }) => {
    const body = await readForm(context, form, mappingPolicyBody);
    await putMappingPolicy(context, caller, SINGLETON_ID, body, preconditionIn(form));
    return { location: pathTo('catalogue'), notice: 'Saved.' };
  },
  view: async (call, form) => {
    const document = await storedIn(call);
    const stored = { document, typed: { mode: mappingMode(document) } };
    return editForm(form, mappingPolicyDefinition.noun, stored, {
      title: 'Mapping policy',
      text: html`<p>What happens when a user group is changed and its mapping refers to a schema or a data source that does not exist, or to a data source of another schema. Stored mappings are not changed. ${link(pageUrl(LIST_PATH, { invalid: 'mapping' }), 'User groups that violate it')}</p>`,
      fields: (shown) => choiceField({ ...shown.field('mode'), choices: modeChoices }),
    });
  },
});

function storedIn({ context, caller }: PageCall): Promise<Document | null> {
  return findDocument(context, caller, mappingPolicyDefinition);
}

export const modeTexts: Readonly<Record<PolicyMode, string>> = {
  off: 'not checked',
  report: 'changes are accepted, and the response names what is wrong',
  enforce: 'changes that violate it are rejected',
};

export const modeChoices = policyModes.map((mode) => [mode, `${mode}: ${modeTexts[mode]}`] as const);
