import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { getOrCreateUserGroup } from '../../operations/user-group/get-or-create.ts';
import { Problem } from '../../problem.ts';
import { problemSummary, textField } from '../form/fields.ts';
import { type FormContent, formPages, formView } from '../form/form-pages.ts';
import { isConflict } from '../form/version.ts';
import { html, link, pathTo } from '../markup/html.ts';
import { environmentConfig, type Page, type PageCall, WRITERS } from '../page.ts';
import {
  groupFields,
  isJsonForm,
  modeButton,
  readGroup,
  readGroupFields,
  type TypedGroup,
  typedGroup,
} from './form.ts';

/** `-` stands in place of an id, and no action on an id is called `new`. */
const path = '/user-groups/-/new';
export const CREATE_PATH = `/console${path}`;
export const AGAIN_PATH = `${CREATE_PATH}/form`;
const ID_LABEL = 'Id';

export const creation = formPages({
  path,
  permissions: WRITERS,
  purpose: 'create user groups',
  act: async ({ context, caller, form }) => {
    await context.cpu.turn(form.size);
    const config = await environmentConfig({ context, caller });
    const id = form.text('user_group_id');
    const fields = readGroupFields(id, readGroup(form, config), config);
    try {
      await getOrCreateUserGroup(context, caller, { userGroupId: id, ...fields }, { ifNoneMatch: '*' });
    } catch (error) {
      throw isConflict(error) ? EXISTS : error;
    }
    const notice = 'The user group was created. “Show token” shows its token.';
    return { location: pathTo('user-groups', id), notice };
  },
  view: async (call, form) => {
    const { problem } = form;
    const config = await environmentConfig(call);
    const isJson = isJsonForm(call.query, form);
    const typed = problem === undefined ? typedGroup(config, isJson) : readGroup(form, config);
    return createContent(call, { id: form.text('user_group_id'), ...typed }, config, problem);
  },
});

/** Shows the form with what was typed in another one. Creates nothing. */
export const creationAgain: Page = {
  method: 'POST',
  path: `${path}/form`,
  permissions: WRITERS,
  purpose: 'create user groups',
  access: 'read',
  handle: async (call) => {
    const { context, form } = call;
    await context.cpu.turn(form.size);
    const [id, config] = [form.text('user_group_id'), await environmentConfig(call)];
    return formView(
      call,
      CREATE_PATH,
      await createContent(call, { id, ...typedIn(call, id, config) }, config),
    );
  },
};

/** Returns the group that the form shows; invalid values stay as they were typed. */
function typedIn({ query, form }: PageCall, id: string, config: EnvironmentConfig): TypedGroup {
  const typed = readGroup(form, config);
  try {
    return typedGroup(
      config,
      isJsonForm(query, form),
      readGroupFields(id === '' ? '-' : id, { ...typed, name: typed.name || '-' }, config),
    );
  } catch (error) {
    if (error instanceof Problem) return typed;
    throw error;
  }
}

const EXISTS = new Problem(
  'version_mismatch',
  'A user group with this id already exists: nothing was changed.',
  {
    errors: [{ pointer: '/user_group_id', detail: 'is the id of an existing user group' }],
  },
);

/** `problem` is why the form was rejected. */
async function createContent(
  { context }: PageCall,
  { id, ...typed }: TypedGroup & { id: string },
  config: EnvironmentConfig,
  problem?: Problem,
): Promise<FormContent> {
  return {
    title: 'Create a user group',
    text: problemSummary(problem, { user_group_id: ID_LABEL }),
    fields: html`${problem === EXISTS ? html`<p>${link(pathTo('user-groups', id), 'Open the existing user group')}</p>` : ''}
${textField({
  name: 'user_group_id',
  label: ID_LABEL,
  hint: 'Your own id for this customer.',
  value: id,
  isRequired: true,
  problem,
})}
${await groupFields(context, typed, config, null, problem)}`,
    button: 'Create',
    back: pathTo('user-groups'),
    more: modeButton(typed, AGAIN_PATH),
  };
}
