import { type Caller, isPermitted } from '../../domain/api-token.ts';
import { type Document, documentFields } from '../../domain/document.ts';
import { embedTokenType, integrationSignature } from '../../domain/embed-token/embed-token.ts';
import {
  type IntegrationType,
  integrationFields,
  integrationTypes,
  secretField as secretSchema,
  storedIntegration,
} from '../../domain/integration.ts';
import { parseLenient } from '../../domain/json/lenient-json.ts';
import { integrations } from '../../http/endpoints/integration/integration.ts';
import type { Problem } from '../../problem.ts';
import { DocumentPages, newPath } from '../document-pages.ts';
import { areaField, checkField, hidden, textField } from '../form/fields.ts';
import type { Form } from '../form/form.ts';
import {
  badge,
  buttonTo,
  definitions,
  type Html,
  html,
  identifier,
  idLink,
  link,
  pathTo,
  time,
} from '../markup/html.ts';
import { jsonBlock } from '../markup/json.ts';
import { ADMINS, type Page } from '../page.ts';
import { SIGNING_KEYS_PATH } from '../signing-key/signing-key.ts';

const INTEGRATIONS = ['integrations'] as const;

export const integrationPages = new DocumentPages({
  api: integrations.kind,
  path: INTEGRATIONS,
  listHint: 'How embed tokens for dashboards are made from a user group.',
  newPath: pathTo(...INTEGRATIONS, '-', 'types'),
  listActions: buttonTo(SIGNING_KEYS_PATH, 'Signing keys'),
  columns: ['Type', 'Tokens are valid for', 'Restricted', 'Updated'],
  cells: (document) => {
    const { type, ttlSeconds, isUnrestricted } = storedIntegration(document);
    return [type, html`${ttlSeconds} seconds`, restrictedBadge(isUnrestricted), time(document.updatedAt)];
  },
  idHint: 'Calls for embed tokens name the integration by it.',
  initial: (query) => {
    const type = typeIn(query.get('type') ?? '');
    const example = exampleFields(type);
    return query.has('example') ? example : { type, ttl_seconds: example.ttl_seconds! };
  },
  fields,
  rows: (document) => {
    const { type, ttlSeconds, isUnrestricted } = storedIntegration(document);
    const { settings, claims } = documentFields(document);
    return [
      ['Type', type],
      ['Tokens are valid for', html`${ttlSeconds} seconds`],
      ['Restricted', restrictedBadge(isUnrestricted)],
      ['Secret', document.secret === null ? KEYS_OF_SERVICE : html`stored, and never shown`],
      ['Settings', jsonBlock(settings!)],
      ['Claims', jsonBlock(claims!)],
    ];
  },
  consequences: async (document) => {
    const { ttlSeconds } = storedIntegration(document);
    return html`<p>From then on no embed token is issued for it, so the dashboards that use it stop working, for all user groups. Tokens that were issued stay valid until they expire, at most ${ttlSeconds} seconds.</p>
${document.secret === null ? '' : html`<p>Its secret is deleted too. To create the integration again, you need the secret from the tool.</p>`}`;
  },
});

/** The first step to a new integration: the type decides what the form shows. */
export const chooseIntegrationType: Page = {
  method: 'GET',
  path: '/integrations/-/types',
  permissions: ADMINS,
  purpose: 'change integrations',
  handle: async () => ({
    title: 'New integration',
    main: html`<p>What is the integration for?</p>
${definitions(integrationTypes.map((type) => [type, link(`${newPath(INTEGRATIONS)}?type=${type}`, embedTokenType({ type }).label)]))}`,
  }),
};

const KEYS_OF_SERVICE = html`none: tokens are signed with the signing keys of this service`;

/** Links to the integration only for admins, who may open its page. */
export function integrationLink(caller: Caller, id: string): Html {
  return isPermitted(caller, ADMINS) ? idLink(pathTo(...INTEGRATIONS, id), id) : identifier(id);
}

function restrictedBadge(isUnrestricted: boolean): Html {
  return isUnrestricted
    ? html`${badge('bad', 'no')} Every user group sees the same data.`
    : html`${badge('good', 'yes')} By values of the user group.`;
}

/** Returns the first type if the text is not one. */
function typeIn(text: string): IntegrationType {
  return integrationTypes.find((type) => type === text) ?? integrationTypes[0];
}

function exampleFields(type: IntegrationType): Record<string, string> {
  const { settings, claims = {} } = embedTokenType({ type }).example;
  return {
    type,
    ttl_seconds: String(integrationFields.ttl_seconds.default),
    settings: JSON.stringify(settings, null, 2),
    claims: JSON.stringify(claims, null, 2),
  };
}

function fields(form: Form, document: Document | null): Html {
  const { problem } = form;
  const type = typeIn(form.text('type'));
  const example = exampleFields(type);
  const isEmpty = document === null && form.text('settings') === '';
  return html`${hidden('type', type)}
<p>Type: <strong>${type}</strong>, ${embedTokenType({ type }).label}${isEmpty ? html` · ${link(`${newPath(INTEGRATIONS)}?type=${type}&example=1`, 'Fill in the example')}` : ''}</p>
${needsSecret(type, form.text('settings')) ? secretField(problem, document) : ''}
${textField({ ...form.field('ttl_seconds'), hint: '60 to 3600', inputMode: 'decimal' })}
${areaField({
  ...form.field('settings'),
  placeholder: example.settings!,
  hint: 'A JSON object. Tokens contain only those properties of user groups that “properties” lists.',
  rows: 12,
})}
${settingsHelp(type)}
${areaField({
  ...form.field('claims'),
  placeholder: example.claims!,
  hint: 'A JSON object of values from the user group: {"property": "region"}, {"mapping": "40"}, {"field": "provided_id"} or {"constant": 1}.',
})}
${checkField({
  ...form.field('unrestricted'),
  label:
    'Unrestricted: no value of a token depends on the user group, so every user group sees the same data',
})}`;
}

/** Whether an integration of this type with these settings has a secret. Invalid JSON counts as empty. */
function needsSecret(type: IntegrationType, settings: string): boolean {
  return integrationSignature({ type, settings: Object(parseLenient(settings)) }) === 'secret';
}

/** Never repeats what was typed, not even after an error. */
function secretField(problem: Problem | undefined, document: Document | null): Html {
  const again = problem === undefined ? '' : ' Type it again if you have typed one.';
  const { minLength, maxLength } = secretSchema;
  const kept = document?.secret == null ? '' : ' Leave it empty to keep the stored one.';
  return textField({
    name: 'secret',
    isMasked: true,
    hint: `What the tool verifies tokens with: ${minLength} to ${maxLength} visible ASCII characters. It is stored encrypted, and never shown.${kept}${again}`,
    problem,
  });
}

function settingsHelp(type: IntegrationType): Html {
  const { properties } = embedTokenType({ type }).settings;
  const rows = Object.entries(properties).map(([name, { description }]) => [name, description] as const);
  return html`<details><summary>The settings of this type</summary>${definitions(rows)}</details>`;
}
