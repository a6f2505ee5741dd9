// Client of the User Group Service, with one method per operation. It never sends a body with GET, which
// `fetch` rejects and many proxies drop.

import {
  apiTokenPath,
  canBeToken,
  checkedCount,
  checkedTime,
  checkedToken,
  checkedUrl,
  checkFilter,
  checkNarrow,
  userGroupPath,
  webhookDeliveryPath,
  webhookEndpointPath,
} from './argument.ts';
import {
  type CallOptions,
  type CallRequest,
  type Connection,
  call,
  type Fetch,
  type JsonCodec,
  sleep,
} from './call.ts';
import type {
  DataSource,
  DataSourceRequest,
  MappingPolicy,
  PropertySchema,
  ResolvedDataSource,
  Schema,
  SchemaRequest,
  UnresolvedReference,
} from './catalogue.ts';
import type { ApplyConfigOptions, Config, ConfigChanges, ReadConfig } from './config.ts';
import {
  type ChangeOptions,
  Collection,
  type ReplaceOptions,
  Singleton,
  type StoredDocument,
} from './document.ts';
import type { EmbedToken, EmbedTokenRequest, Integration, IntegrationRequest, SigningKeys } from './embed.ts';
import { tokenNotFound } from './error.ts';
import { entries, type PageRequest, queryString } from './page.ts';
import type { ApiResponse } from './response.ts';
import type {
  FailedWebhooksRedelivered,
  PutWebhookEndpointResult,
  RotatedWebhookEndpoint,
  StoredWebhookDelivery,
  WebhookDelivery,
  WebhookDeliveryRequest,
  WebhookEndpoint,
  WebhookEndpointHealth,
  WebhookEndpointRequest,
} from './webhook.ts';
import type {
  ApiToken,
  ApiTokenListQuery,
  Event,
  EventFeedPage,
  EventFeedQuery,
  EventPage,
  EventPageQuery,
  EventQuery,
  FoundUserGroup,
  IssuedApiToken,
  ListedUserGroup,
  ListQuery,
  Mapping,
  MergePatch,
  NewApiToken,
  Properties,
  ResolvedUserGroup,
  RotatedUserGroup,
  RotateRequest,
  StoredUserGroup,
  TokenState,
  UpdatedUserGroup,
  Usage,
  UsageQuery,
  UserGroupFields,
  UserGroupPatch,
  UserGroupReplacement,
  UserGroupRequest,
  Whoami,
} from './wire.ts';

export type { CallOptions, Fetch, FetchRequest, FetchResponse, JsonCodec } from './call.ts';
export type * from './catalogue.ts';
export type * from './config.ts';
export type * from './document.ts';
export type * from './embed.ts';
export { type ErrorCode, type FieldError, UserGroupServiceError } from './error.ts';
export type { PageRequest } from './page.ts';
export type * from './webhook.ts';
export type * from './wire.ts';

export interface ClientOptions {
  /** Base URL of the service, such as https://user-groups.example.com, optionally with a path prefix. */
  url: string | URL | undefined;
  /**
   * API token alone, without `Token `. `undefined`, such as an unset environment variable, throws a
   * TypeError.
   */
  apiToken: string | undefined;
  /** Timeout of a call, including retries and the delays between them. Default: 30 000. */
  timeoutMs?: number | undefined;
  /** Timeout of a single attempt. Default: 10 000. */
  attemptTimeoutMs?: number | undefined;
  /** Maximum number of retries. Default: 5, which take at least three seconds; 0 disables retries. */
  maxRetries?: number | undefined;
  /** Replaces the `fetch` of the platform, for example for a proxy, a certificate, tracing or tests. */
  fetch?: Fetch | undefined;
  /** Replaces `JSON`, for example for numbers that JavaScript cannot represent. */
  json?: JsonCodec | undefined;
}

export interface GetOrCreateOptions extends CallOptions {
  /** `*` only creates: fails with `version_mismatch` if the group exists. */
  ifNoneMatch?: '*' | undefined;
}

export interface RotateByIdOptions extends ChangeOptions {
  /**
   * How long the replaced token still resolves; the default of the service if absent. 0 ends it immediately.
   */
  gracePeriodSeconds?: number | undefined;
}

export interface RotateApiTokenOptions extends CallOptions {
  /**
   * How long the replaced text still authenticates. Default: 0, which rejects it from the next request on.
   */
  gracePeriodSeconds?: number | undefined;
}

