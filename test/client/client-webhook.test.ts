// The client: webhook endpoints and deliveries, against the real service.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { EventType, UserGroupClient, WebhookDelivery } from '../../client/src/index.ts';
import { eventTypes } from '../../src/domain/event/event.ts';
import { adminClient } from '../support/client/admin.ts';
import { sqlite } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { Receiver, respondWith } from '../support/webhooks/receiver.ts';
import { env } from '../support/webhooks/tenant.ts';

/** Compiles only if the client knows every event type. */
eventTypes satisfies readonly EventType[];

describe('The client', () => {
  const service = TestService.of(sqlite, { env });
  let client: UserGroupClient;
  before(async () => {
    client = await adminClient(service);
  });

  it('creates, replaces, rotates, lists and deletes webhook endpoints', async () => {
    const fields = { url: 'https://example.com/a', event_types: ['user_group.created'] };
    const created = await client.putWebhookEndpoint('a/b', fields, { ifNoneMatch: '*' });
    assert.match(created.secret!, /^whsec_/);
    const replaced = await client.putWebhookEndpoint('a/b', { ...fields, enabled: false });
    assert.equal('secret' in replaced, false);
    const rotated = await client.rotateWebhookSecret('a/b', { ifMatch: replaced.etag });
    assert.notEqual(rotated.secret, created.secret);
    assert.ok(Date.parse(rotated.previous_secret_expires_at) > Date.now());
    const read = await client.readWebhookEndpoint('a/b');
    assert.deepEqual(read, { webhook_endpoint: rotated.webhook_endpoint, etag: rotated.etag });
    await client.putWebhookEndpoint('c', fields);
    const ids = (await Array.fromAsync(client.listWebhookEndpoints({ limit: 1 }))).map(
      (each) => each.webhook_endpoint_id,
    );
    assert.deepEqual(ids, ['a/b', 'c']);
    await client.deleteWebhookEndpoint('a/b', { ifMatch: rotated.etag });
    await assert.rejects(client.readWebhookEndpoint('a/b'), { code: 'not_found' });
    await client.deleteWebhookEndpoint('c');
  });

  it('tests an endpoint, lists its deliveries, and delivers an event again', async () => {
    await using receiver = await Receiver.start();
    await client.putWebhookEndpoint('tested', { url: receiver.url, event_types: ['*'] });
    const { event_id } = await client.testWebhookEndpoint('tested');
    await receiver.waitFor(1);
    await client.redeliverWebhook('tested', event_id);
    await receiver.waitFor(2);
    const { event_id: second } = await client.testWebhookEndpoint('tested');
    const deliveries: WebhookDelivery[] = await Array.fromAsync(
      client.listWebhookDeliveries('tested', { limit: 1 }),
    );
    // Deliveries are in the order of their ids, which may differ from that of the calls: two threads may read
    // a changed clock differently.
    assert.deepEqual(
      deliveries.map((delivery) => delivery.event_id),
      [event_id, second].toSorted().toReversed(),
    );
    await assert.rejects(client.redeliverWebhook('tested', 'evt_0'), { code: 'not_found' });
  });

  it('reads the health of an endpoint, the attempts of a delivery, and delivers all that failed again', async () => {
    await using receiver = await Receiver.start(respondWith(410));
    await client.putWebhookEndpoint('fails', { url: receiver.url, event_types: ['*'] });
    const { event_id } = await client.testWebhookEndpoint('fails');
    const failed = () => Array.fromAsync(client.listWebhookDeliveries('fails', { state: 'failed' }));
    await eventually('the failure', async () => (await failed()).length === 1);
    await eventually('the endpoint to be disabled', async () => {
      const { webhook_endpoint } = await client.readWebhookEndpoint('fails');
      return !webhook_endpoint.enabled;
    });
    const { delivery, event } = await client.readWebhookDelivery('fails', event_id);
    assert.deepEqual([delivery.state, delivery.recent_attempts[0]!.response_status], ['failed', 410]);
    assert.deepEqual([event!.event_id, event!.type], [event_id, 'webhook_endpoint.tested']);
    const since = delivery.created_at;
    receiver.respond = respondWith(204);
    await client.putWebhookEndpoint('fails', { url: receiver.url, event_types: ['user_group.created'] });
    const redelivered = await client.redeliverFailedWebhooks('fails', { since });
    assert.deepEqual(redelivered, { redelivered: 1, has_more: false });
    await eventually('the success', async () => (await failed()).length === 0);
    await receiver.waitFor(2);
    await eventually('the health', async () => {
      const health = await client.readWebhookEndpointHealth('fails');
      return health.last_delivered_at !== null && health.pending_deliveries === 0;
    });
  });
});
