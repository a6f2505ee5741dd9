import { erasureOf } from '../../event-deletion.ts';
import { HAS_TARGET } from '../../event-target.ts';

export const ERASURE = erasureOf(`from events where ${HAS_TARGET} and position > $6 and position <= $7
  order by position limit $8`);
