// Several processes, and processes that stop, deliver each webhook once in the normal case.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { BatchingStore } from '../../src/store/batching-store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { WebhookDispatcher } from '../../src/webhooks/dispatcher.ts';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import { mapConcurrently } from '../support/http.ts';
import { createApiToken, eventually, Folder, serve } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { startAbnormalReceivers } from '../support/webhooks/abnormal-receiver.ts';
import { Receiver } from '../support/webhooks/receiver.ts';
import { env, PATH, Tenant } from '../support/webhooks/tenant.ts';

/** Leaves time for what remains to be done after the shutdown timeout. */
const PROMPT_MS = 5_000;
/** Maximum duration of an attempt; shorter than the pause of a process. */
const TIMEOUT_MS = 500;

describeOnEachDatabase('A process', (database) => {
  it('completes the deliveries in flight when it stops, and another one continues', async () => {
    await using receiver = await Receiver.start((response) => setTimeout(() => response.end(), 300));
    await using service = await TestService.start(database, { env });
    const tenant = await Tenant.create(service, 'default');
    await tenant.endpoint('draining', receiver.url);
    const ids = Array.from({ length: 20 }, (_, index) => `group-${index}`);
    await mapConcurrently(ids, (id) => tenant.createGroup(id));
    await receiver.waitFor(1);
    await service.restart();
    await receiver.waitFor(20);
    await sleep(400);
    const received = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.deepEqual([received.length, new Set(received).size], [20, 20]);
  });

  it('stops in time, whatever its receivers do', async () => {
    using folder = new Folder();
    const created = await database.create();
    const receivers = await startAbnormalReceivers();
    try {
      const settings = { ...created.env, ...env, UGS_SHUTDOWN_DELAY_MS: '0', UGS_SHUTDOWN_TIMEOUT_MS: '500' };
      const options = { env: settings };
      const { token } = await createApiToken(folder, ['--permission', 'admin'], options);
      await using service = await serve(folder, options);
      for (const [index, { url }] of [...receivers.values()].entries()) {
        const body = { url, event_types: ['user_group.created'] };
        const { status } = await service.call(token, 'PUT', `${PATH}/endpoint-${index}`, body);
        assert.equal(status, 201);
      }
      await service.call(token, 'POST', '/v1/user-groups', { user_group_id: 'to all', name: 'To all' });
      const unanswered = ['101 to websocket', 'no response', 'slow endless headers'] as const;
      await eventually('attempts to run', () =>
        unanswered.every((form) => receivers.get(form)!.received > 0),
      );
      service.signal('SIGTERM');
      assert.equal((await service.exit(500 + PROMPT_MS)).code, 0);
      // An aborted attempt does not count: another process takes over.
      const aborted = "select attempts from deliveries where error = 'the service stopped'";
      assert.deepEqual(await runSql(created, aborted), []);
    } finally {
      for (const receiver of receivers.values()) await receiver[Symbol.asyncDispose]();
      await created.drop();
    }
  });
});

describeOnEachDatabase('A process that is paused after it has claimed a delivery', (database) => {
  // One thread, whose dispatcher the test replaces.
  const service = TestService.of(database, { env: { ...env, UGS_THREADS: '1' } });

  it('does not send it to the former URL of the endpoint when it continues', async () => {
    await using receiver = await Receiver.start();
    const tenant = await Tenant.create(service, 'default');
    await service.app.webhooks.stop(0);
    await tenant.endpoint('moved', `${receiver.url}/former`);
    await tenant.createGroup('acme');
    const { context } = service.app;
    const paused = Promise.withResolvers<void>();
    const store = pausedAfterClaim(context.store, async () => {
      await tenant.endpoint('moved', `${receiver.url}/present`);
      await sleep(2 * TIMEOUT_MS);
      paused.resolve();
    });
    const onError = (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    };
    const log = pino({ level: 'silent' });
    const options = { context, log, allowsPrivate: true, observer: null, onError };
    const dispatcher = new WebhookDispatcher({
      ...options,
      context: { ...context, store },
      timeoutMs: TIMEOUT_MS,
    });
    const other = new WebhookDispatcher(options);
    await dispatcher.poll();
    await paused.promise;
    // The claim expires.
    service.clockAheadMs += 30_000;
    await other.poll();
    await receiver.waitFor(1);
    for (const each of [dispatcher, other]) await each.stop(PROMPT_MS);
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/webhooks/present'],
    );
  });
});

/** Returns the store with a pause between the first claim and what the claiming process reads after it. */
function pausedAfterClaim(store: BatchingStore, pause: () => Promise<void>): BatchingStore {
  let state: 'before' | 'claimed' | 'paused' = 'before';
  const wrap = (wrapped: BatchingStore): BatchingStore => {
    const methods: Partial<Record<string | symbol, unknown>> & Partial<BatchingStore> = {
      until: (...args) => wrap(wrapped.until(...args)),
      forTenant: (...args) => wrap(wrapped.forTenant(...args)),
      write: (command) => {
        if (command.kind === 'claimDeliveries' && state === 'before') state = 'claimed';
        return wrapped.write(command);
      },
      read: async (query) => {
        const result = await wrapped.read(query);
        const isPaused = state === 'claimed';
        if (isPaused) state = 'paused';
        if (isPaused) await pause();
        return result;
      },
    };
    return new Proxy(wrapped, {
      get: (target, name) => {
        const value = methods[name] ?? Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  return wrap(store);
}

// Only one process can serve SQLite.
describe('two processes (PostgreSQL)', () => {
  const [first, second] = TestService.pairOf(postgres, { env });

  it('deliver each of 400 events once', async () => {
    await using receiver = await Receiver.start();
    const tenant = await Tenant.create(first, 'default');
    await tenant.endpoint('shared', receiver.url);
    const ids = Array.from({ length: 400 }, (_, index) => `group-${index}`);
    await mapConcurrently(ids, (id, index) => tenant.createGroup(id, index % 2 === 0 ? first : second));
    await receiver.waitFor(400);
    await sleep(1_500);
    const received = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.deepEqual([received.length, new Set(received).size], [400, 400]);
  });

  it('deliver what a command line has recorded', async () => {
    await using receiver = await Receiver.start();
    const tenant = await Tenant.create(first, 'default');
    await tenant.endpoint('polled', receiver.url, ['api_token.revoked']);
    await runSql(
      first.database,
      `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
         target_id, position, state, attempts, next_attempt_at, created_at)
       select bucket, workspace_id, environment, 'polled', event_id, type, target_type, target_id, position, 'pending',
         0, 0, 0
       from events where type = 'api_token.created' order by event_id limit 1`,
    );
    const [webhook] = await receiver.waitFor(1);
    assert.equal(JSON.parse(webhook!.body).type, 'api_token.created');
  });
});
