// Endpoints that a poll looks at; their rows name endpoints that need not exist.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { WebhookDispatcher } from '../../src/webhooks/dispatcher.ts';
import { PendingEndpoints } from '../../src/webhooks/pending-endpoints.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const HOSTILE_WORKSPACES = [11, 12, 13];
const ENDPOINTS = 200;
/** Maximum number of endpoints of one poll. */
const MAX_OF_POLL = 256;
/** Last in the order of the keys. */
const VICTIM = 14;
/** Not due while the test runs, so the service itself does nothing about them. */
const DUE_AT = Date.now() + 3_600_000;

describeOnEachDatabase('A poll', (database) => {
  const service = TestService.of(database);

  const insertPending = (workspaceId: number, endpoints: number) =>
    runSql(
      service.database,
      `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
         target_id, position, state, attempts, next_attempt_at, created_at)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${endpoints})
       select 0, ${workspaceId}, 'Customer', 'endpoint-' || n, 'evt_1', 'user_group.created', 'user_group', 'a', 1,
         'pending', 0, ${DUE_AT}, 0 from numbers`,
    );

  const newDispatcher = () => {
    const { context } = service.app;
    const onError = (error: unknown) => assert.fail(String(error));
    const observers = { observer: null, log: pino({ level: 'silent' }), onError };
    return new WebhookDispatcher({ context, allowsPrivate: true, ...observers });
  };

  it('finds nothing while nothing is pending', async () => {
    const pending = new PendingEndpoints(service.app.context.store);
    assert.equal(await pending.visit(() => assert.fail('visited')), false);
  });

  it('comes later and later while nothing is pending, and within seconds', async () => {
    const dispatcher = newDispatcher();
    const delays: number[] = [];
    for (let poll = 0; poll < 4; poll++) delays.push(await dispatcher.poll());
    assert.deepEqual(delays, [2_000, 4_000, 5_000, 5_000]);
    await insertPending(VICTIM + 1, 1);
    assert.equal(await dispatcher.poll(), 1_000);
    await runSql(service.database, 'delete from deliveries');
  });

  it('does not begin once its dispatcher has stopped', async (t) => {
    const dispatcher = newDispatcher();
    const { mock } = t.mock.method(dispatcher, 'poll', async () => 0);
    dispatcher.start();
    await dispatcher.stop(0);
    await setTimeout(500);
    assert.equal(mock.callCount(), 0);
  });

  it('visits the endpoints of every workspace, however many others have, and all of them in turn', async () => {
    for (const workspaceId of HOSTILE_WORKSPACES) await insertPending(workspaceId, ENDPOINTS);
    await insertPending(VICTIM, 2);
    const pending = new PendingEndpoints(service.app.context.store);
    const visits = new Map<string, number>();
    const victims: number[] = [];
    for (let poll = 0; poll < 3; poll++) {
      let [ofPoll, ofVictim] = [0, 0];
      const isAny = await pending.visit(({ endpoint: { workspaceId, endpointId } }) => {
        ofPoll++;
        if (workspaceId === VICTIM) ofVictim++;
        const name = `${workspaceId}/${endpointId}`;
        visits.set(name, (visits.get(name) ?? 0) + 1);
      });
      assert.equal(isAny, true);
      assert.ok(ofPoll <= MAX_OF_POLL, `${ofPoll} endpoints`);
      victims.push(ofVictim);
    }
    assert.deepEqual(victims, [2, 2, 2]);
    assert.equal(visits.size, HOSTILE_WORKSPACES.length * ENDPOINTS + 2);
  });

  it('ends before its dispatcher has stopped, and the database may be closed', async (t) => {
    const dispatcher = newDispatcher();
    const started = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<number>();
    t.mock.method(dispatcher, 'poll', () => {
      started.resolve();
      return ending.promise;
    });
    dispatcher.start();
    await started.promise;
    let isStopped = false;
    const stopped = dispatcher.stop(60_000).then(() => {
      isStopped = true;
    });
    await setImmediate();
    assert.equal(isStopped, false);
    ending.resolve(0);
    await stopped;
  });
});