export interface EventFeedOptions extends CallOptions {
  /** How long to wait after an empty page. Default: 1 000. */
  pollIntervalMs?: number | undefined;
}

export interface RotateSigningKeysOptions extends CallOptions {
  /** Whether the previous keys are removed immediately, because one has leaked. */
  revoke?: boolean | undefined;
}

/** A user group and the entity tag of its version. */
export interface Versioned<Group> {
  user_group: Group;
  etag: string;
}

/** A user group after a change. */
export interface Changed<Group> extends Versioned<Group> {
  /** JSON pointers to values that violate a mapping policy or property schema whose mode is `report`. */
  violations: string[];
}

export interface GetOrCreateResult<P extends object = Properties> extends Changed<FoundUserGroup<P>> {
  new_user_group: boolean;
  /** Sent fields that differ from the stored ones, which stay unchanged. */
  drift: (keyof UserGroupFields)[];
}

export interface ReplaceResult<P extends object = Properties> extends Changed<StoredUserGroup<P>> {
  /** Whether this call created the group. */
  new_user_group: boolean;
}

export interface Resolution<P extends object = Properties> {
  user_group: ResolvedUserGroup<P>;
  /** Data source of each schema that is mapped or has a default, by schema id. Absent without a catalogue. */
  data_sources?: { readonly [schemaId: string]: ResolvedDataSource | undefined };
  /** Schemas whose mapping or default leads to no data source. Show an error for them. Absent without a catalogue. */
  unresolved?: UnresolvedReference[];
  token: TokenState;
}

export interface Page<P extends object = Properties> {
  user_groups: ListedUserGroup<P>[];
  /** null on the last page. */
  next_cursor: string | null;
}

export interface ApiTokenPage {
  api_tokens: ApiToken[];
  /** null on the last page. */
  next_cursor: string | null;
}

/**
 * Methods reject with `UserGroupServiceError`, with the reason of your signal if it aborts, or with a TypeError if an
 * argument cannot be transmitted unchanged; in that case no request is sent.
 *
 * `P` is the type of the stored properties, such as your own interface. It is not checked at run time. Sent values have
 * separate type parameters (`Sent`, `SentMapping`), because they may differ from the stored values.
 */
export class UserGroupClient {
  readonly #connection: Connection;
  /** Schemas and data sources, which mappings refer to. */
  readonly schemas: Collection<'schema', SchemaRequest, Schema>;
  readonly dataSources: Collection<'data_source', DataSourceRequest, DataSource>;
  /** Whether mappings must refer to schemas and data sources that exist. */
  readonly mappingPolicy: Pick<Singleton<'mapping_policy', MappingPolicy>, 'put' | 'read'>;
  /** JSON Schema of properties. */
  readonly propertySchema: Singleton<'property_schema', PropertySchema>;
  /**
   * Integrations, which define how embed tokens for a tool are made. Tokens remain valid until they expire,
   * even without the integration.
   */
  readonly integrations: Collection<'integration', IntegrationRequest, Integration>;

