import { getOrCreateUserGroup } from '../../operations/user-group/get-or-create.ts';
import { Problem } from '../../problem.ts';
import { textField } from '../form/fields.ts';
import { type FormContent, formPages, formView } from '../form/form-pages.ts';
import { isConflict } from '../form/version.ts';
import { html, link, pathTo } from '../markup/html.ts';
import { type Page, type PageCall, WRITERS } from '../page.ts';
import { groupFields, modeButton, readGroup, readGroupFields, type TypedGroup, typedGroup } from './form.ts';

/** `-` stands in place of an id, and no action on an id is called `new`. */
const path = '/user-groups/-/new';
export const CREATE_PATH = `/console${path}`;
export const AGAIN_PATH = `${CREATE_PATH}/form`;
const ID_LABEL = 'Id';

export const creation = formPages({
  path,
  permissions: WRITERS,
  purpose: 'create user groups',
  act: async (call) => {
    const { context, caller, form } = call;
    await context.cpu.turn(form.size);
    const id = form.text('user_group_id');
    const fields = await readGroupFields(call, id, await readGroup(call));
    try {
      await getOrCreateUserGroup(context, caller, { userGroupId: id, ...fields }, { ifNoneMatch: '*' });
    } catch (error) {
      throw isConflict(error) ? EXISTS : error;
    }
    const notice = 'The user group was created. “Show token” shows its token.';
    return { location: pathTo('user-groups', id), notice };
  },
  view: async (call, { problem }) => {
    const typed = await (problem === undefined ? typedGroup(call) : readGroup(call));
    return createContent(call, typed, problem);
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
    await call.context.cpu.turn(call.form.size);
    return formView(call, CREATE_PATH, undefined, await createContent(call, await typedIn(call)));
  },
};

/** Returns the group that the form shows; invalid values stay as they were typed. */
async function typedIn(call: PageCall): Promise<TypedGroup> {
  const id = call.form.text('user_group_id') || '-';
  const typed = await readGroup(call);
  const complete = { ...typed, name: typed.name || '-' };
  try {
    return await typedGroup(call, await readGroupFields(call, id, complete));
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
async function createContent(call: PageCall, typed: TypedGroup, problem?: Problem): Promise<FormContent> {
  const id = call.form.text('user_group_id');
  return {
    title: 'Create a user group',
    labels: { user_group_id: ID_LABEL },
    fields: html`${problem === EXISTS ? html`<p>${link(pathTo('user-groups', id), 'Open the existing user group')}</p>` : ''}
${textField({
  name: 'user_group_id',
  label: ID_LABEL,
  hint: 'Your own id for this customer.',
  value: id,
  isRequired: true,
  problem,
})}
${await groupFields(call, typed, null, problem)}`,
    button: 'Create',
    back: pathTo('user-groups'),
    more: modeButton(typed, AGAIN_PATH),
  };
}
