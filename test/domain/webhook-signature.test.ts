// Signatures of webhooks, checked with the reference implementation of Standard Webhooks.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  mintWebhookSecrets,
  parseWebhookSecrets,
  rotateWebhookSecrets,
  type WebhookSecrets,
  webhookHeaders,
  webhookSecretsText,
} from '../../src/domain/webhook-endpoint/webhook-signature.ts';

const DAY_MS = 86_400_000;
const body = '{"event_id":"evt_1","name":"Zoë"}';
const textsOf = ({ current, previous }: WebhookSecrets) => [
  current.reveal(),
  previous?.secret.reveal(),
  previous?.expiresAt,
];

describe('the secrets of a webhook endpoint', () => {
  it('are 256 random bits in the format of Standard Webhooks', () => {
    const { current, previous } = mintWebhookSecrets();
    assert.match(current.reveal(), /^whsec_[0-9A-Za-z+/]{43}=$/);
    assert.equal(previous, null);
    assert.notEqual(mintWebhookSecrets().current.reveal(), current.reveal());
  });

  it('are read as they were stored', () => {
    const minted = mintWebhookSecrets();
    for (const secrets of [minted, rotateWebhookSecrets(minted, 1_000)])
      assert.deepEqual(textsOf(parseWebhookSecrets(webhookSecretsText(secrets))), textsOf(secrets));
  });

  it('have no replaced one before the first rotation', () => {
    assert.equal(parseWebhookSecrets(webhookSecretsText(mintWebhookSecrets())).previous, null);
  });

  it('keep the replaced one for a day, and only that one', () => {
    const first = mintWebhookSecrets();
    const second = rotateWebhookSecrets(first, 1_000);
    assert.deepEqual(textsOf(second).slice(1), [first.current.reveal(), 1_000 + DAY_MS]);
    assert.notEqual(second.current.reveal(), first.current.reveal());
    assert.equal(rotateWebhookSecrets(second, 2_000).previous?.secret.reveal(), second.current.reveal());
  });
});

describe('the headers of a webhook', () => {
  const verify = (secret: string, headers: Record<string, string>) =>
    new Webhook(secret).verify(body, headers);

  it('are verified by the reference implementation', () => {
    const secrets = mintWebhookSecrets();
    const now = Date.now();
    const headers = webhookHeaders(secrets, { id: 'evt_1', now, body });
    assert.deepEqual(verify(secrets.current.reveal(), headers), JSON.parse(body));
    assert.deepEqual(
      [headers['webhook-id'], headers['webhook-timestamp']],
      ['evt_1', String(Math.floor(now / 1_000))],
    );
    assert.throws(() => verify(mintWebhookSecrets().current.reveal(), headers));
    assert.throws(() => verify(secrets.current.reveal(), { ...headers, 'webhook-id': 'evt_2' }));
  });

  it('are also signed with the replaced secret until it expires', () => {
    const first = mintWebhookSecrets();
    const now = Date.now();
    const secrets = rotateWebhookSecrets(first, now - DAY_MS);
    const before = webhookHeaders(secrets, { id: 'evt_1', now: now - 1, body });
    const after = webhookHeaders(secrets, { id: 'evt_1', now, body });
    assert.equal(before['webhook-signature'].split(' ').length, 2);
    assert.equal(after['webhook-signature'].split(' ').length, 1);
    for (const { current } of [first, secrets]) verify(current.reveal(), before);
    verify(secrets.current.reveal(), after);
    assert.throws(() => verify(first.current.reveal(), after));
  });
});
