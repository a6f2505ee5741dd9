// Generated from the API description by `npm run format`.

import type { JsonValue } from './wire.ts';

/** Bodies of requests and responses, and parts of them, by the names of their schemas in the API description. */
export interface Schemas {
  UserGroupRequest: {
    /** Name of the user group. Need not be unique. */
    name?: string | undefined;
    /** The caller's own id of the user group. Compared byte for byte. */
    user_group_id: string;
    /** Schema id to data source: the data source's id, or the caller's own id of it. */
    mapping?: { readonly [name: string]: string | number } | null | undefined;
    /** Properties of the user group, which dashboards read as variables. At most 64 KiB and 16 levels. */
    properties?: { readonly [name: string]: JsonValue | undefined } | null | undefined;
  };
  ApiTokenRequest: {
    /** Tells people what the API token is for. Need not be unique. */
    name: string;
    /** What the API token permits. */
    permission: 'admin' | 'read-write' | 'read-only' | 'resolve' | 'embed';
    /** Lifetime of the API token. Absent: it does not expire. */
    expires_in_seconds?: number | undefined;
  };
  TokenRotation: {
    /** A user group token. */
    current_token: string;
    /** How long the replaced token still resolves. 0: not at all. */
    grace_period_seconds?: number | undefined;
  };
  CatalogueSchema: {
    /** For people. Need not be unique. */
    name: string;
    /** The data source of user groups whose mapping has no entry for this schema, as in a mapping: its number, or your id of it. null: none. */
    default_data_source?: string | number | null | undefined;
  };
  DataSource: {
    /** The schema that the data source belongs to. */
    schema_id: string;
    /** For people. Need not be unique. */
    name: string;
    /** What a dashboard server needs to connect: host, database, region, the name of a secret in your secret store. Never a credential: a member that is named like one, and a text that contains one, is rejected. */
    attributes?: { readonly [name: string]: JsonValue | undefined } | undefined;
    /** The only user group that the data source is for, which need not exist yet: it does not resolve for any other group. null: any user group. */
    user_group_id?: string | null | undefined;
  };
  MappingPolicy: {
    /** `off`: nothing is checked. `report`: changes are accepted, and the response lists violations in the header `User-Group-Violations`. `enforce`: changes that violate the rule are rejected with 422. */
    mode: 'off' | 'report' | 'enforce';
  };
  PropertySchema: {
    /** A JSON Schema 2020-12 for `properties`, at most 64 KiB. Patterns are regular expressions of ECMAScript without lookaround or backreferences, numbers are compared exactly, `$ref` must refer to a place in the schema, and `format` is an annotation. */
    schema: JsonValue;
    /** `off`: nothing is checked. `report`: changes are accepted, and the response lists violations in the header `User-Group-Violations`. `enforce`: changes that violate the rule are rejected with 422. */
    mode: 'off' | 'report' | 'enforce';
  };
  Integration: {
    /** The type of token to mint. */
    type: 'jwt' | 'metabase' | 'superset' | 'lightdash';
    /** How long a token is valid. */
    ttl_seconds?: number | undefined;
    /** The settings of the type. `properties` lists the properties of user groups that may leave. */
    settings?: { readonly [name: string]: JsonValue | undefined } | undefined;
    /** Values from the user group. The type determines where they are in a token. */
    claims?:
      | {
          readonly [name: string]:
            | { property: string; mapping?: undefined; field?: undefined; constant?: undefined }
            | { mapping: string; property?: undefined; field?: undefined; constant?: undefined }
            | {
                field: 'provided_id' | 'name' | 'team_id' | 'environment';
                property?: undefined;
                mapping?: undefined;
                constant?: undefined;
              }
            | {
                /** Any JSON value except null, an empty text, an empty array and an empty object. */
                constant: JsonValue;
                property?: undefined;
                mapping?: undefined;
                field?: undefined;
              };
        }
      | undefined;
    /** Required to be true if no value of a token depends on the user group: every user group then sees the same data. */
    unrestricted?: boolean | undefined;
    /** The secret that the tool verifies tokens with. Stored encrypted and never returned; if absent, the stored one is kept. */
    secret?: string | undefined;
  };
  WebhookEndpoint: {
    /** Where events are sent by POST: an https or http URL without credentials or fragment. Do not put a secret into it: unlike the signing secret, it is shown in reads and events. */
    url: string;
    /** The types of event to deliver; `*` for all, including types that later versions add. */
    event_types: readonly Schemas['SubscribedEventType'][];
    /** Whether events are delivered. The service sets it to false when the receiver returns 410, or has failed for five days. */
    enabled?: boolean | undefined;
  };
  SubscribedEventType:
    | '*'
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
  UserGroup: {
    /** The service's own number of the user group. Never changes, is never reused, need not be stored. */
    team_id: number;
    /** Name of the user group. Need not be unique. */
    name: string;
    /** The `user_group_id` of the request. */
    provided_id: string;
    /** Schema id to data source: the data source's id, or the caller's own id of it. */
    mapping: { readonly [name: string]: string | number } | null;
    /** Properties of the user group, which dashboards read as variables. At most 64 KiB and 16 levels. */
    properties: { readonly [name: string]: JsonValue | undefined } | null;
    /** The environment of the API token that created the user group. Currently never null. */
    api_environment_tag: 'Customer' | 'Testing' | null;
    /** Starts at 1 and increases with every change. */
    version: number;
    /** RFC 3339, UTC. */
    created_at: string;
    /** RFC 3339, UTC. */
    updated_at: string;
    /** While true, the tokens of the group do not resolve. */
    suspended: boolean;
    /** When a token of the group was last resolved or an embed token was minted for it: RFC 3339, UTC, rounded down to the hour, written within seconds; null if never. Changes neither `version` nor `updated_at`. */
    last_seen_at: string | null;
  };
  RotatedUserGroup: {
    success: 1;
    user_group: {
      /** The service's own number of the user group. Never changes, is never reused, need not be stored. */
      team_id: number;
      /** The user group token, which identifies who is viewing a dashboard. Opaque, visible ASCII. Only for your backend, the viewers of this group and the server of their dashboards. Does not expire. */
      token: string;
      /** Name of the user group. Need not be unique. */
      name: string;
      /** The `user_group_id` of the request. */
      provided_id: string;
      /** The environment of the API token that created the user group. Currently never null. */
      api_environment_tag: 'Customer' | 'Testing' | null;
    };
  };
  ResolvedUserGroup: {
    success: 1;
    user_group: {
      /** The service's own number of the user group. Never changes, is never reused, need not be stored. */
      team_id: number;
      /** The `user_group_id` of the request. */
      provided_id: string;
      /** Name of the user group. Need not be unique. */
      name: string;
      /** Properties of the user group, which dashboards read as variables. At most 64 KiB and 16 levels. */
      properties: { readonly [name: string]: JsonValue | undefined } | null;
      /** Schema id to data source: the data source's id, or the caller's own id of it. */
      mapping: { readonly [name: string]: string | number } | null;
      /** The environment of the API token that created the user group. Currently never null. */
      api_environment_tag: 'Customer' | 'Testing' | null;
    };
    /** The data source of each schema that is mapped or has a default, by schema id. Absent without a catalogue. */
    data_sources?: { readonly [name: string]: Schemas['ResolvedDataSource'] } | undefined;
    /** Schemas whose mapping or default leads to no data source of theirs. Show an error instead of data: none of them falls back to another data source. Absent without a catalogue. */
    unresolved?: Schemas['UnresolvedSchema'][] | undefined;
    token: {
      /** `current`; `retiring`: a replaced token in its grace period; `embed`: an embed token of the type `jwt`. */
      status: 'current' | 'retiring' | 'embed';
      /** When the token stops resolving: RFC 3339, UTC. Null if it is `current`. */
      expires_at: string | null;
    };
  };
  ResolvedDataSource: {
    /** The service's own number of the data source. Never changes and is never reused. */
    data_source_id: number;
    /** The caller's own id of the data source. */
    provided_id: string;
    /** For people. Need not be unique. */
    name: string;
    /** What a dashboard server needs to connect: host, database, region, the name of a secret in your secret store. Never a credential: a member that is named like one, and a text that contains one, is rejected. */
    attributes: { readonly [name: string]: JsonValue | undefined };
  };
  UnresolvedSchema: {
    schema_id: string;
    /** What the mapping or the default refers to. */
    data_source: string | number;
    /** `missing`: no data source has this id. `other_schema`: it is one of another schema. `reserved`: it is for another user group. */
    reason: 'missing' | 'other_schema' | 'reserved';
  };
  ApiToken: {
    /** Number of the API token. Not a secret; never reused. */
    api_token_id: number;
    /** Null only for an API token that was created on the command line. */
    name: string | null;
    /** What the API token permits. */
    permission: 'admin' | 'read-write' | 'read-only' | 'resolve' | 'embed';
    /** The environment whose user groups it can access. */
    environment: 'Customer' | 'Testing';
    /** Only an active API token authenticates. */
    status: 'active' | 'expired' | 'revoked';
    /** RFC 3339, UTC. */
    created_at: string;
    /** When it expires; null: never. */
    expires_at: string | null;
    /** When it was revoked; null if it was not. */
    revoked_at: string | null;
    /** The hour of the last request that it authenticated; null: not used yet. */
    last_used_at: string | null;
    /** Until when the text that the last rotation replaced still authenticates; null if it does not. */
    previous_token_expires_at: string | null;
  };
  Whoami: {
    success: 1;
    /** The name of its workspace. */
    workspace: string;
    api_token: Schemas['ApiToken'];
  };
  Event: {
    /** Unique. Events can be delivered more than once: use it to recognize them. */
    event_id: string;
    /** One of the types of the parameter `type`. More may be added. */
    type: string;
    /** RFC 3339, UTC. */
    occurred_at: string;
    actor: {
      type: 'api_token' | 'command_line' | 'service';
      /** Number of the API token. */
      id: number | null;
      /** Name of the API token. */
      name: string | null;
      via: 'api' | 'console' | 'command_line' | 'service';
    };
    target: {
      /** Kind of object that changed. More types may be added. */
      type: string;
      /** Its id. For a user group, your own. */
      id: string;
    };
    /** Version of the target after the change. */
    version: number | null;
    /** `X-Request-Id` of the response. */
    request_id: string | null;
    /** The changed fields, each with its value before and after as `{"from", "to"}`; for `mapping` and `properties` each changed member. A member that was absent has no `from`, one that was removed no `to`. If both values are objects, `from` and `to` have only the members that differ, at any depth. `{"truncated": true}` in place of `{"from", "to"}`, or of all members of a field, says that the values are omitted: an event has at most 16 KiB of changes, and an environment a quota. null if the type has no changes, or if they were removed because the user group was deleted; the ids of a `user_group.renamed` stay. */
    changes: { readonly [name: string]: JsonValue | undefined } | null;
  };
  Usage: {
    user_group_id: string;
    /** The day as `2026-03-05`, or the month as `2026-03`; in UTC. */
    date: string;
    /** Tokens that `POST /v1/resolve` resolved. */
    resolves: number;
    /** Tokens that `POST /oauth/introspect` found active. */
    introspections: number;
    /** Requests that forward authentication let through. */
    forward_authentications: number;
    /** Embed tokens that were minted, by the id of the integration, except test tokens of the console. */
    embed_tokens: { readonly [name: string]: number };
  };
  EmbedToken: {
    success: 1;
    embed_token: {
      /** A signed JWT. */
      token: string;
      type: 'jwt' | 'metabase' | 'superset' | 'lightdash';
      /** RFC 3339, UTC. */
      expires_at: string;
      /** Where a browser opens the token; only for `metabase`. */
      url?: string | undefined;
    };
  };
  IntegrationDocument: {
    /** The id in the path of the integration. */
    integration_id: string;
    /** The type of token to mint. */
    type: 'jwt' | 'metabase' | 'superset' | 'lightdash';
    /** How long a token is valid. */
    ttl_seconds: number;
    /** The settings of the type. `properties` lists the properties of user groups that may leave. */
    settings: { readonly [name: string]: JsonValue | undefined };
    /** Values from the user group. The type determines where they are in a token. */
    claims: {
      readonly [name: string]:
        | { property: string }
        | { mapping: string }
        | { field: 'provided_id' | 'name' | 'team_id' | 'environment' }
        | {
            /** Any JSON value except null, an empty text, an empty array and an empty object. */
            constant: JsonValue;
          };
    };
    /** Required to be true if no value of a token depends on the user group: every user group then sees the same data. */
    unrestricted: boolean;
    /** Starts at 1 and increases with every change. */
    version: number;
    /** RFC 3339, UTC. */
    created_at: string;
    /** RFC 3339, UTC. */
    updated_at: string;
  };
  SigningKeys: {
    success: 1;
    /** The claim `iss`; null until the first integration that needs keys. */
    issuer: string | null;
    /** Where tools fetch the public keys. */
    jwks_url: string | null;
    signing_keys: {
      /** The id of the key in tokens and in the published key set. */
      kid: string;
      algorithm: 'ES256' | 'RS256';
      /** All are published; `pending`: does not sign yet; `retiring`: no longer signs. */
      status: 'pending' | 'signing' | 'retiring';
      /** RFC 3339, UTC. */
      signs_from: string;
      /** When it is removed; null if no other key follows it. */
      published_until: string | null;
      /** PEM, for tools that do not fetch keys. */
      public_key: string;
    }[];
  };
  SchemaDocument: {
    /** The id in the path of the schema. */
    schema_id: string;
    /** For people. Need not be unique. */
    name: string;
    /** The data source of user groups whose mapping has no entry for this schema, as in a mapping: its number, or your id of it. null: none. */
    default_data_source: string | number | null;
    /** Starts at 1 and increases with every change. */
    version: number;
    /** RFC 3339, UTC. */
    created_at: string;
    /** RFC 3339, UTC. */
    updated_at: string;
  };
  DataSourceDocument: {
    /** The id in the path of the data source. */
    provided_id: string;
    /** The service's own number of the data source. Never changes and is never reused. */
    data_source_id: number;
    /** The schema that the data source belongs to. */
    schema_id: string;
    /** For people. Need not be unique. */
    name: string;
    /** What a dashboard server needs to connect: host, database, region, the name of a secret in your secret store. Never a credential: a member that is named like one, and a text that contains one, is rejected. */
    attributes: { readonly [name: string]: JsonValue | undefined };
    /** The only user group that the data source is for, which need not exist yet: it does not resolve for any other group. null: any user group. */
    user_group_id: string | null;
    /** Starts at 1 and increases with every change. */
    version: number;
    /** RFC 3339, UTC. */
    created_at: string;
    /** RFC 3339, UTC. */
    updated_at: string;
  };
  ConfigChanges: {
    success: 1;
    changes: {
      /** The member of the configuration. */
      section: string;
      /** The id of the entry; `default` in a section that has one entry. */
      id: string;
      /** What happens to it. */
      action: 'create' | 'update' | 'delete';
      /** The entry as it was; null if there was none. */
      before: { readonly [name: string]: JsonValue | undefined } | null;
      /** The entry as it is; null if it is deleted. */
      after: { readonly [name: string]: JsonValue | undefined } | null;
      /** Whether a sent secret differs from the stored one. */
      replaces_secret: boolean;
    }[];
    kept: {
      /** The member of the configuration. */
      section: string;
      /** The id of the entry; `default` in a section that has one entry. */
      id: string;
    }[];
    /** Increases with every change of the configuration. */
    config_version: number;
  };
  WebhookEndpointDocument: {
    /** The id in the path of the webhook endpoint. */
    webhook_endpoint_id: string;
    /** Where events are sent by POST: an https or http URL without credentials or fragment. Do not put a secret into it: unlike the signing secret, it is shown in reads and events. */
    url: string;
    /** The types of event to deliver; `*` for all, including types that later versions add. */
    event_types: Schemas['SubscribedEventType'][];
    /** Whether events are delivered. The service sets it to false when the receiver returns 410, or has failed for five days. */
    enabled: boolean;
    /** Starts at 1 and increases with every change. */
    version: number;
    /** RFC 3339, UTC. */
    created_at: string;
    /** RFC 3339, UTC. */
    updated_at: string;
  };
  RotatedWebhookEndpoint: {
    success: 1;
    webhook_endpoint: Schemas['WebhookEndpointDocument'];
    /** `whsec_` and base64. Signs the webhooks of this endpoint (Standard Webhooks 1.0). Shown only in this response: store it with the receiver. */
    secret: string;
    /** Until when the replaced secret signs too. */
    previous_secret_expires_at: string;
  };
  WebhookDelivery: {
    /** The id of the event, which is the `webhook-id` of every attempt. */
    event_id: string;
    event_type:
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
    /** `pending`: not delivered yet; `delivered`: the receiver returned 2xx; `failed`: given up after the last retry, or because the endpoint is disabled. */
    state: 'pending' | 'delivered' | 'failed';
    /** Since the event, or since the last redelivery. */
    attempts: number;
    /** Null unless pending. While an attempt runs: when another process would take over. */
    next_attempt_at: string | null;
    /** RFC 3339, UTC. */
    last_attempt_at: string | null;
    /** The HTTP status of the last attempt; null if there was no response. */
    response_status: number | null;
    /** Why the last attempt failed; null after a success, or before the first attempt. */
    error: string | null;
    /** RFC 3339, UTC. */
    created_at: string;
  };
  WebhookAttempt: {
    /** RFC 3339, UTC. */
    ended_at: string;
    duration_ms: number;
    /** The HTTP status; null if there was no response. */
    response_status: number | null;
    /** Why the attempt failed; null after a success. */
    error: string | null;
  };
  WebhookEndpointHealth: {
    /** The first failure since the last success; null if the last attempt succeeded, or before the first. */
    failing_since: string | null;
    /** The last success; null if none of the last 100 deliveries arrived. */
    last_delivered_at: string | null;
    /** Counted up to 1000. */
    pending_deliveries: number;
  };
  FailedWebhooksRedelivered: {
    success: 1;
    /** How many deliveries are due. */
    redelivered: number;
    /** Whether there may be more: repeat the call. */
    has_more: boolean;
  };
}

/** Error codes of the service. */
export const serviceCodes = [
  'invalid_json',
  'invalid_request',
  'unknown_field',
  'body_missing',
  'unauthenticated',
  'viewer_unauthenticated',
  'user_group_not_forwardable',
  'permission_denied',
  'origin_not_allowed',
  'user_group_not_found',
  'user_group_token_not_found',
  'api_token_not_found',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'api_token_inactive',
  'user_group_exists',
  'limit_reached',
  'in_use',
  'version_mismatch',
  'body_too_large',
  'unsupported_media_type',
  'mapping_invalid',
  'properties_invalid',
  'claim_missing',
  'claim_invalid',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'not_implemented',
  'overloaded',
  'database_unavailable',
  'shutting_down',
] as const;
