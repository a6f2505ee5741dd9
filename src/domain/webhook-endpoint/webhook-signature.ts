// Secrets and signatures of webhooks: Standard Webhooks 1.0, symmetric (https://www.standardwebhooks.com).

import { createHmac } from 'node:crypto';
import { DAY_MS } from '../instant.ts';
import { takeRandomBytes } from '../random-bytes.ts';
import { Secret } from '../secret.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** The secrets of an endpoint. The one that the last rotation replaced also signs until it expires. */
export interface WebhookSecrets {
  current: Secret;
  previous: { secret: Secret; expiresAt: number } | null;
}

export function mintWebhookSecrets(): WebhookSecrets {
  return { current: mint(), previous: null };
}

export function rotateWebhookSecrets({ current }: WebhookSecrets, now: number): WebhookSecrets {
  return { current: mint(), previous: { secret: current, expiresAt: now + DAY_MS } };
}

function mint(): Secret {
  return new Secret(PREFIX + takeRandomBytes(SECRET_BYTES).toString('base64'));
}

/** The text that is encrypted and stored. */
export function webhookSecretsText({ current, previous }: WebhookSecrets): Secret {
  if (previous === null) return current;
  return new Secret([current.reveal(), previous.secret.reveal(), previous.expiresAt].join(' '));
}

export function parseWebhookSecrets(text: Secret): WebhookSecrets {
  const [current = '', previous, expiresAt] = text.reveal().split(' ');
  return {
    current: new Secret(current),
    previous: previous === undefined ? null : { secret: new Secret(previous), expiresAt: Number(expiresAt) },
  };
}

interface WebhookMessage {
  id: string;
  /** Milliseconds since 1970. */
  now: number;
  body: string;
}

/** The headers that Standard Webhooks defines: one signature for each secret that is valid. */
export function webhookHeaders({ current, previous }: WebhookSecrets, { id, now, body }: WebhookMessage) {
  const timestamp = String(Math.floor(now / 1_000));
  const content = `${id}.${timestamp}.${body}`;
  const signing = previous !== null && previous.expiresAt > now ? [current, previous.secret] : [current];
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signing.map((secret) => `v1,${signContent(secret, content)}`).join(' '),
  };
}

function signContent(secret: Secret, content: string): string {
  const key = Buffer.from(secret.reveal().slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(content).digest('base64');
}
