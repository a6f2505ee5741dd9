// Stored figures about the user groups of an environment, with the time when they were counted.

import type { CountedFigures } from '../domain/figures.ts';
import { StoreUnavailable } from '../store/port.ts';
import { type Html, html, time } from './html.ts';
import type { PageCall } from './page.ts';

/** null if they are not known yet, or the service is too busy to look. */
export async function countedFigures({
  context,
  caller,
  figures,
}: Pick<PageCall, 'context' | 'caller' | 'figures'>): Promise<CountedFigures | null> {
  try {
    return await figures.find(context.store, caller);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return null;
  }
}

export function countedAt({ countedAt }: CountedFigures): Html {
  return html`<span class="hint">as of ${time(countedAt)}</span>`;
}
