import type { Document } from '../../domain/document.ts';
import { newPath } from '../document-pages.ts';
import { buttonTo, definitions, type Html, html, idCell, link, pathTo, table, time } from '../html.ts';
import { ADMINS, type Page } from '../page.ts';
import { SIGNING_KEYS_PATH } from '../signing-key/signing-key.ts';
import {
  INTEGRATIONS,
  integrationFormFields,
  integrationPages,
  restrictedBadge,
  typeTexts,
} from './integration.ts';

export const listIntegrations = integrationPages.list({
  title: 'Integrations',
  hint: 'How embed tokens for dashboards are made from a user group.',
  newPath: pathTo(...INTEGRATIONS, '-', 'types'),
  actions: buttonTo(SIGNING_KEYS_PATH, 'Signing keys'),
  table: integrationTable,
});

/** The first step to a new integration: the type decides what the form shows. */
export const chooseIntegrationType: Page = {
  method: 'GET',
  path: '/integrations/-/types',
  permissions: ADMINS,
  purpose: 'change integrations',
  handle: async () => ({
    title: 'New integration',
    main: html`<h1>New integration</h1>
<p>What is the integration for?</p>
${definitions(typeTexts.map(([type, text]) => [type, link(`${newPath(INTEGRATIONS)}?type=${type}`, text)]))}`,
  }),
};

function integrationTable(documents: readonly Document[]): Html {
  return table(
    'Integrations',
    ['Id', 'Type', 'Tokens are valid for', 'Restricted', 'Updated'],
    documents.map((document) => {
      const { type, ttlSeconds, isUnrestricted } = integrationFormFields(document);
      return [
        idCell(pathTo(...INTEGRATIONS, document.id), document.id),
        type,
        html`${ttlSeconds} seconds`,
        restrictedBadge(isUnrestricted),
        time(document.updatedAt),
      ];
    }),
    'No integrations.',
  );
}
