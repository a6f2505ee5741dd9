// The client of the User Group Service: its operations, a method each. It uses no GET with a body, which `fetch`
// refuses and many proxies drop.

import type { Answer } from './answer.ts';
import { checkedCount, checkedTime, checkedToken, checkedUrl, pathOf, wellFormed } from './argument.ts';
import {
  type CallOptions,
  type CallRequest,
  type Connection,
  call,
  type Fetch,
  type JsonCodec,
} from './call.ts';
import type {
  FoundUserGroup,
  ListedUserGroup,
  ListQuery,
  ResolvedUserGroup,
  RotatedUserGroup,
  RotateRequest,
  StoredUserGroup,
  TokenState,
  UpdatedUserGroup,
  UserGroupPatch,
  UserGroupRequest,
} from './wire.ts';

export type { CallOptions, Fetch, FetchRequest, FetchResponse, JsonCodec } from './call.ts';
export { type ErrorCode, type FieldError, UserGroupServiceError } from './error.ts';
export type * from './wire.ts';

export interface ClientOptions {
  /** Where the service is, such as https://user-groups.example.com, or with a path before its own. */
  url: string | URL;
  apiToken: string;
  /** What a call may take, with its repetitions and the waits between them. 30 000 where it is absent. */
  timeoutMs?: number | undefined;
  /** What one attempt may take. 10 000 where it is absent. */
  attemptTimeoutMs?: number | undefined;
  /** How often a call is sent again at most. 5 where it is absent, which takes three seconds or more; 0 for never. */
  maxRetries?: number | undefined;
  /** In place of the platform's: for a proxy, a certificate, a trace, a test. */
  fetch?: Fetch | undefined;
  /** In place of JavaScript's own, for numbers that it cannot hold. */
  json?: JsonCodec | undefined;
}

export interface ChangeOptions extends CallOptions {
  /** The `etag` that the group must still have; else `version_mismatch`, and nothing is changed. */
  ifMatch?: string | undefined;
}

/** A user group, and the name of the version that it has. */
export interface Versioned<Group> {
  user_group: Group;
  etag: string;
}

export interface GetOrCreateResult extends Versioned<FoundUserGroup> {
  new_user_group: boolean;
  /** The sent fields that differ from what is stored; nothing was changed. */
  drift: ('name' | 'mapping' | 'properties')[];
}

export interface Resolution {
  user_group: ResolvedUserGroup;
  token: TokenState;
}

export interface Page {
  user_groups: ListedUserGroup[];
  /** null on the last page. */
  next_cursor: string | null;
}

/**
 * Every method rejects with `UserGroupServiceError`, or with the reason of your signal; with a TypeError, and nothing is
 * sent, where an argument could not arrive as it is.
 */
export class UserGroupClient {
  readonly #connection: Connection;

