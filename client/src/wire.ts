// Types of the request and response bodies, with the names used on the wire.

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** Variables for dashboards: arbitrary JSON values, at most 100 keys and 64 KiB. */
export type Properties = { readonly [key: string]: JsonValue | undefined };

/** Maps a schema id to a data source, by its id or your own id for it. */
export type Mapping = { readonly [schemaId: string]: string | number };

/**
 * `T` if it consists of JSON values; members that are not JSON become `never`, so that a value of `T` is not assignable.
 * Accepts interfaces, which lack the index signature that `Properties` requires.
 */
type Json<T> = T extends JsonValue | undefined
  ? T
  : T extends (...args: never) => unknown
    ? never
    : T extends object
      ? { [Key in keyof T]: Json<T[Key]> }
      : never;

/** Like `Json`, for a JSON object. */
type JsonObject<T> = T extends readonly unknown[] ? never : Json<T>;

/** A JSON Merge Patch of `T`: all members are optional, and null removes one. Arrays are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [Key in keyof T]?: MergePatch<T[Key]> | null | undefined }
    : T;

export type Environment = 'Customer' | 'Testing';

/** A field that is absent or undefined is not sent. */
export interface UserGroupFields<P extends object = Properties, M extends object = Mapping> {
  name?: string | undefined;
  /** null clears it. */
  mapping?: (M & { readonly [Key in keyof M]: string | number }) | null | undefined;
  /** null clears it. */
  properties?: (P & JsonObject<P>) | null | undefined;
}

export interface UserGroupRequest<P extends object = Properties, M extends object = Mapping>
  extends UserGroupFields<P, M> {
  /** Your own id for the customer. */
  user_group_id: string;
}

/** All fields of a group: an absent `mapping` or `properties` becomes null. */
export interface UserGroupReplacement<P extends object = Properties, M extends object = Mapping>
  extends UserGroupFields<P, M> {
  name: string;
}

/** null removes a member, or clears a whole field. */
export interface UserGroupPatch<
  P extends object = MergePatch<Properties>,
  M extends object = MergePatch<Mapping>,
> {
  name?: string | undefined;
  mapping?: (M & { readonly [Key in keyof M]: string | number | null | undefined }) | null | undefined;
  properties?: (P & JsonObject<P>) | null | undefined;
}

export interface RotateRequest {
  /** The current token of the group. */
  current_token: string;
  /** How long the replaced token keeps resolving. Default: a setting of the service; 0: it stops working immediately. */
  grace_period_seconds?: number | undefined;
}