  /** Throws a TypeError for an invalid URL, API token or limit. */
  constructor({ url, apiToken, ...options }: ClientOptions) {
    this.#connection = {
      url: checkedUrl(url),
      apiToken: checkedToken(apiToken),
      // The `fetch` of browsers throws if it is called as a method of another object.
      fetch: options.fetch ?? ((address, request) => fetch(address, request)),
      json: options.json ?? { parse: JSON.parse, stringify },
      timeoutMs: checkedTime('timeoutMs', options.timeoutMs ?? 30_000),
      attemptTimeoutMs: checkedTime('attemptTimeoutMs', options.attemptTimeoutMs ?? 10_000),
      maxRetries: checkedCount('maxRetries', options.maxRetries ?? 5),
    };
    const connection = this.#connection;
    this.schemas = new Collection(connection, '/v1/schemas', 'schema');
    this.dataSources = new Collection(connection, '/v1/data-sources', 'data_source');
    this.mappingPolicy = new Singleton(connection, '/v1/mapping-policy');
    this.propertySchema = new Singleton(connection, '/v1/property-schema');
    this.integrations = new Collection(connection, '/v1/integrations', 'integration');
  }

  /**
   * Returns the group with the id. If it does not exist, creates it if the request has a name, otherwise fails with
   * `user_group_not_found`. Never changes an existing group.
   */
  async getOrCreate<
    P extends object = Properties,
    Sent extends object = P,
    SentMapping extends object = Mapping,
  >(
    group: UserGroupRequest<Sent, SentMapping>,
    { ifNoneMatch, ...options }: GetOrCreateOptions = {},
  ): Promise<GetOrCreateResult<P>> {
    const request: CallRequest = { method: 'POST', path: '/v1/user-groups', body: group, ifNoneMatch };
    const { body, etag, drift, violations } = await this.#call<
      Pick<GetOrCreateResult<P>, 'user_group' | 'new_user_group'>
    >(request, options);
    return { ...body, etag, drift, violations };
  }

  /** Replaces each sent field as a whole and keeps the others. Fails with `user_group_not_found`. */
  async update<P extends object = Properties, Sent extends object = P, SentMapping extends object = Mapping>(
    group: UserGroupRequest<Sent, SentMapping>,
    options: ChangeOptions = {},
  ): Promise<Changed<UpdatedUserGroup<P>>> {
    return this.#callChanged({ method: 'PUT', path: '/api/user', body: group }, options);
  }

  /**
   * Replaces the token of a group with a new one. Repeating the call with the replaced token returns the same new token.
   * Fails with `user_group_token_not_found`. With `ifMatch`, repeating the call for the same version fails with
   * `version_mismatch`, even with the same token.
   */
  async rotate(rotation: RotateRequest, options: ChangeOptions = {}): Promise<Versioned<RotatedUserGroup>> {
    return this.#callVersioned({ method: 'POST', path: '/api/user', body: rotation }, options);
  }

  /**
   * Returns the group that the token belongs to. Fails with `user_group_token_not_found` if the token is unknown, was
   * replaced, or is absent or empty because the viewer presents none.
   */
  async resolve<P extends object = Properties>(
    token: string | null | undefined,
    options: CallOptions = {},
  ): Promise<Resolution<P>> {
    // The viewer presents the token, so an invalid one is not a bug of the caller and must not throw a TypeError.
    if (!canBeToken(token)) throw tokenNotFound();
    const request: CallRequest = { method: 'POST', path: '/v1/resolve', body: { token } };
    return this.#body(request, options);
  }

  /** Returns all stored fields of a group. Fails with `user_group_not_found`. */
  async read<P extends object = Properties>(
    userGroupId: string,
    options: CallOptions = {},
  ): Promise<Versioned<StoredUserGroup<P>>> {
    return this.#callVersioned({ method: 'GET', path: userGroupPath(userGroupId) }, options);
  }

  /**
   * Merges the changes into the group (RFC 7396): sets the sent members of `mapping` and `properties`, removes those
   * that are null, and keeps the others.
   */
  async patch<
    P extends object = Properties,
    Sent extends object = MergePatch<P>,
    SentMapping extends object = MergePatch<Mapping>,
  >(
    userGroupId: string,
    changes: UserGroupPatch<Sent, SentMapping>,
    options: ChangeOptions = {},
  ): Promise<Changed<StoredUserGroup<P>>> {
    return this.#callChanged({ method: 'PATCH', path: userGroupPath(userGroupId), body: changes }, options);
  }

  /**
   * Creates the group, or replaces all fields of an existing one: an absent `mapping` or `properties` becomes null. The
   * token of an existing group is unchanged.
   */
  async replace<P extends object = Properties, Sent extends object = P, SentMapping extends object = Mapping>(
    userGroupId: string,
    group: UserGroupReplacement<Sent, SentMapping>,
    { ifMatch, ifNoneMatch, ...options }: ReplaceOptions = {},
  ): Promise<ReplaceResult<P>> {
    const request: CallRequest = {
      method: 'PUT',
      path: userGroupPath(userGroupId),
      body: group,
      ifMatch,
      ifNoneMatch,
    };
    const { body, etag, violations, status } = await this.#call<Versioned<StoredUserGroup<P>>>(
      request,
      options,
    );
    return { ...body, etag, violations, new_user_group: status === 201 };
  }

  /**
   * Rotates the token of the group with this id. Not idempotent: the client retries only if the first attempt certainly
   * had no effect. After `network_error`, `timeout`, `database_unavailable` or `unexpected_answer`, read the group to see whether
   * its version changed.
   */
  async rotateById<P extends object = Properties>(
    userGroupId: string,
    { gracePeriodSeconds, ...options }: RotateByIdOptions = {},
  ): Promise<Versioned<StoredUserGroup<P>>> {
    const body = gracePeriodSeconds === undefined ? {} : { grace_period_seconds: gracePeriodSeconds };
    const path = `${userGroupPath(userGroupId)}/rotate`;
    return this.#callVersioned({ method: 'POST', path, body, isIdempotent: false }, options);
  }

  /**
   * Gives the group another id; the group keeps its token and everything else. Repeating the call returns the
   * renamed group. Fails with `user_group_not_found`, and with `user_group_exists` if another group has the
   * new id.
   */
  async rename<P extends object = Properties>(
    userGroupId: string,
    newUserGroupId: string,
    options: ChangeOptions = {},
  ): Promise<Versioned<StoredUserGroup<P>>> {
    const path = `${userGroupPath(userGroupId)}/rename`;
    return this.#callVersioned({ method: 'POST', path, body: { user_group_id: newUserGroupId } }, options);
  }

  /**
   * Suspends the group: its tokens stop resolving immediately, until it is resumed; everything else is unchanged.
   * Suspending a suspended group changes nothing. Fails with `user_group_not_found`.
   */
  async suspend<P extends object = Properties>(
    userGroupId: string,
    options: ChangeOptions = {},
  ): Promise<Versioned<StoredUserGroup<P>>> {
    return this.#callVersioned({ method: 'POST', path: `${userGroupPath(userGroupId)}/suspend` }, options);
  }

  /** Resumes a suspended group: the same tokens resolve again. Otherwise like `suspend`. */
  async resume<P extends object = Properties>(
    userGroupId: string,
    options: ChangeOptions = {},
  ): Promise<Versioned<StoredUserGroup<P>>> {
    return this.#callVersioned({ method: 'POST', path: `${userGroupPath(userGroupId)}/resume` }, options);
  }

  /** Deletes the group; its token stops working immediately. Fails with `user_group_not_found`. */
  async delete(userGroupId: string, { ifMatch, ...options }: ChangeOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: userGroupPath(userGroupId), ifMatch }, options);
  }

  /**
   * Iterates over all groups, or over those that meet every condition of the query, and fetches pages as
   * needed.
   */
  async *list<P extends object = Properties>(
    query: ListQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<ListedUserGroup<P>, void, void> {
    yield* entries(this.#connection, '/v1/user-groups', 'user_groups', listParameters(query), options);
  }

  /** Returns one page of `list`. It may have fewer groups than `limit`, or none, although more follow. */
  async listPage<P extends object = Properties>(
    query: ListQuery = {},
    options: CallOptions = {},
  ): Promise<Page<P>> {
    const path = `/v1/user-groups${queryString(listParameters(query))}`;
    return this.#body({ method: 'GET', path }, options);
  }

  /**
   * Creates an API token in the workspace and environment of the caller, and returns its text. Not
   * idempotent: the client retries only if the first attempt certainly had no effect.
   */
  async createApiToken(apiToken: NewApiToken, options: CallOptions = {}): Promise<IssuedApiToken> {
    const path = '/v1/api-tokens';
    return this.#callApiToken({ method: 'POST', path, body: apiToken, isIdempotent: false }, options);
  }

  /** Returns what the API token of this client may do, and in which workspace. */
  async whoami(options: CallOptions = {}): Promise<Whoami> {
    return this.#body({ method: 'GET', path: '/v1/whoami' }, options);
  }

  /** Returns the whole configuration of the environment, without secrets. */
  async readConfig(options: CallOptions = {}): Promise<ReadConfig> {
    return this.#body({ method: 'GET', path: '/v1/config' }, options);
  }

  /**
   * Makes the stored configuration equal to the sent one, in one transaction. With `configVersion`, the client retries only
   * if the first attempt certainly had no effect.
   */
  async applyConfig(
    config: Config,
    { configVersion, prune = false, dryRun = false, ...options }: ApplyConfigOptions = {},
  ): Promise<ConfigChanges> {
    const path = `/v1/config?prune=${prune}&dry_run=${dryRun}`;
    const sent = configVersion === undefined ? config : { ...config, config_version: configVersion };
    const isConditional = 'config_version' in sent && !dryRun;
    return this.#body(
      { method: 'PUT', path, body: sent, ...(isConditional && { isIdempotent: false }) },
      options,
    );
  }

  /** Fails with `api_token_not_found`. */
  async readApiToken(apiTokenId: number, options: CallOptions = {}): Promise<ApiToken> {
    return this.#callApiToken({ method: 'GET', path: apiTokenPath(apiTokenId) }, options);
  }

  /**
   * Gives the API token a new text, and returns it. Not idempotent, like `createApiToken`. Fails with
   * `api_token_inactive` if it is revoked or expired.
   */
  async rotateApiToken(
    apiTokenId: number,
    { gracePeriodSeconds, ...options }: RotateApiTokenOptions = {},
  ): Promise<IssuedApiToken> {
    const body = gracePeriodSeconds === undefined ? {} : { grace_period_seconds: gracePeriodSeconds };
    const path = `${apiTokenPath(apiTokenId)}/rotate`;
    return this.#callApiToken({ method: 'POST', path, body, isIdempotent: false }, options);
  }

  /** Revokes the API token, effective with the next request. Revoking it again changes nothing. */
  async revokeApiToken(apiTokenId: number, options: CallOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: apiTokenPath(apiTokenId) }, options);
  }

  /** Iterates over all API tokens, including those that are revoked or expired, and fetches pages as needed. */
  async *listApiTokens(
    { limit, cursor }: ApiTokenListQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<ApiToken, void, void> {
    yield* entries(this.#connection, '/v1/api-tokens', 'api_tokens', { limit, cursor }, options);
  }

  /** Returns one page of `listApiTokens`. */
  async listApiTokensPage(
    { limit, cursor }: ApiTokenListQuery = {},
    options: CallOptions = {},
  ): Promise<ApiTokenPage> {
    const path = `/v1/api-tokens${queryString({ limit, cursor })}`;
    return this.#body({ method: 'GET', path }, options);
  }

  /** Iterates over the usage of user groups by period, and fetches pages as needed. */
  usage(query: UsageQuery = {}, options: CallOptions = {}): AsyncGenerator<Usage, void, void> {
    checkFilter(query, 'userGroupId');
    const { groupBy, userGroupId, ...rest } = query;
    const parameters = { ...rest, group_by: groupBy, user_group_id: userGroupId };
    return entries(this.#connection, '/v1/usage', 'usage', parameters, options);
  }

  /** Iterates over the events, newest first, and fetches pages as needed. */
  async *events(query: EventQuery = {}, options: CallOptions = {}): AsyncGenerator<Event, void, void> {
    yield* entries(this.#connection, '/v1/events', 'events', eventParameters(query), options);
  }

  /**
   * Follows the feed of events, oldest first, until a call fails, and yields each page that has another cursor: those
   * with events, and some without, at least one an hour. Store `next_cursor` after you have processed a page, and
   * continue from it with `cursor`: then you miss no event. End the feed with `signal`.
   */
  async *eventFeed(
    query: EventFeedQuery = {},
    { pollIntervalMs = 1_000, ...options }: EventFeedOptions = {},
  ): AsyncGenerator<EventFeedPage, void, void> {
    const intervalMs = checkedTime('pollIntervalMs', pollIntervalMs);
    let cursor = query.cursor ?? undefined;
    for (;;) {
      const page = await this.eventPage({ ...query, cursor, order: 'oldest' }, options);
      const next = page.next_cursor!;
      if (next === cursor) await sleep(intervalMs, options.signal);
      // Also without events: a stored cursor must not become older than the retention.
      else yield { events: page.events, next_cursor: next };
      cursor = next;
    }
  }

  /** Returns one page of events. */
  async eventPage(query: EventPageQuery = {}, options: CallOptions = {}): Promise<EventPage> {
    const path = `/v1/events${queryString(eventParameters(query))}`;
    return this.#body({ method: 'GET', path }, options);
  }

  /**
   * Creates the webhook endpoint, or replaces its fields. The result of a create has the secret that signs the webhooks,
   * which is not shown again. Not retried if it may have been applied: if a response is lost, rotate the secret.
   */
  async putWebhookEndpoint(
    webhookEndpointId: string,
    endpoint: WebhookEndpointRequest,
    { ifMatch, ifNoneMatch, ...options }: ReplaceOptions = {},
  ): Promise<PutWebhookEndpointResult> {
    const { body, etag } = await this.#call<Omit<PutWebhookEndpointResult, 'etag'>>(
      {
        method: 'PUT',
        path: webhookEndpointPath(webhookEndpointId),
        body: endpoint,
        ifMatch,
        ifNoneMatch,
        isIdempotent: false,
      },
      options,
    );
    return { ...body, etag };
  }

  /** Fails with `not_found`. */
  async readWebhookEndpoint(
    webhookEndpointId: string,
    options: CallOptions = {},
  ): Promise<{ webhook_endpoint: WebhookEndpoint; etag: string }> {
    const { body, etag } = await this.#call<{ webhook_endpoint: WebhookEndpoint }>(
      { method: 'GET', path: webhookEndpointPath(webhookEndpointId) },
      options,
    );
    return { ...body, etag };
  }

  /** Deletes the endpoint and its deliveries. Fails with `not_found`. */
  async deleteWebhookEndpoint(
    webhookEndpointId: string,
    { ifMatch, ...options }: ChangeOptions = {},
  ): Promise<void> {
    await this.#call({ method: 'DELETE', path: webhookEndpointPath(webhookEndpointId), ifMatch }, options);
  }

  /** Replaces the secret; for a day, webhooks carry signatures of both. Not retried if it may have been applied. */
  async rotateWebhookSecret(
    webhookEndpointId: string,
    { ifMatch, ...options }: ChangeOptions = {},
  ): Promise<RotatedWebhookEndpoint> {
    const path = `${webhookEndpointPath(webhookEndpointId)}/rotate`;
    const { body, etag } = await this.#call<Omit<RotatedWebhookEndpoint, 'etag'>>(
      { method: 'POST', path, ifMatch, isIdempotent: false },
      options,
    );
    return { ...body, etag };
  }

  /** Iterates over all webhook endpoints. */
  listWebhookEndpoints(
    query: PageRequest = {},
    options: CallOptions = {},
  ): AsyncGenerator<WebhookEndpoint, void, void> {
    return entries(this.#connection, '/v1/webhook-endpoints', 'webhook_endpoints', query, options);
  }

  /** Iterates over the deliveries of an endpoint, newest first. */
  listWebhookDeliveries(
    webhookEndpointId: string,
    query: WebhookDeliveryRequest = {},
    options: CallOptions = {},
  ): AsyncGenerator<WebhookDelivery, void, void> {
    const path = `${webhookEndpointPath(webhookEndpointId)}/deliveries`;
    return entries(this.#connection, path, 'deliveries', query, options);
  }

  /** Returns a delivery with its last attempts. Fails with `not_found`. */
  async readWebhookDelivery(
    webhookEndpointId: string,
    eventId: string,
    options: CallOptions = {},
  ): Promise<StoredWebhookDelivery> {
    return this.#body({ method: 'GET', path: webhookDeliveryPath(webhookEndpointId, eventId) }, options);
  }

  /** Returns whether the receiver is failing, and when it last accepted an event. */
  async readWebhookEndpointHealth(
    webhookEndpointId: string,
    options: CallOptions = {},
  ): Promise<WebhookEndpointHealth> {
    const path = `${webhookEndpointPath(webhookEndpointId)}/health`;
    const body = await this.#body<{ health: WebhookEndpointHealth }>({ method: 'GET', path }, options);
    return body.health;
  }

  /** Sends an event `webhook_endpoint.tested` to the endpoint. */
  async testWebhookEndpoint(
    webhookEndpointId: string,
    options: CallOptions = {},
  ): Promise<{ event_id: string }> {
    const path = `${webhookEndpointPath(webhookEndpointId)}/test`;
    return this.#body({ method: 'POST', path }, options);
  }

  /** Delivers an event to the endpoint again. Fails with `not_found`. */
  async redeliverWebhook(
    webhookEndpointId: string,
    eventId: string,
    options: CallOptions = {},
  ): Promise<void> {
    const path = `${webhookDeliveryPath(webhookEndpointId, eventId)}/redeliver`;
    await this.#call({ method: 'POST', path }, options);
  }

  /**
   * Redelivers the failed deliveries of events that occurred since `since` (RFC 3339), about a thousand per
   * call.
   */
  async redeliverFailedWebhooks(
    webhookEndpointId: string,
    { since }: { since: string },
    options: CallOptions = {},
  ): Promise<FailedWebhooksRedelivered> {
    const path = `${webhookEndpointPath(webhookEndpointId)}/redeliver-failed`;
    return this.#body({ method: 'POST', path, body: { since } }, options);
  }

  /**
   * Mints a token for the tool of the integration. Fails with `claim_missing` if the user group lacks a value, and with
   * `user_group_token_not_found` or `user_group_not_found` if the user group does not exist or is suspended.
   */
  async createEmbedToken(request: EmbedTokenRequest, options: CallOptions = {}): Promise<EmbedToken> {
    // The viewer presents the token, so an invalid one is not a bug of the caller and must not throw a TypeError.
    const isByToken = 'token' in request && request.user_group_id === undefined;
    if (isByToken && !canBeToken(request.token)) throw tokenNotFound();
    checkNarrow(request);
    const sent: CallRequest = { method: 'POST', path: '/v1/embed-tokens', body: request };
    return (await this.#body<{ embed_token: EmbedToken }>(sent, options)).embed_token;
  }

  /** @deprecated Use `integrations.put`. */
  putIntegration(
    integrationId: string,
    integration: IntegrationRequest,
    options: ReplaceOptions = {},
  ): Promise<StoredDocument<'integration', Integration>> {
    return this.integrations.put(integrationId, integration, options);
  }

  /** @deprecated Use `integrations.read`. */
  readIntegration(
    integrationId: string,
    options: CallOptions = {},
  ): Promise<StoredDocument<'integration', Integration>> {
    return this.integrations.read(integrationId, options);
  }

  /** @deprecated Use `integrations.delete`. */
  deleteIntegration(integrationId: string, options: ChangeOptions = {}): Promise<void> {
    return this.integrations.delete(integrationId, options);
  }

  /** @deprecated Use `integrations.list`. */
  listIntegrations(
    query: PageRequest = {},
    options: CallOptions = {},
  ): AsyncGenerator<Integration, void, void> {
    return this.integrations.list(query, options);
  }

  /** Returns the issuer of embed tokens of type `jwt`, and its keys. */
  async readSigningKeys(options: CallOptions = {}): Promise<SigningKeys> {
    return this.#body({ method: 'GET', path: '/v1/signing-keys' }, options);
  }

  /**
   * Publishes new keys, which sign six minutes later; repeating the call until then changes nothing. With
   * `revoke`, the previous keys are no longer trusted, and the call is not retried if it may have been
   * applied.
   */
  async rotateSigningKeys({
    revoke = false,
    ...options
  }: RotateSigningKeysOptions = {}): Promise<SigningKeys> {
    const path = '/v1/signing-keys/rotate';
    return this.#body(
      { method: 'POST', path, body: { revoke }, ...(revoke && { isIdempotent: false }) },
      options,
    );
  }

  #call<Body>(request: CallRequest, options: CallOptions): Promise<ApiResponse<Body>> {
    return call(this.#connection, request, options);
  }

  async #body<Body>(request: CallRequest, options: CallOptions): Promise<Body> {
    return (await this.#call<Body>(request, options)).body;
  }

  async #callApiToken<Body extends ApiToken>(request: CallRequest, options: CallOptions): Promise<Body> {
    return (await this.#body<{ api_token: Body }>(request, options)).api_token;
  }

  async #callVersioned<Group>(
    request: CallRequest,
    { ifMatch, ...options }: ChangeOptions,
  ): Promise<Versioned<Group>> {
    const { body, etag } = await this.#call<Versioned<Group>>({ ...request, ifMatch }, options);
    return { ...body, etag };
  }

  async #callChanged<Group>(
    request: CallRequest,
    { ifMatch, ...options }: ChangeOptions,
  ): Promise<Changed<Group>> {
    const { body, etag, violations } = await this.#call<Versioned<Group>>({ ...request, ifMatch }, options);
    return { ...body, etag, violations };
  }
}

/** Leaves out members that are not parameters. */
function listParameters(query: ListQuery) {
  const { search, match, data_source, suspended, seen_before, never_seen, created_since, invalid } = query;
  const filters = { data_source, suspended, seen_before, never_seen, created_since, invalid };
  return { search, match, ...filters, limit: query.limit, cursor: query.cursor };
}

function eventParameters(query: EventPageQuery) {
  checkFilter(query, 'target');
  const { target, ...rest } = query;
  return { ...rest, target: target && `${target.type}:${target.id}` };
}

/** Throws for NaN and the infinities, which `JSON.stringify` would turn into null. */
function stringify(value: object): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (typeof member === 'number' && !Number.isFinite(member)) {
      throw new TypeError(`${key} is ${member}, which JSON cannot represent.`);
    }
    return member;
  });
}
