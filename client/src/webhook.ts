// Webhook endpoints and deliveries on the wire.

export type EventType =
  | 'user_group.created'
  | 'user_group.updated'
  | 'user_group.token_rotated'
  | 'user_group.token_revealed'
  | 'user_group.renamed'
  | 'user_group.deleted'
  | 'api_token.created'
  | 'api_token.rotated'
  | 'api_token.revoked'
  | 'webhook_endpoint.created'
  | 'webhook_endpoint.updated'
  | 'webhook_endpoint.secret_rotated'
  | 'webhook_endpoint.disabled'
  | 'webhook_endpoint.tested'
  | 'webhook_endpoint.deleted'
  | 'schema.created'
  | 'schema.updated'
  | 'schema.deleted'
  | 'data_source.created'
  | 'data_source.updated'
  | 'data_source.deleted'
  | 'mapping_policy.created'
  | 'mapping_policy.updated'
  | 'property_schema.created'
  | 'property_schema.updated'
  | 'property_schema.deleted'
  | 'property_schema.timed_out'
  | 'integration.created'
  | 'integration.updated'
  | 'integration.deleted'
  | 'key_set.created'
  | 'key_set.rotated';

export interface WebhookEndpointRequest {
  url: string;
  /** `*` for all. Accepts types that are newer than this version of the client. */
  event_types: readonly (EventType | '*' | (string & {}))[];
  /** Default: true. */
  enabled?: boolean | undefined;
}

export interface WebhookEndpoint {
  webhook_endpoint_id: string;
  url: string;
  event_types: string[];
  enabled: boolean;
  version: number;
  created_at: string;
  updated_at: string;
}

export interface PutWebhookEndpointResult {
  webhook_endpoint: WebhookEndpoint;
  /** Signs the webhooks; present only if the call created the endpoint. */
  secret?: string;
  etag: string;
}

export interface RotatedWebhookEndpoint {
  webhook_endpoint: WebhookEndpoint;
  secret: string;
  /** Until then webhooks also carry a signature of the replaced secret. */
  previous_secret_expires_at: string;
  etag: string;
}

export interface WebhookDelivery {
  event_id: string;
  event_type: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  response_status: number | null;
  error: string | null;
  created_at: string;
}
