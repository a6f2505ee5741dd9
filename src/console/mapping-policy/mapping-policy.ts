import { mappingPolicyDefinition, type PolicyMode, policyModes } from '../../domain/policy.ts';
import { mappingPolicyBody } from '../../http/endpoints/mapping-policy/mapping-policy.ts';
import { singletonOf } from '../../http/singleton-endpoints.ts';
import { putMappingPolicy as put } from '../../operations/policy/policy.ts';
import type { Problem } from '../../problem.ts';
import { formProblem, preconditionOf, versionField } from '../document-version.ts';
import { actionForm, cancel, choiceField, submit } from '../fields.ts';
import { Form } from '../form.ts';
import { readForm, textMember } from '../form-body.ts';
import { html, pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { ADMINS, type Page, type PageCall, type View } from '../page.ts';

const PATH = pathTo('catalogue', 'mapping-policy');

const shared = {
  path: '/catalogue/mapping-policy',
  permissions: ADMINS,
  purpose: 'change the mapping policy',
} as const;

export const mappingPolicyForm: Page = {
  ...shared,
  method: 'GET',
  access: 'read',
  handle: async (call) => formView(call, Form.of({ mode: await mappingModeOf(call) })),
};

export const changeMappingPolicy: Page = {
  ...shared,
  method: 'POST',
  access: 'write',
  handle: async ({ context, caller, form }) => {
    const { mode } = await readForm(context, form, mappingPolicyBody, () => ({
      mode: textMember(form, 'mode'),
    }));
    await put(context, caller, mode, preconditionOf(form));
    return { location: withNotice(pathTo('catalogue'), 'saved') };
  },
  retry: (call, problem) => formView(call, call.form, problem),
};

async function mappingModeOf({ context, caller }: PageCall): Promise<PolicyMode> {
  return (await context.configs.of(context.store, caller)).mappingMode;
}

export const modeTexts = {
  off: 'not checked',
  report: 'changes are accepted, and the response names what is wrong',
  enforce: 'changes that violate it are rejected',
} as const satisfies Record<PolicyMode, string>;

export const modeChoices = policyModes.map((mode) => [mode, `${mode}: ${modeTexts[mode]}`] as const);

async function formView(call: PageCall, form: Form, problem?: Problem): Promise<View> {
  const stored = await singletonOf(call.context, call.caller, mappingPolicyDefinition);
  const mode = choiceField({
    name: 'mode',
    label: 'Mode',
    value: form.text('mode'),
    choices: modeChoices,
    problem,
  });
  return {
    title: 'Mapping policy',
    main: html`<h1>Mapping policy</h1>
${formProblem('mapping policy', stored, problem)}
<p>What happens when a user group is changed and its mapping refers to a schema or a data source that does not exist, or to a data source of another schema. Stored mappings are not changed: “user-group-service check” lists those that violate it.</p>
${actionForm(
  call.session,
  PATH,
  html`${versionField(stored, form, problem)}
${mode}
<div class="actions">${submit('Save')} ${cancel(pathTo('catalogue'))}</div>`,
)}`,
  };
}
