// Commands that change webhook deliveries, which are created together with their event (event/record.ts in an adapter).
// Each reads the rows of an endpoint, and then changes them by their keys: another process may have changed them since.

import { documentTag } from '../domain/document.ts';
import { firstEventIdAt } from '../domain/event/event.ts';
import type { VersionTag } from '../domain/user-group/user-group.ts';
import type {
  DeliveryKey,
  FinishedAttempt,
  WebhookEndpointKey,
} from '../domain/webhook-endpoint/delivery.ts';
import { endpointDocumentKey } from '../domain/webhook-endpoint/webhook-endpoint.ts';
import { DELIVERY, DELIVERY_KEY, ENDPOINT_POSITION, FAILING_ENDPOINT } from './entities.ts';
import { byDelivery } from './lock-order.ts';
import type { Command, CommandKind, CommandResult } from './port.ts';
import { failingSince, HAS_ENDPOINT, LAST_EVENT_ID, READS } from './reads.ts';
import { bigint, type Cell, RowShape, text } from './row-shape.ts';
import { all, exists, run, type Statement, statement } from './statement.ts';
import { type CommandSteps, type Steps, type StepsTransaction, send, sendEach, together } from './steps.ts';

const HAS_KEY =
  'bucket = $1 and workspace_id = $2 and environment = $3 and endpoint_id = $4 and event_id = $5';

/**
 * 0 without a next attempt. Not the plain column, for which PostgreSQL may choose the index of pending deliveries, and read
 * all those of the endpoint.
 */
const NEXT_ATTEMPT_AT = 'coalesce(next_attempt_at, 0)';

export const FIND_DUE = statement('find_due_deliveries')`
  select ${DELIVERY.names} from deliveries where ${HAS_ENDPOINT} and next_attempt_at between $4 and $5
  order by next_attempt_at, event_id limit $6`;

const { nextAttemptAt, state, responseStatus, error } = DELIVERY.fields;
/** A delivery that is still due at the same time. */
const DUE = new RowShape({ ...DELIVERY_KEY.fields, nextAttemptAt });

export const CLAIM = statement('claim_delivery')`
  update deliveries set next_attempt_at = $7 where ${HAS_KEY} and ${NEXT_ATTEMPT_AT} = $6 returning event_id`;

const FINISHED = new RowShape<FinishedAttempt>({
  key: DELIVERY_KEY,
  claimedUntil: bigint('claimed_until'),
  state,
  nextAttemptAt,
  attemptedAt: bigint('attempted_at'),
  responseStatus,
  error,
  attemptLog: text('attempt_log'),
});

export const FINISH = statement('finish_attempt')`
  update deliveries set state = $7, attempts = attempts + 1, next_attempt_at = $8, last_attempt_at = $9,
    response_status = $10, error = $11, attempt_log = $12
  where ${HAS_KEY} and (${NEXT_ATTEMPT_AT} = $6
    or $7 = 'delivered' and (state = 'failed' or ${NEXT_ATTEMPT_AT} > $6))`;

export const RETRY = statement('retry_delivery')`
  update deliveries set state = 'pending', attempts = 0, next_attempt_at = $6 where ${HAS_KEY} returning event_id`;

export const RETRY_FAILED = statement('retry_failed_delivery')`
  update deliveries set state = 'pending', attempts = 0, next_attempt_at = $6 where ${HAS_KEY} and state = 'failed'
  returning event_id`;

export const FIND_PENDING = statement('find_pending_deliveries')`
  select ${DELIVERY_KEY.names} from deliveries where ${HAS_ENDPOINT} and next_attempt_at is not null
  order by next_attempt_at, event_id limit $4`;

export const CANCEL = statement('cancel_delivery')`
  update deliveries set state = 'failed', next_attempt_at = null, error = $6 where ${HAS_KEY} and state = 'pending'`;

// Event ids sort by time, so the index leads to the oldest deliveries of an endpoint. Batches continue as those of events
// do (event-deletion.ts).
export const FIND_OLDEST = statement('find_oldest_deliveries')`
  select ${DELIVERY_KEY.names} from deliveries where ${HAS_ENDPOINT} and event_id > $4 and event_id < $5
  order by event_id limit $6`;

// A statement for each row, in order: one for a range locks rows in the order of its plan, and deadlocks with FINISH.
export const DELETE = statement(
  'delete_delivery',
)`delete from deliveries where ${HAS_KEY} returning event_id`;

export const SET_FAILING = statement('set_failing_since')`
  insert into failing_webhook_endpoints (${FAILING_ENDPOINT.names}) values (${FAILING_ENDPOINT.parameters})
  on conflict (workspace_id, environment, endpoint_id) do nothing`;

