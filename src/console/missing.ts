// The page of one thing that does not exist. The last events of its id say whether it was deleted or renamed, and by whom.

import type { EventTarget } from '../domain/event/event.ts';
import { redact } from '../domain/secret.ts';
import { httpStatus } from '../http/response/problem.ts';
import { Problem } from '../problem.ts';
import { lastEvents } from './event/last.ts';
import { html } from './html.ts';
import type { PageCall, View } from './page.ts';

const NOT_FOUND = 404;
const EVENTS = 10;

/** The view, or the page of what does not exist if that is why there is none. */
export async function viewOrMissing(
  call: PageCall,
  target: EventTarget,
  noun: string,
  view: Promise<View>,
): Promise<View> {
  try {
    return await view;
  } catch (error) {
    if (!(error instanceof Problem) || httpStatus(error) !== NOT_FOUND) throw error;
    return missingView(call, target, noun);
  }
}

async function missingView(call: PageCall, target: EventTarget, noun: string): Promise<View> {
  const title = `The ${noun} does not exist`;
  return {
    title,
    status: NOT_FOUND,
    // A token may have been pasted in the place of the id.
    main: html`<h1>${title}</h1>
<p>No ${noun} has the id <code>${redact(target.id)}</code>.</p>
<h2>Last events</h2>
${await lastEvents(call, target, EVENTS)}
<p class="hint">Request ${call.request.id}</p>`,
  };
}
