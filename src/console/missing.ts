// Page of an object that does not exist. The last events of its id say whether it was deleted or renamed, and
// by whom. Page of a list at a position that it does not have.

import type { EventTarget, TargetType } from '../domain/event/event.ts';
import { redact } from '../domain/secret.ts';
import type { pathParameters } from '../http/request/path-parameter.ts';
import { findNewId } from '../operations/user-group/history.ts';
import { Problem, type ProblemCode } from '../problem.ts';
import { lastEvents } from './event/last.ts';
import { type Html, html, link, NO_HTML, pathTo, userGroupLink } from './markup/html.ts';
import { pageUrl } from './markup/pagination.ts';
import type { PageCall, View } from './page.ts';
import { requestPath } from './request/browser.ts';
import { LIST_PATH } from './user-group/search-form.ts';

const EVENTS = 10;
const SWITCH = link(pathTo('sessions'), 'Switch workspace or environment');

/** Page for a cursor that is not of the list, such as in an address that a person in another environment sent. */
export function missingPageView({ request }: PageCall): View {
  return {
    title: 'The list does not have this page',
    status: 400,
    main: html`<p>The address is of a list with other conditions, or of another workspace or environment.</p>
<p>${link(requestPath(request), 'Show the whole list')} · ${SWITCH}</p>`,
  };
}

interface PageObject {
  noun: string;
  type: TargetType;
  /** Code of the problem that it does not exist. */
  code: ProblemCode;
}

/** Object of a page, by the last parameter of its path. A delivery is a part of a webhook endpoint. */
const objects: Readonly<Record<string, PageObject | undefined>> = {
  user_group_id: { noun: 'user group', type: 'user_group', code: 'user_group_not_found' },
  api_token_id: { noun: 'API token', type: 'api_token', code: 'api_token_not_found' },
  schema_id: { noun: 'schema', type: 'schema', code: 'not_found' },
  provided_id: { noun: 'data source', type: 'data_source', code: 'not_found' },
  integration_id: { noun: 'integration', type: 'integration', code: 'not_found' },
  webhook_endpoint_id: { noun: 'webhook endpoint', type: 'webhook_endpoint', code: 'not_found' },
  event_id: { noun: 'delivery', type: 'webhook_endpoint', code: 'not_found' },
} satisfies Record<Exclude<keyof typeof pathParameters, 'issuer_id'>, PageObject>;

/**
 * Returns the page for an object that does not exist, with the last events about it, or about what it is a part of.
 * Throws the error if it says anything else.
 */
export async function missingObjectView(call: PageCall, error: unknown): Promise<View> {
  const parameters = Object.entries(call.request.params as Record<string, string>);
  const [parameter = '', id = ''] = parameters.at(-1) ?? [];
  const object = objects[parameter];
  if (object === undefined || !(error instanceof Problem) || error.code !== object.code) throw error;
  const { noun, type } = object;
  const target = { type, id: parameters[0]![1] };
  return {
    title: `The ${noun} does not exist`,
    status: 404,
    // A token may have been pasted in place of the id.
    main: html`<p>No ${noun} of this workspace and environment has the id <code>${redact(id)}</code>.</p>
${await renamedText(call, target)}
<p>${searchLink(target)}${SWITCH}</p>
${await lastEvents(call, target, EVENTS)}
<p class="hint">Request ${call.request.id}</p>`,
  };
}

/** An id may be incomplete, or written in another case. */
function searchLink({ type, id }: EventTarget): Html {
  if (type !== 'user_group' || redact(id) !== id) return NO_HTML;
  return html`${link(pageUrl(LIST_PATH, { search: id }), 'Search for it')} · `;
}

async function renamedText({ context, caller }: PageCall, { type, id }: EventTarget): Promise<Html> {
  if (type !== 'user_group') return NO_HTML;
  const newId = await findNewId(context.store, caller, id);
  if (newId === null) return NO_HTML;
  return html`<p>A user group with this id was renamed to ${userGroupLink(newId)}.</p>`;
}
