// Page of an object that does not exist. The last events of its id say whether it was deleted or renamed, and
// by whom.

import type { EventTarget } from '../domain/event/event.ts';
import { redact } from '../domain/secret.ts';
import { findNewId } from '../operations/user-group/history.ts';
import { Problem, type ProblemCode } from '../problem.ts';
import { lastEvents } from './event/last.ts';
import { type Html, html, idLink, NO_HTML, pathTo } from './markup/html.ts';
import type { Page, PageCall, View } from './page.ts';

const EVENTS = 10;

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
<p>No ${noun} has the id <code>${redact(id)}</code>.</p>
${await renamedText(call, target)}
<h2>Last events</h2>
${await lastEvents(call, target, EVENTS)}
<p class="hint">Request ${call.request.id}</p>`,
  };
}

async function renamedText({ context, caller }: PageCall, { type, id }: EventTarget): Promise<Html> {
  if (type !== 'user_group') return NO_HTML;
  const newId = await findNewId(context.store, caller, id);
  if (newId === null) return NO_HTML;
  return html`<p>A user group with this id was renamed to ${idLink(pathTo('user-groups', newId), newId)}.</p>`;
}
