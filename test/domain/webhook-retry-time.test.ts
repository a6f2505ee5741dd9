// Retry times of deliveries, and the events that an endpoint receives.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import {
  endpointKeyToString,
  retryAt,
  startOfWorkspace,
} from '../../src/domain/webhook-endpoint/delivery.ts';
import {
  endpointDocumentKey,
  parseWebhookEndpoint,
  type WebhookEndpointBody,
  webhookEndpointText,
} from '../../src/domain/webhook-endpoint/webhook-endpoint.ts';
import { isDisabling } from '../../src/operations/webhook-endpoint/delivery.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const key = { workspaceId: 1, environment: 'Testing', endpointId: 'a/b' } as const;

describe('a delivery', () => {
  it('is retried after the documented delays, up to a fifth longer', () => {
    const delays = [
      5_000,
      5 * MINUTE_MS,
      30 * MINUTE_MS,
      2 * HOUR_MS,
      5 * HOUR_MS,
      10 * HOUR_MS,
      24 * HOUR_MS,
    ];
    for (const [index, delayMs] of delays.entries()) {
      assert.equal(retryAt(index + 1, 1_000, 0), 1_000 + delayMs);
      assert.equal(retryAt(index + 1, 1_000, 1), 1_000 + delayMs * 1.2);
      const random = retryAt(index + 1, 1_000)!;
      assert.ok(random >= 1_000 + delayMs && random <= 1_000 + delayMs * 1.2);
    }
    assert.equal(retryAt(delays.length + 1, 1_000), null);
  });

  it('disables its endpoint after five days of failures, of which a pause counts as two', () => {
    const isDisabledAt = (day: number, lastAttemptDay: number) => {
      const delivery = { attempts: 3, lastAttemptAt: lastAttemptDay * DAY_MS };
      return isDisabling({ status: 503, error: 'failed' }, delivery, 0, day * DAY_MS);
    };
    assert.deepEqual([isDisabledAt(4.9, 4), isDisabledAt(5, 4)], [false, true]);
    assert.deepEqual([isDisabledAt(9, 2.9), isDisabledAt(9, 3)], [false, true]);
  });
});

describe('a webhook endpoint', () => {
  const body: WebhookEndpointBody = {
    url: 'https://example.com/',
    event_types: ['user_group.created'],
    enabled: true,
  };
  const endpoint = (changes: Partial<WebhookEndpointBody> = {}) =>
    parseWebhookEndpoint({ id: 'a', body: webhookEndpointText({ ...body, ...changes }) });

  it('is read as it was stored, and stores nothing else', () => {
    const { receives: _, ...stored } = endpoint();
    assert.deepEqual(stored, { id: 'a', ...body });
    const more = { ...body, secret: 'x' };
    assert.equal(webhookEndpointText(more), JSON.stringify(body) as JsonText);
  });

  it('receives the types that it names, or all', () => {
    assert.equal(endpoint().receives('user_group.created'), true);
    assert.equal(endpoint().receives('user_group.updated'), false);
    assert.equal(endpoint({ event_types: ['*'] }).receives('user_group.updated'), true);
    assert.equal(endpoint({ event_types: ['schema.created', '*'] }).receives('user_group.updated'), true);
  });

  it('receives nothing while it is disabled', () => {
    for (const event_types of [body.event_types, ['*' as const]])
      assert.equal(endpoint({ enabled: false, event_types }).receives('user_group.created'), false);
  });

  it('has a key in its environment', () => {
    assert.equal(endpointKeyToString(key), '1/Testing/a/b');
    assert.deepEqual(endpointDocumentKey(key), {
      workspaceId: 1,
      environment: 'Testing',
      kind: 'webhook_endpoint',
      id: 'a/b',
    });
    assert.deepEqual(startOfWorkspace(3), { workspaceId: 3, environment: '', endpointId: '' });
  });
});
