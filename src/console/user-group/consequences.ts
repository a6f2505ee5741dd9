// Uses of the token of a group, shown before it is rotated, suspended or deleted.

import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { findIntegration } from '../../operations/integration/integration.ts';
import { type Html, html, type Insertion, link, NO_HTML, pathTo, table, time } from '../html.ts';
import type { PageCall } from '../page.ts';
import { configOf } from '../page.ts';

/** `items` are further consequences. */
export async function consequences(
  call: PageCall,
  { lastSeenAt }: UserGroup,
  items: readonly Insertion[],
): Promise<Html> {
  return html`<ul>
<li>Its token was last seen: ${time(lastSeenAt)}${lastSeenAt === null ? '' : ', to the hour'}.</li>
${items.map((item) => html`<li>${item}</li>`)}
</ul>
${await integrations(call)}`;
}

/** Each can mint for any group of its environment. */
async function integrations({ context, caller }: PageCall): Promise<Html> {
  const config = await configOf({ context, caller });
  const rows = [...config.ofKind('integration').keys()].map((id) => {
    const { type, ttlSeconds } = findIntegration(config, id).integration;
    return [link(pathTo('integrations', id), id), type, html`${ttlSeconds} seconds at most`];
  });
  if (rows.length === 0) return NO_HTML;
  return html`<h2>Integrations that mint for it</h2>
<p>This service immediately rejects the embed tokens minted so far. A tool that checks only the signature accepts them until they expire.</p>
${table('Integrations', ['Integration', 'Type', 'Tokens expire after'], rows)}`;
}