  /** Throws a TypeError for a URL, an API token or a limit that cannot be one. */
  constructor({ url, apiToken, ...options }: ClientOptions) {
    this.#connection = {
      url: checkedUrl(url),
      apiToken: checkedToken(apiToken),
      // The platform's `fetch` refuses to be called as a method.
      fetch: options.fetch ?? ((address, request) => fetch(address, request)),
      json: options.json ?? { parse: JSON.parse, stringify },
      timeoutMs: checkedTime('timeoutMs', options.timeoutMs ?? 30_000),
      attemptTimeoutMs: checkedTime('attemptTimeoutMs', options.attemptTimeoutMs ?? 10_000),
      maxRetries: checkedCount('maxRetries', options.maxRetries ?? 5),
    };
  }

  /**
   * The group of the id as it is stored, or a new one where there is none and a name is sent; without a name
   * `user_group_not_found`. Changes no group.
   */
  async getOrCreate(group: UserGroupRequest, options: CallOptions = {}): Promise<GetOrCreateResult> {
    const request: CallRequest = { method: 'POST', path: '/v1/user-groups', body: group };
    const { body, etag, drift } = await this.#call<Omit<GetOrCreateResult, 'etag' | 'drift'>>(
      request,
      options,
    );
    return { user_group: body.user_group, new_user_group: body.new_user_group, etag, drift };
  }

  /** Replaces each sent field whole and leaves the others. `user_group_not_found` where there is no such group. */
  async update(group: UserGroupRequest, options: ChangeOptions = {}): Promise<Versioned<UpdatedUserGroup>> {
    return this.#callVersioned({ method: 'PUT', path: '/api/user', body: group }, options);
  }

  /**
   * Gives the group of the token a new one. The token that the last rotation replaced gives the same new one again.
   * `user_group_token_not_found` where it is no group's.
   */
  async rotate(rotation: RotateRequest, options: CallOptions = {}): Promise<Versioned<RotatedUserGroup>> {
    return this.#callVersioned({ method: 'POST', path: '/api/user', body: rotation }, options);
  }

  /** Whose token it is. `user_group_token_not_found` where it is nobody's, or not any more. */
  async resolve(token: string, options: CallOptions = {}): Promise<Resolution> {
    const request: CallRequest = { method: 'POST', path: '/v1/resolve', body: { token } };
    const { body } = await this.#call<Resolution>(request, options);
    return { user_group: body.user_group, token: body.token };
  }

  /** All that is stored of a group. `user_group_not_found` where there is none. */
  async read(userGroupId: string, options: CallOptions = {}): Promise<Versioned<StoredUserGroup>> {
    return this.#callVersioned({ method: 'GET', path: pathOf(userGroupId) }, options);
  }

  /**
   * Merges the changes into the group (RFC 7396): members of `mapping` and `properties` are set, those that are null
   * are removed, the others stay.
   */
  async patch(
    userGroupId: string,
    changes: UserGroupPatch,
    options: ChangeOptions = {},
  ): Promise<Versioned<StoredUserGroup>> {
    return this.#callVersioned({ method: 'PATCH', path: pathOf(userGroupId), body: changes }, options);
  }

  /** Deletes the group; its token is dead at once. `user_group_not_found` where there is none. */
  async delete(userGroupId: string, { ifMatch, ...options }: ChangeOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: pathOf(userGroupId), ifMatch }, options);
  }

  /** All groups, or those that `search` finds, page by page as they are asked for. */
  async *list(query: ListQuery = {}, options: CallOptions = {}): AsyncGenerator<ListedUserGroup, void, void> {
    let cursor = query.cursor ?? null;
    do {
      const page = await this.listPage(cursor === null ? query : { ...query, cursor }, options);
      yield* page.user_groups;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  /** One page of `list`. */
  async listPage({ search, limit, cursor }: ListQuery = {}, options: CallOptions = {}): Promise<Page> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ search, limit, cursor })) {
      if (value !== undefined) query.set(name, wellFormed(name, String(value)));
    }
    const path = `/v1/user-groups${query.size > 0 ? `?${query}` : ''}`;
    const { body } = await this.#call<Page>({ method: 'GET', path }, options);
    return { user_groups: body.user_groups, next_cursor: body.next_cursor };
  }

  #call<Body>(request: CallRequest, options: CallOptions): Promise<Answer<Body>> {
    return call(this.#connection, request, options);
  }

  async #callVersioned<Group>(
    request: CallRequest,
    { ifMatch, ...options }: ChangeOptions,
  ): Promise<Versioned<Group>> {
    const { body, etag } = await this.#call<Versioned<Group>>({ ...request, ifMatch }, options);
    return { user_group: body.user_group, etag };
  }
}

/** Refuses NaN and the infinities, which `JSON.stringify` would turn into null. */
function stringify(value: object): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (typeof member === 'number' && !Number.isFinite(member)) {
      throw new TypeError(`JSON has no number ${member}, which ${key} is.`);
    }
    return member;
  });
}