export interface ListQuery {
  /** Prefix of an id or a name; with `match: 'contains'`, part of one, regardless of case, or a property: `plan: gold`. */
  search?: string | undefined;
  /** How `search` matches. Default: `prefix`. */
  match?: 'prefix' | 'contains' | undefined;
  /** Only groups that use this data source, by their mapping or as the default of a schema. */
  data_source?: string | number | undefined;
  /** Only suspended groups, or only the others. */
  suspended?: boolean | undefined;
  /** Only groups last seen before this time (RFC 3339), or never. */
  seen_before?: string | undefined;
  /** Groups per page, 1 to 1000. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined;
}

/** The changed thing. The id of a user group is your own. */
export interface EventTarget {
  type:
    | 'user_group'
    | 'api_token'
    | 'webhook_endpoint'
    | 'schema'
    | 'data_source'
    | 'mapping_policy'
    | 'property_schema'
    | 'integration'
    | 'key_set'
    | (string & {});
  id: string;
}

export interface EventQuery {
  /** Default: all types. */
  type?: string | undefined;
  /** Default: all targets. */
  target?: EventTarget | undefined;
  /** Default: things of all types. */
  target_type?: EventTarget['type'] | undefined;
  /** Id of the API token that made the change. Default: all. */
  actor?: number | undefined;
  /** RFC 3339. */
  since?: string | undefined;
  /** RFC 3339, exclusive. */
  until?: string | undefined;
  /** A changed field or member, such as `mapping.40`. */
  field?: string | undefined;
  /** Events per page, 1 to 1000. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of a page of the same order and filters. */
  cursor?: string | undefined;
}

export interface EventPageQuery extends EventQuery {
  /** Default: `newest`. */
  order?: 'newest' | 'oldest' | undefined;
}

export interface Event {
  event_id: string;
  /** Such as `user_group.updated`. More types may be added. */
  type: string;
  /** RFC 3339, UTC. */
  occurred_at: string;
  actor: {
    type: 'api_token' | 'command_line' | 'service';
    /** Id of the API token. */
    id: number | null;
    name: string | null;
    via: 'api' | 'console' | 'command_line' | 'service';
  };
  target: EventTarget;
  /** Of the target after the change. */
  version: number | null;
  /** `X-Request-Id` of the response. */
  request_id: string | null;
  /**
   * The values before and after the change: `{ name: { from, to } }`, `{ properties: { plan: { from, to } } }`. Of two
   * objects, only the members that differ, at any depth. `{ truncated: true }` in place of `{ from, to }`, or of a whole
   * field, says that the values were too large for the event.
   */
  changes: { readonly [field: string]: JsonValue | undefined } | null;
}

export interface EventPage {
  events: Event[];
  /** null on the last page of the newest; never null in the feed. */
  next_cursor: string | null;
}

export interface EventFeedPage extends EventPage {
  next_cursor: string;
}

export interface UsageQuery {
  /** The first day, in UTC: `2026-03-05`. Default: 29 days before `to`. */
  from?: string | undefined;
  /** The last day, at most 399 days after `from`. Default: today. */
  to?: string | undefined;
  /** Default: `day`. A month has only its days between `from` and `to`. */
  groupBy?: 'day' | 'month' | undefined;
  userGroupId?: string | undefined;
  /** Only user groups and periods with embed tokens of the integration with this id. */
  integration?: string | undefined;
  /** Entries per page, 1 to 1000. Default: 100. */
  limit?: number | undefined;
}

/** How often the tokens of a user group were used on a day or in a month. */
export interface Usage {
  user_group_id: string;
  /** `2026-03-05`, or `2026-03` for a month; in UTC. */
  date: string;
  resolves: number;
  introspections: number;
  forward_authentications: number;
  /** By the id of the integration. */
  embed_tokens: Record<string, number>;
}

interface UserGroupIdentity {
  /** Number that the service assigned to the group. */
  team_id: number;
  name: string;
  /** The `user_group_id` of the requests. */
  provided_id: string;
}

interface WithToken {
  /**
   * Identifies the viewer. Share it only with your backend, the viewers of this group and the server of their
   * dashboards. Does not expire.
   */
  token: string;
}

export interface FoundUserGroup<P extends object = Properties> extends UserGroupIdentity, WithToken {
  /** The stored properties; present only if the request had `properties`. */
  properties?: P | null;
}

export interface RotatedUserGroup extends UserGroupIdentity, WithToken {
  api_environment_tag: Environment;
}

export interface UpdatedUserGroup<P extends object = Properties> extends RotatedUserGroup {
  properties: P | null;
}

export interface ResolvedUserGroup<P extends object = Properties> extends UserGroupIdentity {
  properties: P | null;
  mapping: Mapping | null;
  api_environment_tag: Environment;
}

export interface ListedUserGroup<P extends object = Properties> extends ResolvedUserGroup<P> {
  /** 1 at creation, incremented by every change. */
  version: number;
  /** RFC 3339, UTC. */
  created_at: string;
  updated_at: string;
  /** While true, the tokens of the group do not resolve. */
  suspended: boolean;
  /** When a token of the group was last resolved, to the hour; null: never. */
  last_seen_at: string | null;
}

/** `token` is present only if the API token is `read-write`. */
export interface StoredUserGroup<P extends object = Properties>
  extends ListedUserGroup<P>,
    Partial<WithToken> {}

/** `admin` may do everything in its workspace and environment. */
export type Permission = 'admin' | 'read-write' | 'read-only' | 'resolve' | 'embed';

export interface NewApiToken {
  name: string;
  permission: Permission;
  /** Default: it does not expire. */
  expires_in_seconds?: number | undefined;
}

/** Without its text. Instants are RFC 3339, UTC. */
export interface ApiToken {
  api_token_id: number;
  name: string | null;
  permission: Permission;
  environment: Environment;
  status: 'active' | 'expired' | 'revoked';
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** To the hour. */
  last_used_at: string | null;
  /** Until when the text that the last rotation replaced still authenticates. */
  previous_token_expires_at: string | null;
}

export interface Whoami {
  /** The name of the workspace. */
  workspace: string;
  api_token: ApiToken;
}

/** `token` is the text, which is not shown again. */
export interface IssuedApiToken extends ApiToken {
  token: string;
}

export interface ApiTokenListQuery {
  /** API tokens per page, 1 to 1000. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined;
}

/** A replaced token is `retiring` until `expires_at` (RFC 3339, UTC); an embed token is valid until then at most. */
export type TokenState =
  | { status: 'current'; expires_at: null }
  | { status: 'retiring' | 'embed'; expires_at: string };
