// What travels: the bodies of requests and answers, under the names that they have on the wire. Types only.

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** What dashboards read as variables: any JSON under at most 100 keys, at most 64 KiB. */
export type Properties = { readonly [key: string]: JsonValue | undefined };

/** Schema id to data source: the data source's id, or your own id of it. */
export type Mapping = { readonly [schemaId: string]: string | number };

export type Environment = 'Customer' | 'Testing';

/** A field that is absent or undefined is not sent. */
export interface UserGroupFields {
  name?: string | undefined;
  /** null: none. */
  mapping?: Mapping | null | undefined;
  /** null: none. */
  properties?: Properties | null | undefined;
}

export interface UserGroupRequest extends UserGroupFields {
  /** Your own id of the customer. */
  user_group_id: string;
}

/** null removes the name of a member, or all of a field. */
export interface UserGroupPatch {
  name?: string | undefined;
  mapping?: { readonly [schemaId: string]: string | number | null } | null | undefined;
  properties?: Properties | null | undefined;
}

export interface RotateRequest {
  /** The token that the group has now. */
  current_token: string;
  /** How long it goes on resolving; the service's own default where it is absent. 0: dead at once. */
  grace_period_seconds?: number | undefined;
}

export interface ListQuery {
  /** The first characters of an id or of a name. */
  search?: string | undefined;
  /** Groups in a page, 1 to 1000; 50 where it is absent. */
  limit?: number | undefined;
  /** `next_cursor` of the page before. */
  cursor?: string | undefined;
}

interface UserGroupIdentity {
  /** The service's own number of the group. */
  team_id: number;
  name: string;
  /** The `user_group_id` of the requests. */
  provided_id: string;
}

interface WithToken {
  /** Identifies who is viewing. A secret: keep it on your server. */
  token: string;
}

export interface FoundUserGroup extends UserGroupIdentity, WithToken {
  /** As they are stored; there exactly where the request had `properties`. */
  properties?: Properties | null;
}

export interface RotatedUserGroup extends UserGroupIdentity, WithToken {
  api_environment_tag: Environment;
}

export interface UpdatedUserGroup extends RotatedUserGroup {
  properties: Properties | null;
}

export interface ResolvedUserGroup extends UserGroupIdentity {
  properties: Properties | null;
  mapping: Mapping | null;
  api_environment_tag: Environment;
}

export interface ListedUserGroup extends ResolvedUserGroup {
  /** 1 when created, one more with every change. */
  version: number;
  /** RFC 3339, UTC. */
  created_at: string;
  updated_at: string;
}

/** `token` only where the API token is `read-write`. */
export interface StoredUserGroup extends ListedUserGroup, Partial<WithToken> {}

/** A replaced token is `retiring` until `expires_at` (RFC 3339, UTC). */
export type TokenState = { status: 'current'; expires_at: null } | { status: 'retiring'; expires_at: string };
