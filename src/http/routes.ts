// The URL surface: every endpoint, in the order of the API description.

import type { FastifyInstance } from 'fastify';
import { type AnyEndpoint, addEndpoint, type EndpointOptions } from './endpoint.ts';
import { create as createApiToken } from './endpoints/api-token/create.ts';
import { list as listApiTokens } from './endpoints/api-token/list.ts';
import { read as readApiToken } from './endpoints/api-token/read.ts';
import { revoke as revokeApiToken } from './endpoints/api-token/revoke.ts';
import { rotate as rotateApiToken } from './endpoints/api-token/rotate.ts';
import { whoami } from './endpoints/api-token/whoami.ts';
import { dataSources } from './endpoints/catalogue/data-source.ts';
import { schemas } from './endpoints/catalogue/schema.ts';
import { putConfig, readConfig } from './endpoints/config/config.ts';
import { configSchema } from './endpoints/config/schema.ts';
import { createEmbedToken } from './endpoints/embed-token/create.ts';
import { list as listEvents } from './endpoints/event/list.ts';
import { listOfUserGroup } from './endpoints/event/list-of-user-group.ts';
import { integrations } from './endpoints/integration/integration.ts';
import { putMappingPolicy, readMappingPolicy } from './endpoints/mapping-policy/mapping-policy.ts';
import {
  putPropertySchema,
  readPropertySchema,
  removePropertySchema,
} from './endpoints/property-schema/property-schema.ts';
import { addDocsAssets, docs, errors, openApiDocument } from './endpoints/service/documentation.ts';
import { alive, ready } from './endpoints/service/health.ts';
import { keySet } from './endpoints/signing-key/key-set.ts';
import { listSigningKeys } from './endpoints/signing-key/list.ts';
import { openIdConfiguration } from './endpoints/signing-key/openid-configuration.ts';
import { rotateSigningKeys } from './endpoints/signing-key/rotate.ts';
import { list as listUsage } from './endpoints/usage/list.ts';
import { create } from './endpoints/user-group/create.ts';
import { remove } from './endpoints/user-group/delete.ts';
import { forwardAuth } from './endpoints/user-group/forward-auth.ts';
import { getOrCreate } from './endpoints/user-group/get-or-create.ts';
import { introspect } from './endpoints/user-group/introspect.ts';
import { list } from './endpoints/user-group/list.ts';
import { patch } from './endpoints/user-group/patch.ts';
import { read } from './endpoints/user-group/read.ts';
import { rename } from './endpoints/user-group/rename.ts';
import { replace } from './endpoints/user-group/replace.ts';
import { resolve } from './endpoints/user-group/resolve.ts';
import { rotate } from './endpoints/user-group/rotate.ts';
import { rotateById } from './endpoints/user-group/rotate-by-id.ts';
import { resume, suspend } from './endpoints/user-group/suspend.ts';
import { update } from './endpoints/user-group/update.ts';
import { webhookEndpoints } from './endpoints/webhook-endpoint/endpoint.ts';
import { readWebhookHealth } from './endpoints/webhook-endpoint/health.ts';
import { listWebhookDeliveries } from './endpoints/webhook-endpoint/list-deliveries.ts';
import { readWebhookDelivery } from './endpoints/webhook-endpoint/read-delivery.ts';
import { redeliverWebhook } from './endpoints/webhook-endpoint/redeliver.ts';
import { redeliverFailedWebhooks } from './endpoints/webhook-endpoint/redeliver-failed.ts';
import { rotateWebhookEndpoint } from './endpoints/webhook-endpoint/rotate.ts';
import { testWebhook } from './endpoints/webhook-endpoint/test.ts';
import { addPublicEndpoint, type PublicEndpoint, type PublicOptions } from './public-endpoint.ts';

export const endpoints: readonly AnyEndpoint[] = [
  // /api/user
  getOrCreate,
  update,
  rotate,
  // /v1/user-groups
  create,
  list,
  // /v1/user-groups/{user_group_id}
  read,
  replace,
  patch,
  remove,
  // /v1/user-groups/{user_group_id}/rotate
  rotateById,
  // /v1/user-groups/{user_group_id}/rename
  rename,
  // /v1/user-groups/{user_group_id}/events
  listOfUserGroup,
  // /v1/events
  listEvents,
  // /v1/user-groups/{user_group_id}/suspend and /resume
  suspend,
  resume,
  // /v1/usage
  listUsage,
  // /v1/resolve
  resolve,
  // /oauth/introspect
  introspect,
  // /v1/forward-auth
  forwardAuth,
  // /v1/api-tokens
  createApiToken,
  listApiTokens,
  // /v1/api-tokens/{api_token_id}
  readApiToken,
  revokeApiToken,
  // /v1/api-tokens/{api_token_id}/rotate
  rotateApiToken,
  // /v1/whoami
  whoami,
  // /v1/embed-tokens
  createEmbedToken,
  // /v1/integrations
  ...integrations.all,
  // /v1/signing-keys
  listSigningKeys,
  rotateSigningKeys,
  // /v1/schemas
  ...schemas.all,
  // /v1/data-sources
  ...dataSources.all,
  // /v1/mapping-policy, /v1/property-schema
  readMappingPolicy,
  putMappingPolicy,
  readPropertySchema,
  putPropertySchema,
  removePropertySchema,
  // /v1/config
  readConfig,
  putConfig,
  // /v1/webhook-endpoints
  ...webhookEndpoints.all,
  rotateWebhookEndpoint,
  testWebhook,
  readWebhookHealth,
  listWebhookDeliveries,
  readWebhookDelivery,
  redeliverWebhook,
  redeliverFailedWebhooks,
];

/** /healthz, /readyz, /issuers/{issuer_id}/.well-known/jwks.json and openid-configuration, /openapi.json, /config.schema.json, /docs, /errors. */
export const publicEndpoints: readonly PublicEndpoint[] = [
  alive,
  ready,
  keySet,
  openIdConfiguration,
  openApiDocument,
  configSchema,
  docs,
  errors,
];

export function addRoutes(app: FastifyInstance, options: EndpointOptions & PublicOptions): void {
  for (const each of endpoints) addEndpoint(app, options, each);
  for (const each of publicEndpoints) addPublicEndpoint(app, options, each);
  addDocsAssets(app, options);
}
