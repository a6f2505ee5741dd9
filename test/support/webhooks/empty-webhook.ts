import type { Webhook } from '../../../src/webhooks/sender.ts';

export function emptyWebhook(url: string, workspaceId = 1): Webhook {
  return { workspaceId, url, headers: {}, body: '{}' };
}
