import { embedTokenType } from '../../domain/embed-token/embed-token.ts';
import { integrationTypes } from '../../domain/integration.ts';
import { newPath } from '../document-pages.ts';
import { definitions, html, link } from '../markup/html.ts';
import { ADMINS, type Page } from '../page.ts';
import { INTEGRATIONS } from './integration.ts';

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
${definitions(integrationTypes.map((type) => [type, link(`${newPath(INTEGRATIONS)}?type=${type}`, embedTokenType({ type }).label)]))}`,
  }),
};
