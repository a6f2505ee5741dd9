// Page of an object that does not exist. The last events of its id say whether it was deleted or renamed, and
// by whom. Page of a list at a position that it does not have.

import type { EventTarget } from '../domain/event/event.ts';
import { redact } from '../domain/secret.ts';
import { findNewId } from '../operations/user-group/history.ts';
import { Problem, type ProblemCode } from '../problem.ts';
import { lastEvents } from './event/last.ts';
import { type Html, html, link, NO_HTML, pathTo, userGroupLink } from './markup/html.ts';
import { pageUrl } from './markup/pagination.ts';
import type { Page, PageCall, View } from './page.ts';
import { requestPath } from './request/browser.ts';
import { LIST_PATH } from './user-group/search-form.ts';

const EVENTS = 10;
const SWITCH = link(pathTo('sessions'), 'Switch workspace or environment');

/** Page for a cursor that is not of the list, such as in an address that a person in another environment sent. */
export function missingPageView({ request }: PageCall): View {
  const title = 'The list does not have this page';
  return {
    title,
    status: 400,
    main: html`<h1>${title}</h1>
<p>The address is of a list with other conditions, or of another workspace or environment.</p>
<p>${link(requestPath(request), 'Show the whole list')} · ${SWITCH}</p>`,
  };
}

/**
 * Wraps the pages of one object. If they throw a problem with this code, the object does not exist, and they
 * show the last events about the target: the object, or what it is a part of.
 */
export function pagesOf(
  noun: string,
  code: ProblemCode,
  targetOf: (call: PageCall) => EventTarget,
  pages: readonly Page[],
  idOf = (call: PageCall) => targetOf(call).id,
): Page[] {
  const orMissing = (call: PageCall) => (error: unknown) => {
    if (error instanceof Problem && error.code === code)
      return missingView(call, targetOf(call), noun, idOf(call));
    throw error;
  };
  return pages.map(({ handle, onRejection, ...page }) =>
    onRejection === undefined
      ? { ...page, handle: (call) => handle(call).catch(orMissing(call)) }
      : {
          ...page,
          handle,
          onRejection: (call, problem) => onRejection(call, problem).catch(orMissing(call)),
        },
  );
}

async function missingView(call: PageCall, target: EventTarget, noun: string, id: string): Promise<View> {
  const title = `The ${noun} does not exist`;
  return {
    title,
    status: 404,
    // A token may have been pasted in place of the id.
    main: html`<h1>${title}</h1>
<p>No ${noun} of this workspace and environment has the id <code>${redact(id)}</code>.</p>
${await renamedText(call, target)}
<p>${searchLink(target)}${SWITCH}</p>
<h2>Last events</h2>
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
