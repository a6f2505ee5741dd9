// Stored figures about the user groups of an environment, with the time when they were counted.

import type { CountedFigures } from '../domain/figures.ts';
import { type Html, html, time } from './markup/html.ts';
import { type PageCall, unlessBusy } from './page.ts';

/** Returns null if they are not counted yet, or the service is too busy to read them. */
export function countedFigures({ context, caller, figures }: PageCall): Promise<CountedFigures | null> {
  return unlessBusy(figures.find(context.store, caller));
}

export function countedAt({ countedAt }: CountedFigures): Html {
  return html`<span class="hint">as of ${time(countedAt)}</span>`;
}
