// Types of request and response bodies, with the names that are transmitted. `schemas.ts` is generated.

import type { Schemas } from './schemas.ts';

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
 * `T` if it consists of JSON values. Members that are not JSON become `never`, so that a value of `T` is not
 * assignable. Accepts interfaces, which lack the index signature that `Properties` requires.
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

export type Environment = ApiToken['environment'];

/** Fields whose types do not depend on those that the caller chooses. */
type PlainFields = Omit<Schemas['UserGroupRequest'], 'user_group_id' | 'mapping' | 'properties'>;

/** Fields to store; an absent or undefined field is not sent. */
export interface UserGroupFields<P extends object = Properties, M extends object = Mapping>
  extends PlainFields {
  /** null clears the mapping. */
  mapping?: (M & { readonly [Key in keyof M]: string | number }) | null | undefined;
  /** null clears the properties. */
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

/** Changes to a group: null removes a member, or clears a whole field. */
export interface UserGroupPatch<
  P extends object = MergePatch<Properties>,
  M extends object = MergePatch<Mapping>,
> extends PlainFields {
  mapping?: (M & { readonly [Key in keyof M]: string | number | null | undefined }) | null | undefined;
  properties?: (P & JsonObject<P>) | null | undefined;
}

export type RotateRequest = Schemas['TokenRotation'];

export interface ListQuery {
  /**
   * Prefix of an id or a name. With `match: 'contains'`, a part of one, ignoring case, or a property, such as
   * `plan: gold`, or `*: gold` for any.
   */
  search?: string | undefined;
  /** How `search` matches. Default: `prefix`. */
  match?: 'prefix' | 'contains' | undefined;
  /** Only groups that use this data source, through their mapping or as the default of a schema. */
  data_source?: string | number | undefined;
  /** Only suspended groups, or only the others. */
  suspended?: boolean | undefined;
  /** Only groups last seen before this time (RFC 3339), or never seen. */
  seen_before?: string | undefined;
  /** Only groups that were never seen, or only the others. */
  never_seen?: boolean | undefined;
  /** Only groups created at this time (RFC 3339) or later. */
  created_since?: string | undefined;
  /** Only groups whose mapping or properties violate a rule of the environment, whatever its mode. */
  invalid?: 'mapping' | 'properties' | undefined;
  /** Groups per page, 1 to 1000. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined;
}

type StartOf<Type> = Type extends `${infer Start}.${string}` ? Start : never;

/** Target of a change. The id of a user group is your own. */
export interface EventTarget {
  type: StartOf<Schemas['SubscribedEventType']> | (string & {});
  id: string;
}

export interface EventQuery {
  /** Default: all types. */
  type?: string | undefined;
  /** Default: all targets. `undefined` throws a TypeError. */
  target?: EventTarget;
  /** Default: targets of all types. */
  target_type?: EventTarget['type'] | undefined;
  /** Id of the API token that made the change. Default: all. */
  actor?: number | undefined;
  /** Start (RFC 3339). */
  since?: string | undefined;
  /** End (RFC 3339), exclusive. */
  until?: string | undefined;
  /** Changed field or member, such as `mapping.40`. */
  field?: string | undefined;
  /** `X-Request-Id` of the request that made the change. */
  request_id?: string | undefined;
  /** Events per page, 1 to 1000. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of a page of the same order and filters. */
  cursor?: string | undefined;
}

export interface EventFeedQuery extends Omit<EventQuery, 'cursor'> {
  /** `next_cursor` of the last processed page. Default: the first event. */
  cursor?: string | null | undefined;
}

export interface EventPageQuery extends EventQuery {
  /** Default: `newest`. */
  order?: 'newest' | 'oldest' | undefined;
}

export interface Event extends Omit<Schemas['Event'], 'target'> {
  target: EventTarget;
}

export interface EventPage {
  events: Event[];
  /** null on the last page of the newest-first list; never null in the feed. */
  next_cursor: string | null;
}

export interface EventFeedPage extends EventPage {
  next_cursor: string;
}

export interface UsageQuery {
  /** First day, in UTC: `2026-03-05`. Default: 29 days before `to`. */
  from?: string | undefined;
  /** Last day, at most 399 days after `from`. Default: today. */
  to?: string | undefined;
  /** Default: `day`. A month includes only its days between `from` and `to`. */
  groupBy?: 'day' | 'month' | undefined;
  /** Default: all user groups. `undefined` throws a TypeError. */
  userGroupId?: string;
  /** Only user groups and periods with embed tokens of the integration with this id. */
  integration?: string | undefined;
  /** Entries per page, 1 to 1000. Default: 100. */
  limit?: number | undefined;
}

/** How often the tokens of a user group were used on a day or in a month, in UTC. */
export type Usage = Schemas['Usage'];

/**
 * A group with properties of the type that the caller chooses. The environment is never null in this version.
 */
type Group<Described, P> = Omit<Described, 'mapping' | 'properties' | 'api_environment_tag'> & {
  properties: P | null;
  api_environment_tag: Environment;
};

export type RotatedUserGroup = Omit<UpdatedUserGroup, 'properties'>;

/** The stored properties are present only if the request had `properties`. */
export type FoundUserGroup<P extends object = Properties> = Omit<RotatedUserGroup, 'api_environment_tag'> & {
  properties?: P | null;
};

export type UpdatedUserGroup<P extends object = Properties> = Group<
  Schemas['RotatedUserGroup']['user_group'],
  P
>;

export interface ResolvedUserGroup<P extends object = Properties>
  extends Group<Schemas['ResolvedUserGroup']['user_group'], P> {
  mapping: Mapping | null;
}

export interface ListedUserGroup<P extends object = Properties> extends Group<Schemas['UserGroup'], P> {
  mapping: Mapping | null;
}

export interface StoredUserGroup<P extends object = Properties> extends ListedUserGroup<P> {
  /** Present only if the API token has `read-write` or `admin`. */
  token?: string | undefined;
}

/** `admin` allows everything in its workspace and environment. */
export type Permission = ApiToken['permission'];

export type NewApiToken = Schemas['ApiTokenRequest'];

/** An API token without its text. Times are RFC 3339, UTC. */
export type ApiToken = Schemas['ApiToken'];

/** Result of `whoami`; `workspace` is its name. */
export type Whoami = Omit<Schemas['Whoami'], 'success'>;

export interface IssuedApiToken extends ApiToken {
  /** The text to send as `Authorization: Token …`. It is not shown again. */
  token: string;
}

export interface ApiTokenListQuery {
  /** API tokens per page, 1 to 1000. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined;
}

/**
 * State of a token. A replaced token is `retiring` until `expires_at` (RFC 3339, UTC); an embed token is
 * valid until then at most. `expires_at` is null if the token is `current`.
 */
export type TokenState = Schemas['ResolvedUserGroup']['token'];
