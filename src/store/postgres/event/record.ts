// Records events, and the webhook deliveries that they cause.
//
// The position of an event starts with the id of its transaction plus a base. A feed stops before the oldest transaction
// that is still running: an event that commits later has a later position.
//
// A transaction may get its id and then wait for another one, with a later id, that changes the same target. So the
// position is also higher than that of the target's last event: changes of a target are in order.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Changes } from '../../../domain/event/changes.ts';
import type { NewEvent, StoredEvent } from '../../../domain/event/event.ts';
import type { JsonText } from '../../../domain/json/strict-json.ts';
import type { TokenDigest } from '../../../domain/token.ts';
import type { UserGroupKey } from '../../../domain/user-group/user-group.ts';
import { DELIVERY, EVENT, EVENT_TARGET, RECORDED_EVENT, USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import type { Recorded } from '../../port.ts';
import { RowShape } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { Recording } from '../../steps.ts';
import type { Session } from '../client/session.ts';
import { isSent, numberedRows, parameterAfter, sentRows, toArrays } from '../sent-rows.ts';

/** Number of positions for each transaction id. */
export const POSITIONS = 1_024;

/** A subquery, because it is evaluated once and not for each event. */
const POSITION = `(select (base + pg_current_xact_id()::text::bigint) * ${POSITIONS} from event_positions)`;

/** Whether no transaction with a later id has ended: then every visible event has an earlier position. */
const IS_LATEST = '(select pg_snapshot_xmax(pg_current_snapshot()) <= pg_current_xact_id())';

// Looks up later positions only: for a table without statistics PostgreSQL chooses the index of the feed, and
// would read the events of all targets.
function nextPosition(table: string): string {
  return `case when ${IS_LATEST} then ${POSITION} else greatest(${POSITION}, 1 + (
      select max(later.position) from events as later
      where later.bucket = ${table}.bucket and later.workspace_id = ${table}.workspace_id
        and later.environment = ${table}.environment and later.target_type = ${table}.target_type
        and later.target_id = ${table}.target_id and later.position >= ${POSITION}), 1 + (
      select max(renamed.position) from user_group_renames as renamed
      where renamed.bucket = ${table}.bucket and renamed.workspace_id = ${table}.workspace_id
        and renamed.environment = ${table}.environment and renamed.provided_id = ${table}.target_id
        and renamed.position >= ${POSITION})) end`;
}

// The sent positions are relative: positions among the events of the statement.
export const INSERT = statement('insert_events')`
  insert into events (${EVENT.names})
  select ${RECORDED_EVENT.names}, ${nextPosition('sent')} + sent.position
  from ${sentRows(EVENT)}`;

const TOKEN_EVENT = new RowShape({
  ...USER_GROUP.pick('bucket', 'tokenDigest').fields,
  ...RECORDED_EVENT.pick('eventId', 'actor', 'requestId', 'changes').fields,
});

const TYPE = parameterAfter(TOKEN_EVENT);

/** The stored form of `Changes`: the fields of a new group need not be sent again. */
const CREATED_FIELDS = `case when ${TYPE} = 'user_group.created' then coalesce(sent.changes, '{"from":null,"to":{"name":' || to_json(name)
        || coalesce(',"mapping":' || mapping, '') || coalesce(',"properties":' || properties, '') || '}}') end`;

// Records changes that a statement of the same pipeline may or may not have made. If it did, the group has
// the token, and this transaction has written its row: another attempt at the same change, earlier or later,
// has recorded its own event.
export const INSERT_FOR_TOKENS = statement('insert_events_for_tokens')`
  insert into events (${EVENT.names})
  select ${RECORDED_EVENT.names}, ${nextPosition('changed')}
  from (select bucket, user_groups.workspace_id, user_groups.environment, 'user_group' as target_type,
      user_groups.provided_id as target_id, sent.event_id, ${TYPE}::text as type, user_groups.updated_at as occurred_at,
      sent.actor, sent.request_id, user_groups.version, ${CREATED_FIELDS} as changes
    from ${sentRows(TOKEN_EVENT)}
    join user_groups using (bucket, token_digest)
    where user_groups.xmin = (select pg_current_xact_id()::xid)) as changed`;

const DELIVERY_COLUMNS = `bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type, target_id,
      position, state, attempts, next_attempt_at, created_at`;

const { eventId, eventType, endpointId, position } = DELIVERY.fields;
const NEW_DELIVERY = new RowShape<{
  event: Pick<NewEvent, keyof typeof EVENT_TARGET.fields | 'eventId'>;
  endpointId: string;
}>({
  event: new RowShape({ ...EVENT_TARGET.fields, eventId }),
  endpointId,
});

// An event that was not inserted has no deliveries.
export const INSERT_DELIVERIES = statement('insert_deliveries')`
  insert into deliveries (${DELIVERY_COLUMNS})
  select bucket, workspace_id, environment, sent.endpoint_id, events.event_id, events.type, target_type, target_id,
    events.position, 'pending', 0, events.occurred_at, events.occurred_at
  from ${sentRows(NEW_DELIVERY)}
  join events using (${EVENT_TARGET.names})
  where events.event_id = sent.event_id and events.position >= ${POSITION}`;

// The following statements are for Citus, and for renames. Workers of Citus have transaction ids of their
// own: only a statement without a distributed table has those of the coordinator.

export const CURRENT_TRANSACTION = statement('current_transaction')`
  select pg_current_xact_id()::text::bigint`;

export const BASE = statement('event_position_base')`select base from event_positions`;

export const LAST_POSITIONS = statement('last_event_positions')`
  select sent.ordinal, max(stored.position)
  from ${numberedRows(EVENT_TARGET)}
  join events as stored on ${isSent(EVENT_TARGET)}
  where stored.bucket = any ($1::integer[])
  group by sent.ordinal`;

export const LAST_RENAMES = statement('last_rename_positions')`
  select sent.ordinal, max(stored.position)
  from ${numberedRows(EVENT_TARGET)}
  join user_group_renames as stored on stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
    and stored.environment = sent.environment and stored.provided_id = sent.target_id
  where stored.bucket = any ($1::integer[])
  group by sent.ordinal`;

const WHERE_USER_GROUP = 'where bucket = $1 and workspace_id = $2 and environment = $3';

export const LAST_POSITION = statement('last_event_position')`
  select max(position) from events ${WHERE_USER_GROUP} and target_type = 'user_group' and target_id = $4`;

export const LAST_RENAME = statement('last_rename_position')`
  select max(position) from user_group_renames ${WHERE_USER_GROUP} and provided_id = $4`;

export const INSERT_AT = statement('insert_events_at')`
  insert into events (${EVENT.names}) select ${EVENT.names} from ${sentRows(EVENT)}`;

const PLACED_DELIVERY = new RowShape({
  event: new RowShape({
    ...EVENT_TARGET.fields,
    eventId,
    type: eventType,
    occurredAt: RECORDED_EVENT.fields.occurredAt,
  }),
  endpointId,
  position,
});

export const INSERT_DELIVERIES_AT = statement('insert_deliveries_at')`
  insert into deliveries (${DELIVERY_COLUMNS})
  select bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type, target_id, position,
    'pending', 0, occurred_at, occurred_at
  from ${sentRows(PLACED_DELIVERY)}`;

type WithEvent<Change> = Change & { event: NewEvent };

/** Change that a statement of the same pipeline may make; if it does, the group has this token. */
interface TokenChange extends Recorded {
  tokenDigest: TokenDigest;
  changes?: Changes;
}

/**
 * `changes` must have every recording of a target in the transaction, in order. Sends its statements before
 * it awaits.
 */
export async function record(session: Session, changes: readonly Recording[]): Promise<void> {
  const recordings = withEvents(changes);
  if (recordings.length === 0) return;
  if (session.isDistributed) return recordAt(session, recordings, await nextPositions(session, recordings));
  await Promise.all([
    session.query(INSERT, toArrays(EVENT, storedForms(session, recordings, countEarlier(recordings)))),
    recordDeliveries(session, recordings),
  ]);
}

/** Counts, for each recording, the earlier ones with the same target id. */
function countEarlier(recordings: readonly WithEvent<Recording>[]): number[] {
  const counts = new Map<string, number>();
  return recordings.map(({ event }) => {
    const { id } = event.target;
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return count;
  });
}

/** Size of the values that are compared in one turn of the event loop, which takes some milliseconds. */
const TURN_BYTES = 65_536;
/** Time for which a transaction gives way to other work, in milliseconds: it has a time limit and holds locks. */
const MAX_YIELDING_MS = 500;

/** Records all changes of a transaction as its last step, in the round trip of the commit. */
export async function recordAtCommit(session: Session, recordings: readonly Recording[]): Promise<void> {
  if (recordings.length === 0) return;
  const yieldsUntil = performance.now() + MAX_YIELDING_MS;
  let bytes = 0;
  for (const { event, changes } of recordings) {
    if (event) bytes += changes?.compare() ?? 0;
    if (bytes < TURN_BYTES || performance.now() > yieldsUntil) continue;
    await nextTurn();
    bytes = 0;
  }
  if (session.isDistributed) await record(session, recordings);
  else session.atCommit(() => record(session, recordings));
}

/**
 * Records the event of each change that was made, which is so if and only if the group has the token. All
 * events must have the same type. Sends its statements before it awaits. Not for Citus.
 */
export async function recordForTokens(session: Session, tokenChanges: readonly TokenChange[]): Promise<void> {
  const recordings = withEvents(tokenChanges);
  if (recordings.length === 0) return;
  await Promise.all([
    session.query(INSERT_FOR_TOKENS, [
      ...toArrays(
        TOKEN_EVENT,
        recordings.map(({ event, tokenDigest, changes }) => ({
          ...event,
          tokenDigest,
          changes: reducedForm(session, event, changes),
        })),
      ),
      recordings[0]!.event.type,
    ]),
    recordDeliveries(session, recordings),
  ]);
}

/** Returns the changes as the event quota reduces them; null if the statement stores all of them. */
function reducedForm({ eventQuota }: Session, event: NewEvent, changes?: Changes): JsonText | null {
  if (changes === undefined) return null;
  const stored = eventQuota.storedForm(event, changes);
  return stored === changes.whole ? null : stored;
}

async function recordDeliveries(session: Session, recordings: readonly { event: NewEvent }[]): Promise<void> {
  const deliveries = plannedDeliveries(recordings);
  if (deliveries.length > 0) await session.query(INSERT_DELIVERIES, toArrays(NEW_DELIVERY, deliveries));
}

/** Returns a position after all events of these user groups, whose rows must be locked. */
export async function nextPositionOfAll(session: Session, keys: readonly UserGroupKey[]): Promise<number> {
  const [transaction, base, ...last] = await session.pipelined(() => [
    session.query(CURRENT_TRANSACTION),
    session.query(BASE),
    ...keys.flatMap((key) =>
      [LAST_POSITION, LAST_RENAME].map((statement) => session.query(statement, USER_GROUP_KEY.cells(key))),
    ),
  ]);
  const positions = last.map(([row]) => (row![0] as number | null) ?? 0);
  return Math.max(firstPosition(transaction, base), ...positions.map((position) => position + 1));
}

async function nextPositions(
  session: Session,
  recordings: readonly WithEvent<Recording>[],
): Promise<number[]> {
  const sent = toArrays(
    EVENT_TARGET,
    recordings.map(({ event }) => event),
  );
  const [transaction, base, last, renamed] = await session.pipelined(() => [
    session.query(CURRENT_TRANSACTION),
    session.query(BASE),
    session.query(LAST_POSITIONS, sent),
    session.query(LAST_RENAMES, sent),
  ]);
  const positions = recordings.map(() => firstPosition(transaction, base));
  for (const [ordinal, position] of [...last, ...renamed] as [number, number][])
    positions[ordinal - 1] = Math.max(positions[ordinal - 1]!, position + 1);
  const earlier = countEarlier(recordings);
  return positions.map((position, index) => position + earlier[index]!);
}

/** Returns the first position of the transaction, from the rows of `CURRENT_TRANSACTION` and `BASE`. */
function firstPosition(transaction: unknown[][], base: unknown[][]): number {
  return ((base[0]![0] as number) + (transaction[0]![0] as number)) * POSITIONS;
}

/** Records each change at its position. Sends its statements before it awaits. */
export async function recordAt(
  session: Session,
  recordings: readonly WithEvent<Recording>[],
  positions: readonly number[],
): Promise<void> {
  const events = storedForms(session, recordings, positions);
  const deliveries = plannedDeliveries(
    recordings.map((each, index) => ({ ...each, position: positions[index]! })),
  );
  await session.pipelined(() => [
    session.query(INSERT_AT, toArrays(EVENT, events)),
    deliveries.length > 0 && session.query(INSERT_DELIVERIES_AT, toArrays(PLACED_DELIVERY, deliveries)),
  ]);
}

function plannedDeliveries<Recorded extends { event: NewEvent }>(
  recordings: readonly Recorded[],
): (Recorded & { endpointId: string })[] {
  return recordings.flatMap((recording) =>
    recording.event.endpoints.map((endpointId) => ({ ...recording, endpointId })),
  );
}

function storedForms(
  { eventQuota }: Session,
  recordings: readonly WithEvent<Recording>[],
  positions: readonly number[],
): StoredEvent[] {
  return recordings.map(({ event, version = null, changes = null }, index) => ({
    ...event,
    version,
    changes: eventQuota.storedForm(event, changes),
    position: positions[index]!,
  }));
}

function withEvents<Change extends Recorded>(changes: readonly Change[]): WithEvent<Change>[] {
  return changes.filter((change): change is WithEvent<Change> => change.event !== undefined);
}
