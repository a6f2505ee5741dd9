// Events whose changes the deletion of their user group erases. A rename keeps its two ids, or a reader of the feed
// would not know which of its copies the deletion concerns.

import type { EventType } from '../domain/event/event.ts';

const RENAMED: EventType = 'user_group.renamed';

/** Condition on the columns of an event. */
export const IS_ERASABLE = `(changes is not null and type <> '${RENAMED}')`;