export const CLEAR_FAILING = statement('clear_failing_since')`
  delete from failing_webhook_endpoints where ${HAS_ENDPOINT}`;

/** Commands of the port. */
export const DELIVERY_WRITES = {
  *claimDeliveries({ endpoint, due: { from, to }, until, limit }) {
    const [due, since, document] = yield* together(
      all(DELIVERY, FIND_DUE, [...ENDPOINT_POSITION.cells(endpoint), from, to, limit]),
      failingSince(endpoint),
      // Read last: the deliveries may be those of events after a change of the endpoint.
      READS.findDocument({ key: endpointDocumentKey(endpoint) }),
    );
    const claimable = due.toSorted(byDelivery);
    const isClaimed = yield* sendEach(CLAIM, DUE, claimable, until);
    const claimed = new Set(claimable.filter((_, index) => isClaimed[index]));
    const deliveries = due.filter((each) => claimed.has(each));
    return {
      deliveries: deliveries.map((each) => ({ ...each, nextAttemptAt: until })),
      failingSince: since,
      document,
    };
  },
  *finishAttempts({ attempts }) {
    const inOrder = attempts.toSorted((a, b) => byDelivery(a.key, b.key));
    yield* sendEach(FINISH, FINISHED, inOrder);
  },
  *retryDelivery({ endpoint, eventId, now }) {
    const delivery = yield* send(READS.findDelivery({ endpoint, eventId }));
    return delivery !== null && (yield* send(exists(RETRY, [...DELIVERY_KEY.cells(delivery), now])));
  },
  *cancelDeliveries({ endpoint, tag, error, limit }, transaction) {
    if ((yield* lockedTag(endpoint, transaction)) !== tag) return 0;
    const pending = yield* send(
      all(DELIVERY_KEY, FIND_PENDING, [...ENDPOINT_POSITION.cells(endpoint), limit]),
    );
    yield* sendEach(CANCEL, DELIVERY_KEY, pending.toSorted(byDelivery), error);
    return pending.length;
  },
  *deleteDeliveries({ endpoint, limit }, transaction) {
    if ((yield* lockedTag(endpoint, transaction)) !== null) return 0;
    const { found } = yield* deleteOldest(endpoint, ['', LAST_EVENT_ID, limit]);
    return found.length;
  },
  *deleteOldDeliveries({ endpoint, before, limit, after = [''] }) {
    const { found, deleted } = yield* deleteOldest(endpoint, [...after, firstEventIdAt(before), limit]);
    const last = found.at(-1)?.eventId ?? null;
    return { deleted, hasMore: found.length === limit, next: [last] };
  },
  *setFailingSince({ endpoint, since }) {
    const key = ENDPOINT_POSITION.cells(endpoint);
    yield [since === null ? run(CLEAR_FAILING, key) : run(SET_FAILING, [...key, since])];
    return yield* send(failingSince(endpoint));
  },
} satisfies { [Kind in CommandKind]?: CommandSteps<Kind> };

/** `find` is a statement of the adapter, with the keys of failed deliveries in the order of their events. */
export function* retryFailedDeliveries(
  find: Statement,
  { endpoint, after, now, limit }: Omit<Command<'retryFailedDeliveries'>, 'kind'>,
): Steps<CommandResult<'retryFailedDeliveries'>> {
  const failed = yield* send(all(DELIVERY_KEY, find, [...ENDPOINT_POSITION.cells(endpoint), after, limit]));
  const retried = yield* sendEach(RETRY_FAILED, DELIVERY_KEY, failed, now);
  return { retried: retried.filter(Boolean).length, hasMore: failed.length === limit };
}

/** Prevents until the end of the transaction that an event is recorded for a new version of the endpoint. */
function* lockedTag(
  endpoint: WebhookEndpointKey,
  { lockEnvironment }: StepsTransaction,
): Steps<VersionTag | null> {
  const key = endpointDocumentKey(endpoint);
  yield* lockEnvironment(key);
  const document = yield* send(READS.findDocument({ key }));
  return document && documentTag(document);
}

/** `bounds`: event ids before and after the events, and the limit. Another process may delete some of those found. */
function* deleteOldest(
  endpoint: WebhookEndpointKey,
  bounds: readonly Cell[],
): Steps<{ found: DeliveryKey[]; deleted: number }> {
  const found = yield* send(
    all(DELIVERY_KEY, FIND_OLDEST, [...ENDPOINT_POSITION.cells(endpoint), ...bounds]),
  );
  const isDeleted = yield* sendEach(DELETE, DELIVERY_KEY, found);
  return { found, deleted: isDeleted.filter(Boolean).length };
}
