import { erasureOf } from '../../event-deletion.ts';
import { HAS_TARGET_IN_BUCKET } from '../../event-target.ts';

// The bucket is not in the index of targets: a condition on it would read the events.
export const ERASURE =
  erasureOf(`from events where ${HAS_TARGET_IN_BUCKET} and position > $6 and position <= $7
  order by position limit $8`);
