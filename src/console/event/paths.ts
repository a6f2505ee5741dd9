// Paths of filtered lists of events.

import type { EventTarget } from '../../domain/event/event.ts';
import { pathTo } from '../markup/html.ts';

export function eventsAbout({ type, id }: EventTarget): string {
  return `${pathTo('events')}?${new URLSearchParams({ target_type: type, target_id: id })}`;
}

export function eventsBy(apiTokenId: number): string {
  return `${pathTo('events')}?actor=${apiTokenId}`;
}
