import { type Permission, permissions } from '../../domain/api-token.ts';
import { Secret } from '../../domain/secret.ts';
import { mintApiToken } from '../../domain/token.ts';
import { issueAsSent, newApiTokenBody } from '../../http/endpoints/api-token/create.ts';
import { ApiTokenTaken } from '../../operations/api-token/api-token.ts';
import type { Context } from '../../operations/context.ts';
import { Problem } from '../../problem.ts';
import { choiceField, hidden, nameField } from '../form/fields.ts';
import { type Form, readForm } from '../form/form.ts';
import { formPages } from '../form/form-pages.ts';
import { isConflict } from '../form/version.ts';
import { html, pathTo } from '../markup/html.ts';
import { ADMINS } from '../page.ts';
import { Sealed } from '../session/sealed.ts';
import { API_TOKENS, issuedTokenView } from './show.ts';

export const apiTokenCreation = formPages({
  path: '/api-tokens/-/new',
  permissions: ADMINS,
  purpose: 'create API tokens',
  act: async ({ context, caller, form }) => {
    const body = await readForm(context, form, newApiTokenBody);
    const text = openText(context, form);
    const issued = await issueAsSent(context, caller, body, text).catch(explainTaken);
    return issuedTokenView(issued, 'Created.');
  },
  view: (call, form) => {
    const { problem } = form;
    const isFresh = problem === undefined || isConflict(problem);
    return {
      title: 'New API token',
      text: html`<p>It is for the environment ${call.caller.environment}, like the one that you are signed in with.</p>`,
      fields: html`${hidden('sealed', isFresh ? sealed.textOf(call.context.keyRing, mintApiToken().reveal()) : form.text('sealed'))}
${nameField({ ...form.field('name'), hint: 'What it is for.' })}
${choiceField({ ...form.field('permission'), choices: permissionChoices })}
${choiceField({ ...form.field('expires_in_seconds'), choices: lifetimes })}`,
      button: 'Create',
      back: pathTo(API_TOKENS),
    };
  },
});

const permissionTexts: Readonly<Record<Permission, string>> = {
  admin: 'everything, including API tokens, webhooks and integrations',
  'read-write': 'read and change user groups',
  'read-only': 'read user groups, the catalogue and events',
  resolve: 'only resolve tokens of user groups: for dashboard servers',
  embed: 'only issue embed tokens, and resolve',
};

const permissionChoices: readonly (readonly [value: string, text: string])[] = [
  ['', 'choose'],
  ...permissions.map((each) => [each, `${each}: ${permissionTexts[each]}`] as const),
];

const DAY_SECONDS = 86_400;
const lifetimes = [
  ['', 'never'],
  [String(DAY_SECONDS), 'in a day'],
  [String(30 * DAY_SECONDS), 'in 30 days'],
  [String(90 * DAY_SECONDS), 'in 90 days'],
  [String(365 * DAY_SECONDS), 'in a year'],
] as const;

/** Part of the form: the new text, encrypted, so that sending the form twice creates one API token. */
const sealed = new Sealed<string>('new-api-token');

function openText({ keyRing }: Context, form: Form): Secret {
  const text = sealed.open(keyRing, form.text('sealed'));
  if (text !== null) return new Secret(text);
  throw new Problem('version_mismatch', 'This form is too old, so nothing was created. Send it again.');
}

function explainTaken(error: unknown): never {
  if (!(error instanceof ApiTokenTaken)) throw error;
  throw new Problem(
    'version_mismatch',
    'This form was sent before, and created an API token whose text was shown then. If you do not have it, revoke that API token and create another one: send the form again.',
  );
}
