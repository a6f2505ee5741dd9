// Conditions on the events of one target. A range of positions compares whole keys: for a condition on the position alone,
// PostgreSQL chooses the index of the feed if most environments have few events, and reads those of all targets.

import { EVENT_KEY } from '../../entities.ts';

export const EVENTS_OF_TARGET = `from events
    where bucket = $1 and workspace_id = $2 and environment = $3 and target_type = $4 and target_id = $5`;

const KEY = `(${EVENT_KEY.names})`;
/** After position $6, up to position $7. Citus finds the shard by the bucket. */
export const IN_RANGE = `bucket = $1 and ${KEY} > ($1, $2, $3, $4, $5, $6) and ${KEY} <= ($1, $2, $3, $4, $5, $7)`;

export const OLDEST_FIRST = EVENT_KEY.names;
export const NEWEST_FIRST = EVENT_KEY.columns.map(({ name }) => `${name} desc`).join(', ');
