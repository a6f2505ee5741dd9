import { createDemo, DEMO_PATH } from '../../demo/create.ts';
import { isPermitted } from '../../domain/api-token.ts';
import { Problem } from '../../problem.ts';
import { actionForm, submit } from '../form/fields.ts';
import { type Html, html, NO_HTML } from '../markup/html.ts';
import { ADMINS, type Page, type PageCall } from '../page.ts';

export const createDemoData: Page = {
  method: 'POST',
  path: '/demo',
  permissions: ADMINS,
  purpose: 'create demo data',
  handle: async ({ context, caller, demoDirectory }) => {
    if (demoDirectory === null) throw WITHOUT_FILES;
    await createDemo(context, caller, demoDirectory);
    return { location: DEMO_PATH };
  },
};

const WITHOUT_FILES = new Problem(
  'invalid_request',
  'Demo data requires SQLite: its sample files are stored next to the database.',
);

/** Offers demo data in an empty console; empty for a caller who may not create any. */
export function demoOffer({ caller, session, demoDirectory }: PageCall): Html {
  if (!isPermitted(caller, ADMINS) || demoDirectory === null) return NO_HTML;
  return html`<section aria-labelledby="demo"><h2 id="demo">New here?</h2>
<p>Demo data shows what the service does: three customers, two data sources with sample orders, and a dashboard on which each customer sees only its own.</p>
${actionForm(session, '/console/demo', submit('Create demo data', 'plain'))}</section>`;
}
