import { isPermitted } from '../../domain/api-token.ts';
import type { Document } from '../../domain/document.ts';
import { integrationDefinition } from '../../domain/integration.ts';
import { listDocuments } from '../../operations/document/document.ts';
import { newPath } from '../document-pages.ts';
import { definitions, type Html, html, link, pathTo, table, time } from '../html.ts';
import { notice } from '../notice.ts';
import { ADMINS, type Page } from '../page.ts';
import { nextPage, pageOf } from '../pagination.ts';
import { SIGNING_KEYS_PATH } from '../signing-key/signing-key.ts';
import { fieldsOf, INTEGRATIONS, restrictedBadge, typeTexts } from './integration.ts';

const TYPES_PATH = pathTo(...INTEGRATIONS, '-', 'types');

export const listIntegrations: Page = {
  method: 'GET',
  path: '/integrations',
  permissions: ADMINS,
  purpose: 'list integrations',
  access: 'read',
  handle: async ({ context, caller, query }) => {
    const page = pageOf(query);
    const { documents, nextCursor } = await listDocuments(context, caller, integrationDefinition, page);
    return {
      title: 'Integrations',
      main: html`<h1>Integrations</h1>
${notice(query, { deleted: 'Deleted.' })}
<p class="hint">How embed tokens for dashboards are made from a user group.</p>
${isPermitted(caller, ADMINS) ? actions() : ''}
${integrationTable(documents)}
${nextPage(pathTo(...INTEGRATIONS), nextCursor)}`,
    };
  },
};

/** The first step to a new integration: the type decides what the form shows. */
export const chooseIntegrationType: Page = {
  method: 'GET',
  path: '/integrations/-/types',
  permissions: ADMINS,
  purpose: 'change integrations',
  access: 'read',
  handle: async () => ({
    title: 'New integration',
    main: html`<h1>New integration</h1>
<p>What is the integration for?</p>
${definitions(typeTexts.map(([type, text]) => [type, link(`${newPath(INTEGRATIONS)}?type=${type}`, text)]))}`,
  }),
};

function actions(): Html {
  return html`<div class="actions"><a class="button" href="${TYPES_PATH}">New integration</a>
<a class="button" href="${SIGNING_KEYS_PATH}">Signing keys</a></div>`;
}

function integrationTable(documents: readonly Document[]): Html {
  if (documents.length === 0) return html`<p class="none">No integrations.</p>`;
  return table(
    'Integrations',
    ['Id', 'Type', 'Tokens are valid for', 'Restricted', 'Updated'],
    documents.map((document) => {
      const { type, ttlSeconds, isUnrestricted } = fieldsOf(document);
      return [
        link(pathTo(...INTEGRATIONS, document.id), document.id),
        type,
        html`${ttlSeconds} seconds`,
        restrictedBadge(isUnrestricted),
        time(document.updatedAt),
      ];
    }),
  );
}
