// Stands for your product, which has signed the viewer in. It gets the current token of the viewer's customer on every
// page load, and the page posts it to the dashboard server: a URL would end up in histories and logs.

import express from 'express';
import { UserGroupClient } from 'user-group-service-client';
import { escapeHtml, page } from './page.js';

const { SERVICE_URL, API_TOKEN, CHARTS_URL, PORT = '5000' } = process.env;

const userGroups = new UserGroupClient({ url: SERVICE_URL, apiToken: API_TOKEN });

/** Your product takes the customer from the session of the person who has signed in, never from the URL. */
const customers = { '/as/acme': 'acme', '/as/globex': 'globex' };

const app = express();

app.get('/', (_request, response) => {
  const links = Object.entries(customers).map(([path, id]) => `<p><a href="${path}">Sign in as ${id}</a>`);
  response.send(page('Product', links.join('\n')));
});

app.get(Object.keys(customers), async (request, response) => {
  const { user_group } = await userGroups.getOrCreate({ user_group_id: customers[request.path] });
  response.set('Cache-Control', 'no-store').send(
    page(
      'Product',
      `<iframe name="charts" title="Orders" width="560" height="400"></iframe>
<form method="post" action="${escapeHtml(CHARTS_URL)}/session" target="charts">
<input type="hidden" name="token" value="${escapeHtml(user_group.token)}">
</form>
<script>document.forms[0].submit();</script>`,
    ),
  );
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
