import {
  issuerUrl,
  publishedKeys,
  publishedUntil,
  type SigningKeyStatus,
  statusOfSigningKey,
} from '../../domain/signing-key/key-set.ts';
import { signingKeyRotationBody } from '../../http/endpoints/signing-key/rotate.ts';
import type { Context } from '../../operations/context.ts';
import { findKeySet, rotateKeySet, type StoredKeySet } from '../../operations/signing-key/key-set.ts';
import { eventsAbout } from '../event/paths.ts';
import { checkField } from '../form/fields.ts';
import { readForm } from '../form/form.ts';
import { formPages } from '../form/form-pages.ts';
import { confirmation, documentVersion, preconditionIn } from '../form/version.ts';
import {
  badge,
  buttonTo,
  definitions,
  type Html,
  html,
  link,
  NO_HTML,
  none,
  pathTo,
  table,
  time,
} from '../markup/html.ts';
import { ADMINS, type Page } from '../page.ts';

export const SIGNING_KEYS_PATH = pathTo('integrations', '-', 'signing-keys');

const shared = { permissions: ADMINS, purpose: 'manage signing keys' } as const;

export const listSigningKeys: Page = {
  ...shared,
  method: 'GET',
  path: '/integrations/-/signing-keys',
  handle: async (call) => {
    const { context, caller } = call;
    const stored = await findKeySet(context, caller);
    return {
      title: 'Signing keys',
      actions: stored === null ? NO_HTML : buttonTo(`${SIGNING_KEYS_PATH}/rotate`, 'Rotate'),
      main: stored === null ? NO_KEYS : keySet(context, stored),
    };
  },
};

export const signingKeyRotation = formPages({
  ...shared,
  path: '/integrations/-/signing-keys/rotate',
  act: async ({ context, caller, form }) => {
    const { revoke } = await readForm(context, form, signingKeyRotationBody);
    await rotateKeySet(context, caller, { revoke, precondition: preconditionIn(form) });
    const notice = revoke ? 'Rotated. The previous keys are revoked.' : 'Rotated.';
    return { location: SIGNING_KEYS_PATH, notice };
  },
  view: async (call, form) => {
    const keySet = await findKeySet(call.context, call.caller);
    return confirmation(form, 'key set', documentVersion(keySet?.document ?? null), {
      title: 'Rotate the signing keys?',
      text: html`<p>New keys are published now and sign six minutes later, when every tool that honours max-age has them. The previous keys stay published until the last token that they signed has expired. Nothing is interrupted, except for tools with a copy of a public key, such as Superset with RS256: these need the new one.</p>
<p>If you revoke the previous keys, this service rejects their tokens immediately: viewers must get new ones. Other tools reject them when they fetch the keys again, and may reject new tokens until then.</p>`,
      fields: checkField({ ...form.field('revoke'), label: 'A key has leaked: revoke the previous keys' }),
      button: 'Rotate',
    });
  },
});

const NO_KEYS = none('There are none yet: the first integration that needs them creates them.');

const statusBadges: Readonly<Record<SigningKeyStatus, Html>> = {
  pending: badge('neutral', 'published, does not sign yet'),
  signing: badge('good', 'signs'),
  retiring: badge('neutral', 'published, no longer signs'),
};

function keySet({ publicUrl, clock }: Context, { document, keySet }: StoredKeySet): Html {
  const now = clock();
  const issuer = issuerUrl(publicUrl, keySet);
  const rows = publishedKeys(keySet, now).map((key) => [
    html`<code>${key.kid}</code>`,
    key.algorithm,
    statusBadges[statusOfSigningKey(key, keySet, now)],
    time(key.signsFrom),
    time(publishedUntil(key, keySet.keys), 'no end'),
  ]);
  return html`<p class="hint">They sign the tokens of integrations of the type jwt, and of superset with RS256. Tools verify these with the published keys.</p>
${definitions([
  ['Issuer', html`<code>${issuer}</code>`],
  ['JWKS URL', html`<code>${issuer}/.well-known/jwks.json</code>`],
])}
<p class="hint">Both start with UGS_PUBLIC_URL or, if it is not set, with the address that the service listens on.</p>
${table('Signing keys', ['Key id', 'Algorithm', 'Status', 'Signs from', 'Published until'], rows)}
<p>${link(eventsAbout({ type: 'key_set', id: document.id }), 'Events of the signing keys')}</p>`;
}
