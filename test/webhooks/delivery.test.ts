// Webhook delivery: Standard Webhooks 1.0, at least once, with retries, to real receivers.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import {
  claimDue,
  disableEndpoint,
  giveUpDeliveries,
} from '../../src/operations/webhook-endpoint/delivery.ts';
import { forgetEndpoint } from '../../src/operations/webhook-endpoint/webhook-endpoint.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { type ClaimedDeliveries, type Command, StoreUnavailable } from '../../src/store/port.ts';
import { Lane } from '../../src/webhooks/lane.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { mapConcurrently, send, type TestResponse } from '../support/http.ts';
import { intercept } from '../support/intercept.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { type ReceivedWebhook, Receiver, respondWith } from '../support/webhooks/receiver.ts';
import { advance, env, PATH, Tenant, type TestDelivery } from '../support/webhooks/tenant.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

function verify(secret: string, { body, headers }: ReceivedWebhook): unknown {
  return new Webhook(secret).verify(body, headers);
}

describeOnEachDatabase('A webhook', (database) => {
  const service = TestService.of(database, { env });
  let created = 0;
  afterEach(() => {
    service.clockAheadMs = 0;
  });

  const linesAbout = (endpointId: string) =>
    service.logLines
      .filter((line) => line.includes(endpointId))
      .map((line) => JSON.parse(line))
      .filter((line) => line.endpointId === endpointId);

  const newTenant = () => Tenant.create(service, `workspace ${created++}`);
  const advanceToRetry = ({ next_attempt_at }: TestDelivery) =>
    advance(service, Date.parse(next_attempt_at!) - Date.now() - service.clockAheadMs + SECOND);

  it('is the event, signed as in Standard Webhooks', async () => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    const secret = await tenant.endpoint('signed', receiver.url);
    const { headers } = await tenant.call('POST', '/v1/user-groups', {
      user_group_id: 'acme',
      name: 'Ácme',
      properties: { big: 1, text: '\u2028"' },
    });
    const [webhook] = await receiver.waitFor(1);
    verify(secret, webhook!);
    assert.throws(() => verify(secret, { ...webhook!, body: `${webhook!.body} ` }));
    const event = JSON.parse(webhook!.body);
    assert.equal(webhook!.headers['webhook-id'], event.event_id);
    assert.equal(webhook!.headers['content-type'], 'application/json');
    assert.match(webhook!.headers['user-agent']!, /^User-Group-Service/);
    assert.equal(webhook!.headers.authorization, undefined);
    assert.deepEqual(
      [event.type, event.target, event.version, event.request_id],
      ['user_group.created', { type: 'user_group', id: 'acme' }, 1, headers['x-request-id']],
    );
    assert.deepEqual(event.changes.properties.text, { to: '\u2028"' });
    const delivery = await tenant.waitFor('signed', ({ state }) => state === 'delivered');
    assert.deepEqual(
      [
        delivery.event_id,
        delivery.attempts,
        delivery.response_status,
        delivery.error,
        delivery.next_attempt_at,
      ],
      [event.event_id, 1, 200, null, null],
    );
  });

  it('arrives promptly', async () => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('prompt', receiver.url);
    const sentAt = performance.now();
    await tenant.createGroup('prompt');
    const [webhook] = await receiver.waitFor(1);
    assert.ok(webhook!.receivedAt - sentAt < 500, `${webhook!.receivedAt - sentAt} ms`);
  });

  it('goes only to enabled endpoints of the same workspace and environment that subscribe to its type', async () => {
    await using receiver = await Receiver.start();
    const [tenant, other] = [await newTenant(), await newTenant()];
    await tenant.endpoint('all', `${receiver.url}/all`, ['*']);
    await tenant.endpoint('some', `${receiver.url}/some`, ['user_group.deleted']);
    await other.endpoint('other', `${receiver.url}/other`, ['*']);
    const disabled = { url: `${receiver.url}/disabled`, event_types: ['*'], enabled: false };
    await tenant.call('PUT', `${PATH}/disabled`, disabled);
    await tenant.createGroup('group');
    await tenant.call('DELETE', '/v1/user-groups/group');
    await receiver.waitFor(5);
    await sleep(50);
    const typesAt = (path: string) =>
      receiver.received
        .filter((webhook) => webhook.path === `/webhooks/${path}`)
        .map(({ body }) => JSON.parse(body).type)
        .sort();
    assert.deepEqual(typesAt('all'), [
      'user_group.created',
      'user_group.deleted',
      'webhook_endpoint.created',
      'webhook_endpoint.created',
    ]);
    assert.deepEqual(typesAt('some'), ['user_group.deleted']);
    assert.deepEqual([...typesAt('other'), ...typesAt('disabled')], []);
  });

  it('has two signatures for a day after a rotation', async () => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    const old = await tenant.endpoint('rotated', receiver.url);
    const { json } = await tenant.call('POST', `${PATH}/rotated/rotate`);
    await tenant.createGroup('during');
    const [during] = await receiver.waitFor(1);
    assert.equal(during!.headers['webhook-signature']!.split(' ').length, 2);
    for (const secret of [json.secret, old]) verify(secret, during!);
    service.clockAheadMs = DAY + SECOND;
    await tenant.createGroup('after');
    const after = (await receiver.waitFor(2))[1]!;
    assert.equal(after.headers['webhook-signature']!.split(' ').length, 1);
    assert.ok(Number(after.headers['webhook-timestamp']) * SECOND > Date.now() + DAY - HOUR);
  });

  it('is retried although a clock that was ahead has scheduled the retry, and only once for each schedule', async () => {
    await using receiver = await Receiver.start(respondWith(500));
    const tenant = await newTenant();
    await tenant.endpoint('ahead', receiver.url);
    service.clockAheadMs = 3_650 * DAY;
    await tenant.createGroup('ahead');
    await tenant.createGroup('ahead too');
    await tenant.waitFor('ahead', ({ attempts }) => attempts === 1);
    await receiver.waitFor(2);
    await advance(service, -3_650 * DAY);
    await receiver.waitFor(4);
    const { next_attempt_at } = await tenant.waitFor('ahead', ({ attempts }) => attempts === 2);
    assert.ok(Date.parse(next_attempt_at!) < Date.now() + HOUR);
    await service.app.webhooks.poll();
    assert.equal(receiver.received.length, 4);
    receiver.respond = (response) => void response.end();
    await advance(service, HOUR);
    await tenant.waitFor('ahead', ({ state }) => state === 'delivered');
  });

  it('is retried after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 24 h, then given up', async () => {
    await using receiver = await Receiver.start(respondWith(500));
    const tenant = await newTenant();
    const secret = await tenant.endpoint('retried', receiver.url);
    await tenant.createGroup('retried');
    const delaysMs = [5 * SECOND, HOUR / 12, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 24 * HOUR];
    for (const [index, delayMs] of delaysMs.entries()) {
      const { next_attempt_at, error } = await tenant.waitFor(
        'retried',
        ({ attempts }) => attempts === index + 1,
      );
      assert.equal(error, 'the receiver returned 500');
      const waitMs = Date.parse(next_attempt_at!) - Date.now() - service.clockAheadMs;
      assert.ok(waitMs > delayMs - 2 * SECOND && waitMs <= delayMs * 1.2, `${delayMs}: ${waitMs}`);
      await advance(service, waitMs + SECOND);
    }
    const last = await tenant.waitFor('retried', ({ attempts }) => attempts === delaysMs.length + 1);
    assert.deepEqual([last.state, last.next_attempt_at], ['failed', null]);
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    assert.deepEqual([receiver.received.length, ids.size], [delaysMs.length + 1, 1]);

    receiver.respond = (response) => void response.end();
    const again = await tenant.call('POST', `${PATH}/retried/deliveries/${last.event_id}/redeliver`);
    assert.deepEqual([again.status, again.json], [202, { success: 1, event_id: last.event_id }]);
    const retried = await tenant.waitFor('retried', ({ state }) => state === 'delivered');
    assert.equal(retried.attempts, 1);
    assert.ok(receiver.received.at(-1)!.body.includes(last.event_id));
    service.clockAheadMs = 0;
    assert.match(secret, /^whsec_/);
  });

  it('that is delivered can be delivered again; an unknown one not', async () => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('again', receiver.url);
    await tenant.createGroup('again');
    const { event_id } = await tenant.waitFor('again', ({ state }) => state === 'delivered');
    await tenant.call('POST', `${PATH}/again/deliveries/${event_id}/redeliver`);
    const [first, second] = await receiver.waitFor(2);
    assert.equal(first!.body, second!.body);
    assertProblem(await tenant.call('POST', `${PATH}/again/deliveries/evt_0/redeliver`), 'not_found');
  });

  it('is read with each attempt, its duration, and the event that the receiver gets', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const tenant = await newTenant();
    await tenant.endpoint('attempts', receiver.url);
    await tenant.createGroup('acme');
    await tenant.waitFor('attempts', ({ attempts }) => attempts === 1);
    receiver.respond = respondWith(204);
    await advance(service, 10 * SECOND);
    const listed = await tenant.waitFor('attempts', ({ state }) => state === 'delivered');
    const read = await tenant.call('GET', `${PATH}/attempts/deliveries/${listed.event_id}`);
    const { recent_attempts: attempts, ...delivery } = read.json.delivery;
    assert.deepEqual(delivery, listed);
    assert.deepEqual(
      attempts.map((each: TestDelivery) => [each.response_status, each.error]),
      [
        [204, null],
        [503, 'the receiver returned 503'],
      ],
    );
    for (const { ended_at, duration_ms } of attempts)
      assert.ok(Date.parse(ended_at) > 0 && duration_ms >= 0 && duration_ms < 15 * SECOND);
    assert.deepEqual(read.json.event, JSON.parse(receiver.received.at(-1)!.body));
    for (const path of ['attempts/deliveries/evt_0', `other/deliveries/${listed.event_id}`])
      assertProblem(await tenant.call('GET', `${PATH}/${path}`), 'not_found');
    await tenant.call('DELETE', `${PATH}/attempts`);
    assertProblem(await tenant.call('GET', `${PATH}/attempts/deliveries/${listed.event_id}`), 'not_found');
  });

  it('that failed since an instant is delivered again with all others, and nothing else', async () => {
    await using receiver = await Receiver.start(respondWith(410));
    const tenant = await newTenant();
    await tenant.endpoint('failed', receiver.url);
    const before = new Date(Date.now() - HOUR).toISOString();
    await tenant.createGroup('one');
    await tenant.waitFor('failed', ({ state }) => state === 'failed');
    const redeliver = (since: unknown) => tenant.call('POST', `${PATH}/failed/redeliver-failed`, { since });
    await tenant.waitUntilDisabled('failed');
    assertProblem(await redeliver(before), 'invalid_request');
    receiver.respond = respondWith(204);
    await tenant.endpoint('failed', receiver.url);
    await tenant.createGroup('two');
    await tenant.waitFor('failed', ({ state }) => state === 'delivered');
    const states = async (state: string) =>
      (await tenant.call('GET', `${PATH}/failed/deliveries?state=${state}`)).json.deliveries.length;
    assert.deepEqual([await states('failed'), await states('delivered'), await states('pending')], [1, 1, 0]);
    const later = await redeliver('2999-01-01T00:00:00Z');
    assert.deepEqual([later.status, later.json.redelivered], [202, 0]);
    const again = await redeliver(before);
    assert.deepEqual([again.status, again.json], [202, { success: 1, redelivered: 1, has_more: false }]);
    await eventually('the redelivery', async () => (await states('delivered')) === 2);
    assert.equal(receiver.received.length, 3);
    for (const since of ['yesterday', '2026-03-02', 5, null])
      assertProblem(await redeliver(since), 'invalid_request');
    assertProblem(await tenant.call('POST', `${PATH}/failed/redeliver-failed`), 'body_missing');
    const unknown = await tenant.call('POST', `${PATH}/unknown/redeliver-failed`, { since: before });
    assertProblem(unknown, 'not_found');
  });

  it('is counted in the health of its endpoint', async () => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('health', receiver.url);
    const health = async () => (await tenant.call('GET', `${PATH}/health/health`)).json.health;
    const nothing = { failing_since: null, last_delivered_at: null, pending_deliveries: 0 };
    assert.deepEqual(await health(), nothing);
    await tenant.createGroup('one');
    await tenant.waitFor('health', ({ state }) => state === 'delivered');
    const { last_delivered_at: lastSuccess, ...healthy } = await health();
    assert.deepEqual(healthy, { failing_since: null, pending_deliveries: 0 });
    assert.ok(Date.parse(lastSuccess) > 0);
    receiver.respond = respondWith(503);
    await tenant.createGroup('two');
    const { failing_since: failingSince, ...failing } = await eventually('the failure', async () => {
      const found = await health();
      return found.failing_since === null ? null : found;
    });
    assert.deepEqual(failing, { last_delivered_at: lastSuccess, pending_deliveries: 1 });
    assert.ok(Date.parse(failingSince) >= Date.parse(lastSuccess));
    assertProblem(await tenant.call('GET', `${PATH}/unknown/health`), 'not_found');
    await tenant.endpoint('health', receiver.url);
    assert.equal((await health()).failing_since, failingSince);
    // Repeats a change whose call failed before it forgot the failures.
    await runSql(
      service.database,
      "update failing_webhook_endpoints set failing_since = 1 where endpoint_id = 'health'",
    );
    await tenant.endpoint('health', receiver.url);
    assert.equal((await health()).failing_since, null);
    await tenant.createGroup('again');
    await eventually('the failure', async () => (await health()).failing_since !== null);
    // Earlier failures may be those of another URL, or of an earlier endpoint with the same id.
    await tenant.endpoint('health', `${receiver.url}/changed`);
    assert.equal((await health()).failing_since, null);
    await tenant.createGroup('three');
    await eventually('the failure', async () => (await health()).failing_since !== null);
    await tenant.call('DELETE', `${PATH}/health`);
    await tenant.endpoint('health', receiver.url);
    assert.deepEqual(await health(), nothing);
  });

  it('that is requested again during an attempt is sent again, whenever that attempt ends', async () => {
    let accept: (() => void) | undefined;
    await using receiver = await Receiver.start((response) => {
      accept = () => void response.end();
    });
    const tenant = await newTenant();
    await tenant.endpoint('during', receiver.url);
    await tenant.createGroup('during');
    await receiver.waitFor(1);
    const acceptFirst = accept!;
    receiver.respond = respondWith(500);
    const [delivery] = await tenant.deliveries('during');
    await tenant.call('POST', `${PATH}/during/deliveries/${delivery!.event_id}/redeliver`);
    acceptFirst();
    await receiver.waitFor(2);
  });

  it('is not sent a second time while an attempt may still be running, and is sent again after that', async () => {
    const attempts: ServerResponse[] = [];
    await using receiver = await Receiver.start((response) => void attempts.push(response));
    const tenant = await newTenant();
    await tenant.endpoint('hanging', receiver.url);
    await tenant.createGroup('hanging');
    await receiver.waitFor(1);
    // Covers the longest wait of a claim and the timeout of an attempt.
    await advance(service, 17 * SECOND);
    await sleep(200);
    assert.equal(receiver.received.length, 1);
    await advance(service, 4 * SECOND);
    await receiver.waitFor(2);
    // The first attempt has lost its claim, so its failure no longer counts.
    attempts[0]!.destroy();
    await sleep(200);
    attempts[1]!.end();
    const delivered = await tenant.waitFor('hanging', ({ state }) => state === 'delivered');
    assert.equal(delivered.attempts, 1);
    // A late success counts, because the receiver has the webhook.
    await tenant.createGroup('late');
    await receiver.waitFor(3);
    await advance(service, 21 * SECOND);
    await receiver.waitFor(4);
    attempts[2]!.end();
    await tenant.waitFor('hanging', ({ state }) => state === 'delivered');
    attempts[3]!.end();
  });

  it('for a test goes to one endpoint only, whatever its types', async () => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    const secret = await tenant.endpoint('tested', receiver.url, ['api_token.created']);
    await tenant.endpoint('not-tested', `${receiver.url}/other`, ['webhook_endpoint.tested']);
    const tested = await tenant.call('POST', `${PATH}/tested/test`);
    assert.equal(tested.status, 202);
    await receiver.waitFor(1);
    await sleep(50);
    assert.equal(receiver.received.length, 1);
    const event = verify(secret, receiver.received[0]!) as Record<string, unknown>;
    assert.deepEqual(
      [event.event_id, event.type, event.target, event.changes],
      [tested.json.event_id, 'webhook_endpoint.tested', { type: 'webhook_endpoint', id: 'tested' }, null],
    );
  });

  it('does not follow redirects', async () => {
    await using target = await Receiver.start();
    await using receiver = await Receiver.start((response) => {
      response.writeHead(302, { location: target.url }).end();
    });
    const tenant = await newTenant();
    await tenant.endpoint('redirected', receiver.url);
    await tenant.createGroup('redirected');
    const { error } = await tenant.waitFor('redirected', ({ attempts }) => attempts === 1);
    assert.equal(error, 'the receiver returned 302, and redirects are not followed');
    assert.equal(target.received.length, 0);
    receiver.respond = respondWith(304);
    await tenant.createGroup('not modified');
    const unmodified = await tenant.waitFor('redirected', ({ attempts }) => attempts === 1);
    assert.equal(unmodified.error, 'the receiver returned 304');
  });

  it('that the receiver answers with an endless body is delivered', async () => {
    await using receiver = await Receiver.start((response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
        response.once('drain', more);
      };
      more();
    });
    const tenant = await newTenant();
    await tenant.endpoint('endless', receiver.url);
    await tenant.createGroup('endless');
    await tenant.waitFor('endless', ({ state }) => state === 'delivered');
  });

  it('that nobody accepts says why', async () => {
    const tenant = await newTenant();
    await using receiver = await Receiver.start();
    await tenant.endpoint('refused', 'http://127.0.0.1:1025/');
    await tenant.endpoint('reset', receiver.url);
    receiver.respond = (response) => response.destroy();
    await tenant.createGroup('refused');
    const { error, response_status } = await tenant.waitFor('refused', ({ attempts }) => attempts === 1);
    assert.deepEqual([error, response_status], ['connection refused', null]);
    const reset = await tenant.waitFor('reset', ({ attempts }) => attempts === 1);
    assert.equal(reset.error, 'the receiver closed the connection without a response');
  });

  it('to a receiver that hangs or fails delays nobody else', async () => {
    await using hanging = await Receiver.start(() => {});
    await using failing = await Receiver.start(respondWith(500));
    await using healthy = await Receiver.start();
    const tenant = await newTenant();
    for (let index = 0; index < 5; index++) {
      await tenant.endpoint(`hanging-${index}`, hanging.url);
      await tenant.endpoint(`failing-${index}`, failing.url);
    }
    await tenant.endpoint('healthy', healthy.url);
    const ids = Array.from({ length: 50 }, (_, index) => `group-${index}`);
    await mapConcurrently(ids, (id) => tenant.createGroup(id));
    await healthy.waitFor(ids.length);
    // None of the attempts that hang has ended, which takes 15 seconds.
    for (const { attempts } of await tenant.deliveries('hanging-0')) assert.equal(attempts, 0);
    assert.ok(hanging.received.length <= 5 * 4, `${hanging.received.length} connections hang`);
    for (let index = 0; index < 5; index++) await tenant.call('DELETE', `${PATH}/hanging-${index}`);
    hanging.respond = (response) => void response.end();
  });

  it('is one of at most 32 to its endpoint at a time, however many were accepted', async () => {
    const tenant = await newTenant();
    await using receiver = await Receiver.start();
    const held = await holdMany(tenant, receiver);
    // Leaves time for more attempts to arrive.
    await tenant.deliveries('many');
    assert.equal(held.filter(({ destroyed }) => !destroyed).length, 32);
  });

  it('is one of half as many to its endpoint at a time after another has failed', async () => {
    const tenant = await newTenant();
    await using receiver = await Receiver.start();
    const held = await holdMany(tenant, receiver);
    held.shift()!.writeHead(500).end();
    const health = async () => (await tenant.call('GET', `${PATH}/many/health`)).json.health;
    await eventually('the failure', async () => (await health()).failing_since !== null);
    // Another attempt begins when the request ends, before its failure is stored.
    await eventually('the attempt after it', () => held.length === 32);
    const before = receiver.received.length;
    for (const response of held.splice(0, 4)) response.end();
    await eventually('the success', async () => (await health()).failing_since === null);
    await sleep(200);
    assert.equal(receiver.received.length, before, 'as many as before run');
    for (const response of held) response.end();
    await receiver.waitFor(before + 1);
  });

  it('is one of four to its endpoint at a time when its retries begin, and then the only one', async (t) => {
    await using receiver = await Receiver.start(respondWith(500));
    const tenant = await newTenant();
    await tenant.endpoint('failing', receiver.url);
    // No retry is due before the test advances the clock.
    using _ = service.stopClock();
    const ids = Array.from({ length: 8 }, (_, index) => `failing-${index}`);
    const { mock } = t.mock.method(Lane.prototype, 'wake');
    for (const id of ids) await tenant.createGroup(id);
    await eventually('the failures', async () => {
      const deliveries = await tenant.deliveries('failing');
      return deliveries.length === ids.length && deliveries.every(({ attempts }) => attempts === 1);
    });
    // The process may still be reacting to the last one; retries that begin meanwhile are sent one at a time.
    const lanes = new Set(mock.calls.map(({ this: lane }) => lane as Lane));
    await Promise.all([...lanes].map((lane) => lane.idle()));
    const held: ServerResponse[] = [];
    receiver.respond = (response) => void held.push(response);
    await advance(service, 10 * SECOND);
    await receiver.waitFor(ids.length + 4);
    for (const failed of [1, 3]) {
      for (const response of held.splice(0, failed)) response.writeHead(500).end();
      const left = failed === 1 ? 3 : 1;
      await eventually('the next attempt', () => held.length === left);
      await sleep(300);
      assert.equal(held.length, left);
    }
    receiver.respond = (response) => void response.end();
    held[0]!.end();
    await receiver.waitFor(2 * ids.length);
  });

  it('that succeeds ends the count of failures, also if one was recorded during a claim', async (t) => {
    const held: ServerResponse[] = [];
    await using receiver = await Receiver.start((response) => void held.push(response));
    const tenant = await newTenant();
    await tenant.endpoint('shop', receiver.url);
    const isFailing = async () =>
      (await tenant.call('GET', `${PATH}/shop/health`)).json.health.failing_since !== null;
    // A lane begins with as many, so the next claim waits until one of them ends.
    for (let index = 0; index < 4; index++) await tenant.createGroup(`held-${index}`);
    await receiver.waitFor(4);
    const { write } = BatchingStore.prototype;
    const claimDuringFailure = async function (this: BatchingStore, command: Command) {
      const result = await write.call(this, command);
      if (command.kind !== 'claimDeliveries') return result;
      mocked.mock.restore();
      await eventually('the failure', isFailing);
      // Leaves time for the process to see it too.
      await sleep(100);
      return result;
    };
    const mocked = t.mock.method(BatchingStore.prototype, 'write', claimDuringFailure as typeof write);
    await tenant.createGroup('claimed');
    held.shift()!.writeHead(500).end();
    await receiver.waitFor(5);
    for (const response of held) response.end();
    await eventually('the success', async () => !(await isFailing()));
  });

  /** Accepts 40 webhooks to an endpoint, and then holds the responses to as many as are sent at a time. */
  async function holdMany(tenant: Tenant, receiver: Receiver): Promise<ServerResponse[]> {
    const held: ServerResponse[] = [];
    let toAccept = 0;
    const acceptOrHold = (response: ServerResponse) => {
      if (toAccept-- > 0) response.end();
      else held.push(response);
    };
    receiver.respond = acceptOrHold;
    await tenant.endpoint('many', receiver.url);
    const ids = Array.from({ length: 80 }, (_, index) => `many-${index}`);
    // All are due before the first is accepted: an endpoint with nothing due starts with few attempts again.
    await mapConcurrently(ids, (id) => tenant.createGroup(id));
    toAccept = 40;
    for (const response of held.splice(0)) acceptOrHold(response);
    await eventually('32 concurrent attempts', () => held.length >= 32);
    return held;
  }

  it('that the receiver answers with 410 disables the endpoint, with an event', async () => {
    await using gone = await Receiver.start(respondWith(410));
    await using watching = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('gone', gone.url, ['*']);
    await tenant.endpoint('watching', watching.url, ['webhook_endpoint.disabled']);
    await gone.waitFor(1);
    const [webhook] = await watching.waitFor(1);
    const event = JSON.parse(webhook!.body);
    assert.deepEqual(event.actor, { type: 'service', id: null, name: null, via: 'service' });
    assert.deepEqual(event.target, { type: 'webhook_endpoint', id: 'gone' });
    assert.deepEqual(event.changes, { enabled: { from: true, to: false } });
    const logged = await eventually('the line of the log', () => linesAbout('gone')[0] ?? null);
    assert.deepEqual(
      [logged.level, logged.msg, typeof logged.workspaceId, logged.environment, logged.reason],
      [40, 'webhooks: an endpoint was disabled', 'number', 'Customer', 'the receiver returned 410'],
    );
    const { json } = await tenant.call('GET', `${PATH}/gone`);
    assert.equal(json.webhook_endpoint.enabled, false);
    const { state, next_attempt_at } = await tenant.waitFor('gone', ({ state }) => state === 'failed');
    assert.deepEqual([state, next_attempt_at], ['failed', null]);
    assertProblem(await tenant.call('POST', `${PATH}/gone/test`), 'invalid_request');
    assert.equal(gone.received.length, 1);
    const deliveries = await tenant.deliveries('gone');
    assert.deepEqual(
      new Set(deliveries.map(({ event_type }) => event_type)),
      new Set(['webhook_endpoint.created']),
    );
    const { health } = (await tenant.call('GET', `${PATH}/gone/health`)).json;
    assert.equal(health.failing_since, null);
  });

  it('that is to be retried later fails when another disables the endpoint', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const tenant = await newTenant();
    await tenant.endpoint('retrying', receiver.url);
    await tenant.createGroup('first');
    await advanceToRetry(await tenant.waitFor('retrying', ({ attempts }) => attempts === 1));
    // Its next attempt is five minutes away.
    await tenant.waitFor('retrying', ({ attempts }) => attempts === 2);
    receiver.respond = respondWith(410);
    await tenant.createGroup('second');
    const first = await eventually(
      'the first to fail',
      async () =>
        (await tenant.deliveries('retrying')).find(
          ({ attempts, state }) => attempts === 2 && state === 'failed',
        ) ?? null,
    );
    assert.equal(first.error, 'the endpoint is disabled');
  });

  it('that an earlier receiver answers with 410 does not disable an endpoint that has another URL now', async () => {
    const pending: ServerResponse[] = [];
    await using earlier = await Receiver.start((response) => void pending.push(response));
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('moved', earlier.url);
    await tenant.createGroup('before');
    await earlier.waitFor(1);
    await tenant.endpoint('moved', receiver.url);
    respondWith(410)(pending[0]!, earlier.received[0]!);
    await tenant.waitFor('moved', ({ state }) => state === 'failed');
    await sleep(300);
    const { json } = await tenant.call('GET', `${PATH}/moved`);
    assert.equal(json.webhook_endpoint.enabled, true);
    await tenant.createGroup('after');
    await receiver.waitFor(1);
  });

  it('that succeeds after its endpoint was disabled is delivered, and not one of those that failed', async () => {
    const pending: ServerResponse[] = [];
    await using receiver = await Receiver.start((response) => void pending.push(response));
    const tenant = await newTenant();
    await tenant.endpoint('slow', receiver.url);
    for (const id of ['first', 'second']) await tenant.createGroup(id);
    await receiver.waitFor(2);
    pending[0]!.writeHead(410).end();
    const withState = async (state: string) =>
      (await tenant.deliveries('slow')).filter((delivery) => delivery.state === state).length;
    await eventually('both to be given up', async () => (await withState('failed')) === 2);
    pending[1]!.end();
    await eventually('the success', async () => (await withState('delivered')) === 1);
  });

  it('that is answered with 410 does not disable an endpoint that was enabled again meanwhile', async () => {
    const pending: ServerResponse[] = [];
    await using receiver = await Receiver.start((response) => void pending.push(response));
    const tenant = await newTenant();
    await tenant.endpoint('again', receiver.url);
    for (const id of ['first', 'second']) await tenant.createGroup(id);
    await receiver.waitFor(2);
    pending[0]!.writeHead(410).end();
    await tenant.waitUntilDisabled('again');
    await tenant.endpoint('again', receiver.url);
    pending[1]!.writeHead(410).end();
    await sleep(300);
    const { json } = await tenant.call('GET', `${PATH}/again`);
    assert.equal(json.webhook_endpoint.enabled, true);
  });

  it('that fails for five days disables the endpoint; a success starts the count again', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const tenant = await newTenant();
    // Unique in the log, to which days later the endpoints of other tests write too.
    const id = 'failing-for-days';
    await tenant.endpoint(id, receiver.url);
    const hasFailed = async () =>
      (await tenant.call('GET', `${PATH}/${id}/health`)).json.health.failing_since !== null;
    const fail = async (group: string) => {
      await tenant.createGroup(group);
      await tenant.waitFor(id, ({ attempts }) => attempts > 0);
      // The process reacts to the failure after storing it.
      await eventually('the failure', hasFailed);
    };
    const isEnabled = async () =>
      (await tenant.call('GET', `${PATH}/${id}`)).json.webhook_endpoint.enabled as boolean;
    await fail('first');
    receiver.respond = (response) => void response.end();
    service.clockAheadMs += 4 * DAY;
    await tenant.createGroup('success');
    // The first one is due again, and must not fail later than this one succeeds.
    await eventually('both successes', async () => {
      const deliveries = await tenant.deliveries(id);
      return deliveries.every(({ state }) => state === 'delivered') && !(await hasFailed());
    });
    receiver.respond = respondWith(503);
    service.clockAheadMs += 2 * DAY;
    await fail('second');
    assert.equal(await isEnabled(), true);
    assert.deepEqual(linesAbout(id), []);
    service.clockAheadMs += 4.9 * DAY;
    await fail('third');
    const [warning, ...others] = await eventually('a warning', () => {
      const lines = linesAbout(id);
      return lines.length > 0 && lines;
    });
    assert.deepEqual(
      [warning!.msg, warning!.reason, others],
      ['webhooks: an endpoint has been failing for more than an hour', 'the receiver returned 503', []],
    );
    assert.ok(Date.parse(warning!.failingSince) <= Date.now() + service.clockAheadMs - 4.9 * DAY);
    assert.equal(await isEnabled(), true);
    service.clockAheadMs += 0.2 * DAY;
    await tenant.createGroup('fourth');
    await tenant.waitUntilDisabled(id);
    const { error } = await tenant.waitFor(id, ({ state }) => state === 'failed');
    assert.match(error!, /disabled|503/);

    // The endpoint is enabled again, so it has five more days.
    await tenant.endpoint(id, receiver.url);
    await fail('fifth');
    assert.equal(await isEnabled(), true);
  });

  it('that fails after days without events disables the endpoint only when its retries fail too', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const tenant = await newTenant();
    await tenant.endpoint('idle', receiver.url);
    await tenant.createGroup('first');
    await tenant.waitFor('idle', ({ attempts }) => attempts === 1);
    await runSql(
      service.database,
      "update deliveries set state = 'failed', next_attempt_at = null where endpoint_id = 'idle'",
    );
    service.clockAheadMs += 6 * DAY;
    await tenant.createGroup('second');
    for (const attempts of [1, 2]) {
      const found = await tenant.waitFor('idle', (delivery) => delivery.attempts === attempts);
      await sleep(100);
      assert.equal((await tenant.call('GET', `${PATH}/idle`)).json.webhook_endpoint.enabled, true);
      await advanceToRetry(found);
    }
    await tenant.waitUntilDisabled('idle');
  });

  it('that fails after days without attempts disables the endpoint only when it fails again', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const tenant = await newTenant();
    await tenant.endpoint('paused', receiver.url);
    await tenant.createGroup('first');
    const failed = (times: number) => tenant.waitFor('paused', ({ attempts }) => attempts === times);
    await advanceToRetry(await failed(1));
    await failed(2);
    await advance(service, DAY);
    await failed(3);
    await advance(service, 4.5 * DAY);
    const retried = await failed(4);
    await sleep(100);
    assert.equal((await tenant.call('GET', `${PATH}/paused`)).json.webhook_endpoint.enabled, true);
    await advanceToRetry(retried);
    await tenant.waitUntilDisabled('paused');
  });

  it('that fails after its endpoint was changed does not count the failures before', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const tenant = await newTenant();
    const failingSince = async () =>
      (await tenant.call('GET', `${PATH}/changed/health`)).json.health.failing_since as string | null;
    await tenant.endpoint('changed', receiver.url);
    await tenant.createGroup('first');
    await eventually('the failure', async () => (await failingSince()) !== null);
    const { promise: running, resolve } = Promise.withResolvers<ServerResponse>();
    receiver.respond = resolve;
    await advance(service, 6 * DAY);
    const response = await running;
    await tenant.endpoint('changed', receiver.url, ['*']);
    assert.equal(await failingSince(), null);
    response.writeHead(503).end();
    await eventually('the next failure', async () => (await failingSince()) !== null);
    assert.equal((await tenant.call('GET', `${PATH}/changed`)).json.webhook_endpoint.enabled, true);
  });

  for (const way of ['PUT', 'configuration'])
    it(`whose failure was recorded after its endpoint was deleted does not count for another one with the id, by ${way}`, async () => {
      await using receiver = await Receiver.start();
      const tenant = await newTenant();
      const id = `reused by ${way}`;
      const other = `other than ${way}`;
      await tenant.endpoint(encodeURIComponent(other), receiver.url);
      await runSql(
        service.database,
        `insert into failing_webhook_endpoints (workspace_id, environment, endpoint_id, failing_since)
          select workspace_id, environment, '${id}', 1 from documents
          where kind = 'webhook_endpoint' and document_id = '${other}'`,
      );
      if (way === 'PUT') await tenant.endpoint(encodeURIComponent(id), receiver.url);
      else {
        const body = { version: 1, webhook_endpoints: { [id]: { url: receiver.url, event_types: ['*'] } } };
        assert.equal((await tenant.call('PUT', '/v1/config', body)).status, 200);
      }
      const { json } = await tenant.call('GET', `${PATH}/${encodeURIComponent(id)}/health`);
      assert.equal(json.health.failing_since, null);
    });

  it('that fails at the former URL of its endpoint does not count for the present one', async () => {
    const failing = Promise.withResolvers<void>();
    await using former = await Receiver.start((response) => {
      void failing.promise.then(() => response.writeHead(500).end());
    });
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('moved', former.url);
    await tenant.createGroup('moved');
    await former.waitFor(1);
    await tenant.endpoint('moved', receiver.url);
    failing.resolve();
    await tenant.waitFor('moved', ({ attempts }) => attempts === 1);
    await sleep(200);
    const { json } = await tenant.call('GET', `${PATH}/moved/health`);
    assert.equal(json.health.failing_since, null);
  });

  /** Claims the deliveries of the endpoint `present` after a change of it that comes after it was read. */
  const claimAfter = (workspace: string, change: () => Promise<unknown>) =>
    claimWith(workspace, async (claim) => {
      await change();
      return claim();
    });

  async function claimWith(workspace: string, run: (claim: () => Promise<unknown>) => Promise<unknown>) {
    const { context } = service.app;
    const { workspaceId } = (await context.store.read({ kind: 'findWorkspace', name: workspace }))!;
    const endpoint = { workspaceId, environment: 'Customer', endpointId: 'present' } as const;
    const store = intercept(context.store, {
      firstWrite: (claim, real) => run(() => real.write(claim)) as Promise<ClaimedDeliveries>,
    });
    const always = () => ({ from: 0, to: Number.MAX_SAFE_INTEGER });
    return claimDue({ ...context, store }, endpoint, 1, always);
  }

  it('is not sent to the former URL of its endpoint, or signed with its former secret, if that changed before its event', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const workspace = 'changed before the event';
    const tenant = await Tenant.create(service, workspace);
    await tenant.endpoint('present', `${receiver.url}/former`);
    let secret = '';
    const due = await claimAfter(workspace, async () => {
      await tenant.endpoint('present', `${receiver.url}/present`);
      ({ secret } = (await tenant.call('POST', `${PATH}/present/rotate`)).json);
      await tenant.createGroup('present');
      await tenant.waitFor('present', ({ attempts }) => attempts === 1);
    });
    assert.deepEqual([due?.deliveries.length, due?.url], [1, `${receiver.url}/present`]);
    assert.equal(due!.secrets.current.reveal(), secret);
  });

  it('is not sent if its endpoint is disabled before the claim', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const workspace = 'disabled before the claim';
    const tenant = await Tenant.create(service, workspace);
    await tenant.endpoint('present', receiver.url);
    await tenant.createGroup('present');
    await tenant.waitFor('present', ({ attempts }) => attempts === 1);
    const due = await claimAfter(workspace, async () => {
      const body = { url: receiver.url, event_types: ['user_group.created'], enabled: false };
      assert.equal((await tenant.call('PUT', `${PATH}/present`, body)).status, 200);
    });
    assert.deepEqual(due?.deliveries ?? [], []);
  });

  it('is not sent to another endpoint that gets the id after the claim', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const workspace = 'created again after the claim';
    const tenant = await Tenant.create(service, workspace);
    await tenant.endpoint('present', `${receiver.url}/former`);
    await tenant.createGroup('present');
    await tenant.waitFor('present', ({ attempts }) => attempts === 1);
    const due = await claimWith(workspace, async (claim) => {
      const claimed = await claim();
      await tenant.call('DELETE', `${PATH}/present`);
      await tenant.endpoint('present', `${receiver.url}/present`);
      return claimed;
    });
    assert.equal(due?.url, `${receiver.url}/former`);
  });

  it('is not given up if its endpoint is enabled again before that', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const workspace = 'enabled again';
    const tenant = await Tenant.create(service, workspace);
    await tenant.endpoint('again', receiver.url);
    await tenant.createGroup('again');
    await tenant.waitFor('again', ({ attempts }) => attempts === 1);
    const { store } = service.app.context;
    const { workspaceId } = (await store.read({ kind: 'findWorkspace', name: workspace }))!;
    const endpoint = { workspaceId, environment: 'Customer', endpointId: 'again' } as const;
    await giveUpDeliveries({ store }, endpoint);
    assert.equal((await tenant.deliveries('again'))[0]!.state, 'pending');
  });

  for (const what of ['disabled', 'deleted'])
    it(`is kept if its endpoint was ${what} until this moment`, async () => {
      await using receiver = await Receiver.start(respondWith(503));
      const workspace = `${what} until this moment`;
      const tenant = await Tenant.create(service, workspace);
      const body = { url: receiver.url, event_types: ['user_group.created'], enabled: false };
      if (what === 'disabled') await tenant.call('PUT', `${PATH}/moment`, body);
      const { context } = service.app;
      const { workspaceId } = (await context.store.read({ kind: 'findWorkspace', name: workspace }))!;
      const endpoint = { workspaceId, environment: 'Customer', endpointId: 'moment' } as const;
      const afterFirstRead = async () => {
        await tenant.endpoint('moment', receiver.url);
        await tenant.createGroup('moment');
      };
      const store = intercept(context.store, { afterFirstRead });
      if (what === 'disabled') await giveUpDeliveries({ store }, endpoint);
      else assert.equal(await claimDue({ ...context, store }, endpoint, 1), null);
      assert.equal((await tenant.deliveries('moment'))[0]?.state, 'pending');
    });

  it('that failed does not disable an endpoint that was given another URL, however late', async () => {
    await using receiver = await Receiver.start();
    const [former, present] = [`${receiver.url}/former`, `${receiver.url}/present`];
    const workspace = 'given another URL';
    const tenant = await Tenant.create(service, workspace);
    await tenant.endpoint('present', former);
    const { context } = service.app;
    const { workspaceId } = (await context.store.read({ kind: 'findWorkspace', name: workspace }))!;
    const endpoint = { workspaceId, environment: 'Customer', endpointId: 'present' } as const;
    const { tag } = (await claimDue(context, endpoint, 1))!;
    const store = intercept(context.store, {
      firstWrite: async (command, real) => {
        await tenant.endpoint('present', present);
        return real.write(command);
      },
    });
    for (const each of [{ ...context, store }, context])
      assert.equal(await disableEndpoint(each, endpoint, tag), false);
    const { url, enabled } = (await tenant.call('GET', `${PATH}/present`)).json.webhook_endpoint;
    assert.deepEqual([url, enabled], [present, true]);
  });

  it('of a deleted endpoint is not delivered', async () => {
    await using receiver = await Receiver.start(respondWith(500));
    const tenant = await newTenant();
    await tenant.endpoint('deleted', receiver.url);
    await tenant.createGroup('deleted');
    await tenant.waitFor('deleted', ({ attempts }) => attempts === 1);
    await tenant.call('DELETE', `${PATH}/deleted`);
    const rows = await runSql(service.database, "select 1 from deliveries where endpoint_id = 'deleted'");
    assert.deepEqual(rows, []);
    await tenant.endpoint('deleted', receiver.url);
    assert.deepEqual(await tenant.deliveries('deleted'), []);
  });

  it('is deleted later if the process that deleted its endpoint could not delete it', async () => {
    await using receiver = await Receiver.start(respondWith(500));
    const workspace = 'left behind';
    const tenant = await Tenant.create(service, workspace);
    await tenant.endpoint('left', receiver.url);
    await tenant.createGroup('left');
    await tenant.waitFor('left', ({ attempts }) => attempts === 1);
    await runSql(service.database, "delete from documents where document_id = 'left'");
    const { store } = service.app.context;
    const { workspaceId } = (await store.read({ kind: 'findWorkspace', name: workspace }))!;
    const firstWrite = () => Promise.reject(new StoreUnavailable('the database is down'));
    const endpoint = { workspaceId, environment: 'Customer', endpointId: 'left' } as const;
    await forgetEndpoint({ store: intercept(store, { firstWrite }) }, endpoint);
    await advance(service, 10 * SECOND);
    await eventually('the deletion', async () => {
      const rows = await runSql(service.database, "select 1 from deliveries where endpoint_id = 'left'");
      return rows.length === 0;
    });
    assert.equal(receiver.received.length, 1);
  });

  it('of a configuration, or of what a rename changes with the group, is sent without waiting for a poll', async (t) => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('prompt', receiver.url, ['schema.created', 'data_source.updated']);
    t.mock.method(service.app.webhooks, 'poll', async () => 20);
    const config = {
      version: 1,
      schemas: { sales: { name: 'Sales' } },
      data_sources: { own: { schema_id: 'sales', name: 'Own', user_group_id: 'acme' } },
    };
    const applied = await served(() => tenant.call('PUT', '/v1/config', config));
    assert.equal(applied.status, 200, applied.text);
    await receiver.waitFor(1);
    await tenant.createGroup('acme');
    const rename = () => tenant.call('POST', '/v1/user-groups/acme/rename', { user_group_id: 'acme-2' });
    const renamed = await served(rename);
    assert.equal(renamed.status, 200, renamed.text);
    const types = (await receiver.waitFor(2)).map(({ body }) => JSON.parse(body).type);
    assert.deepEqual(types, ['schema.created', 'data_source.updated']);
  });

  it('is kept when a configuration changes its endpoint, which then counts as healthy, and not when it prunes it', async () => {
    await using receiver = await Receiver.start(respondWith(500));
    const tenant = await newTenant();
    const apply = async (endpoints: object) => {
      const body = { version: 1, webhook_endpoints: endpoints };
      const { status, text } = await tenant.call('PUT', '/v1/config?prune=true', body);
      assert.equal(status, 200, text);
    };
    const endpoint = { url: receiver.url, event_types: ['user_group.created'] };
    await apply({ applied: endpoint });
    await tenant.createGroup('applied');
    await tenant.waitFor('applied', ({ attempts }) => attempts === 1);
    const health = async () => (await tenant.call('GET', `${PATH}/applied/health`)).json.health;
    await eventually('the failure', async () => (await health()).failing_since !== null);
    await apply({ applied: { ...endpoint, event_types: ['user_group.created', 'user_group.deleted'] } });
    assert.equal((await health()).failing_since, null);
    assert.equal((await tenant.deliveries('applied')).length, 1);
    await apply({});
    const rows = await runSql(service.database, "select 1 from deliveries where endpoint_id = 'applied'");
    assert.deepEqual(rows, []);
  });

  it('is sent, without a poll, after the database has failed any step, which is repeated after pauses', async (t) => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    const steps = ['findDocument', 'claimDeliveries', 'findEvent', 'finishAttempts'];
    const idOf = (step: string) => `repeats-${step}`;
    for (const step of steps) await tenant.endpoint(idOf(step), receiver.url);
    t.mock.method(service.app.webhooks, 'poll', async () => 20);
    const failedAt = new Map(steps.map((step) => [step, [] as number[]]));
    const failTwice = (method: 'read' | 'write') => {
      const original = BatchingStore.prototype[method] as (item: object) => Promise<unknown>;
      const fail = function (this: BatchingStore, item: { kind: string }) {
        const failures = failedAt.get(item.kind);
        const isFailing = failures && failures.length < 2 && JSON.stringify(item).includes(idOf(item.kind));
        if (!isFailing) return original.call(this, item);
        failures.push(performance.now());
        return Promise.reject(new StoreUnavailable('the database is busy'));
      };
      t.mock.method(BatchingStore.prototype, method, fail as never);
    };
    for (const method of ['read', 'write'] as const) failTwice(method);
    await tenant.createGroup('repeated');
    for (const step of steps) {
      const { attempts } = await tenant.waitFor(idOf(step), ({ state }) => state === 'delivered');
      const [first, second] = failedAt.get(step)!;
      assert.deepEqual([attempts, second! - first! >= 40], [1, true], step);
    }
    assert.equal(receiver.received.length, steps.length);
  });

  it('is listed with the others of its endpoint, the newest first, page by page', async () => {
    await using receiver = await Receiver.start();
    const tenant = await newTenant();
    await tenant.endpoint('listed', receiver.url);
    for (let index = 0; index < 5; index++) await tenant.createGroup(`listed-${index}`);
    await receiver.waitFor(5);
    await eventually('the deliveries', async () =>
      (await tenant.deliveries('listed')).every(({ state }) => state === 'delivered'),
    );
    const sent = receiver.received.map(({ headers }) => headers['webhook-id']!);
    for (const state of ['', '&state=delivered']) {
      const listed: string[] = [];
      for (let query: string | null = state; query !== null; ) {
        const { json }: TestResponse = await tenant.call('GET', `${PATH}/listed/deliveries?limit=2${query}`);
        listed.push(...json.deliveries.map(({ event_id }: TestDelivery) => event_id));
        query = json.next_cursor === null ? null : `${state}&cursor=${json.next_cursor}`;
      }
      assert.deepEqual(listed, sent.toSorted().toReversed());
    }
    await tenant.endpoint('other', receiver.url);
    const { json } = await tenant.call('GET', `${PATH}/listed/deliveries?limit=2`);
    const mixed = await tenant.call('GET', `${PATH}/other/deliveries?cursor=${json.next_cursor}`);
    assertProblem(mixed, 'invalid_request');
  });

  /** Inserts deliveries to an endpoint of the newest workspace. */
  const insertDeliveries = (endpointId: string, state: string, firstEvent: number, count: number) =>
    runSql(
      service.database,
      `with recursive numbers(number) as (
         select ${firstEvent} union all select number + 1 from numbers where number < ${firstEvent + count - 1})
       insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
         target_id, position, state, attempts, next_attempt_at, created_at)
       select 1, (select max(workspace_id) from workspaces), 'Customer', '${endpointId}', 'evt_' || number,
         'user_group.created', 'user_group', 'g', number, '${state}', 8, null, 1 from numbers`,
    );

  const redeliverAll = async (tenant: Tenant, endpointId: string) =>
    (
      await served(() =>
        tenant.call('POST', `${PATH}/${endpointId}/redeliver-failed`, { since: '1970-01-01T00:00:00Z' }),
      )
    ).json;

  it('of a deleted endpoint is not one of another endpoint with its id, however many there are', async () => {
    const tenant = await newTenant();
    const url = 'http://127.0.0.1:1025/';
    await tenant.endpoint('inherited', url);
    assert.equal((await tenant.call('DELETE', `${PATH}/inherited`)).status, 204);
    await insertDeliveries('inherited', 'failed', 100_000, 10_001);
    const inherited = { url, event_types: ['user_group.created'] };
    const config = { version: 1, webhook_endpoints: { inherited } };
    const put = { method: 'PUT', path: '/v1/config', body: config, token: tenant.token };
    assert.equal((await send(service.url, put)).status, 503);
    await eventually(
      'another endpoint',
      async () => (await tenant.call('PUT', `${PATH}/inherited`, inherited)).status === 201,
    );
    assert.deepEqual(await tenant.deliveries('inherited'), []);
    assert.equal((await redeliverAll(tenant, 'inherited')).redelivered, 0);
  });

  it('of a deleted endpoint is not one of another endpoint that a configuration creates', async () => {
    const tenant = await newTenant();
    await insertDeliveries('configured', 'failed', 200_000, 1);
    const endpoint = { url: 'http://127.0.0.1:1025/', event_types: ['user_group.created'] };
    const config = { version: 1, webhook_endpoints: { configured: endpoint } };
    assert.equal((await tenant.call('PUT', '/v1/config', config)).status, 200);
    assert.deepEqual(await tenant.deliveries('configured'), []);
  });

  it('is one of about a thousand that a request delivers again', async () => {
    const tenant = await newTenant();
    await tenant.endpoint('many', 'http://127.0.0.1:1025/');
    await insertDeliveries('many', 'failed', 10_000, 1_600);
    const json = await redeliverAll(tenant, 'many');
    assert.deepEqual([json.redelivered, json.has_more], [1_000, true]);
  });

  it('is listed and delivered again after any number that have not failed', async () => {
    const tenant = await newTenant();
    await tenant.endpoint('rare', 'http://127.0.0.1:1025/');
    await insertDeliveries('rare', 'delivered', 10_000, 10_001);
    await insertDeliveries('rare', 'failed', 1_000, 3);
    await insertDeliveries('rare', 'failed', 30_000, 1);
    const path = `${PATH}/rare/deliveries?state=failed&limit=2`;
    const first = await tenant.call('GET', path);
    const second = await tenant.call('GET', `${path}&cursor=${first.json.next_cursor}`);
    assert.deepEqual(
      [first, second].map(({ json }) => json.deliveries.map(({ event_id }: TestDelivery) => event_id)),
      [
        ['evt_30000', 'evt_1002'],
        ['evt_1001', 'evt_1000'],
      ],
    );
    assert.equal(second.json.next_cursor, null);
    const json = await redeliverAll(tenant, 'rare');
    assert.deepEqual([json.redelivered, json.has_more], [4, false]);
  });

  it('of an event that is no longer kept is given up', async () => {
    await using receiver = await Receiver.start(respondWith(500));
    const tenant = await newTenant();
    await tenant.endpoint('expired', receiver.url);
    await tenant.createGroup('expired');
    const { event_id } = await tenant.waitFor('expired', ({ attempts }) => attempts === 1);
    await runSql(service.database, `delete from events where event_id = '${event_id}'`);
    await advance(service, 10 * SECOND);
    const { state, error } = await tenant.waitFor('expired', ({ attempts }) => attempts === 2);
    assert.deepEqual([state, error], ['failed', 'the event is no longer kept']);
  });
});
