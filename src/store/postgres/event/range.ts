// Condition on the events of one target in a range of positions. It compares whole keys: for a condition on the position
// alone, PostgreSQL chooses the index of the feed if most environments have few events, and reads those of all targets. Only
// the first rows of a range may be read, in its order: PostgreSQL expects many rows in it, and would choose that index too.

const COLUMNS = ['workspace_id', 'environment', 'target_type', 'target_id', 'position'];
const IN_BUCKET = `(${COLUMNS.join(', ')})`;
/**
 * After position $6, up to position $7. The bucket is apart, so that Citus finds the shard; PostgreSQL would not start at
 * the position if the comparison contained it too.
 */
export const IN_RANGE = `bucket = $1 and ${IN_BUCKET} > ($2, $3, $4, $5, $6) and ${IN_BUCKET} <= ($2, $3, $4, $5, $7)`;

export const OLDEST_FIRST = COLUMNS.join(', ');
export const NEWEST_FIRST = COLUMNS.map((name) => `${name} desc`).join(', ');
