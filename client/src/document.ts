// Calls that every kind of document has. A kind is a path, a member of responses, and types.

import { pathSegment } from './argument.ts';
import { type CallOptions, type CallRequest, type Connection, call } from './call.ts';
import { entries, type PageRequest } from './page.ts';

export interface ChangeOptions extends CallOptions {
  /** Expected `etag`. If it differs, the call fails with `version_mismatch` and changes nothing. */
  ifMatch?: string | undefined;
  /**
   * Only for schemas and data sources: deletes a document, or the default of a schema, although user groups
   * use it.
   */
  force?: boolean | undefined;
}

export interface ReplaceOptions extends ChangeOptions {
  /** `*` only creates: fails with `version_mismatch` if the document exists. */
  ifNoneMatch?: '*' | undefined;
}

/** A document under the name of its kind, and its entity tag: `{ schema, etag }`. */
export type StoredDocument<Kind extends string, Stored> = {
  [Member in Kind | 'etag']: Member extends Kind ? Stored : string;
};

/** A document of which an environment has at most one. */
export class Singleton<Kind extends string, Sent extends object, Stored = Sent> {
  readonly #connection: Connection;
  readonly #path: string;

  constructor(connection: Connection, path: string) {
    this.#connection = connection;
    this.#path = path;
  }

  /** Creates the document, or replaces all its fields. */
  put(
    document: Sent,
    { ifMatch, ifNoneMatch, force, ...options }: ReplaceOptions = {},
  ): Promise<StoredDocument<Kind, Stored>> {
    const path = this.#forced(force);
    return this.#call({ method: 'PUT', path, body: document, ifMatch, ifNoneMatch }, options);
  }

  /** Fails with `not_found`. */
  read(options: CallOptions = {}): Promise<StoredDocument<Kind, Stored>> {
    return this.#call({ method: 'GET', path: this.#path }, options);
  }

  /** Fails with `not_found`. */
  async delete({ ifMatch, force, ...options }: ChangeOptions = {}): Promise<void> {
    await call(this.#connection, { method: 'DELETE', path: this.#forced(force), ifMatch }, options);
  }

  #forced(force: boolean | undefined): string {
    return force ? `${this.#path}?force=true` : this.#path;
  }

  async #call(request: CallRequest, options: CallOptions): Promise<StoredDocument<Kind, Stored>> {
    const { body, etag } = await call<Record<Kind, Stored>>(this.#connection, request, options);
    return { ...body, etag } as StoredDocument<Kind, Stored>;
  }
}

/** Documents of a kind, each under its id. */
export class Collection<Kind extends string, Sent extends object, Stored> {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #kind: Kind;

  constructor(connection: Connection, path: string, kind: Kind) {
    this.#connection = connection;
    this.#path = path;
    this.#kind = kind;
  }

  /** Creates the document, or replaces all its fields. */
  async put(id: string, document: Sent, options: ReplaceOptions = {}): Promise<StoredDocument<Kind, Stored>> {
    return this.#at(id).put(document, options);
  }

  /** Fails with `not_found`. */
  async read(id: string, options: CallOptions = {}): Promise<StoredDocument<Kind, Stored>> {
    return this.#at(id).read(options);
  }

  /** Fails with `not_found`, and with `in_use` for a part of the catalogue that user groups use, unless `force` is set. */
  async delete(id: string, options: ChangeOptions = {}): Promise<void> {
    return this.#at(id).delete(options);
  }

  /** Iterates over all documents in id order, and fetches pages as needed. */
  list(query: PageRequest = {}, options: CallOptions = {}): AsyncGenerator<Stored, void, void> {
    return entries(this.#connection, this.#path, `${this.#kind}s`, query, options);
  }

  #at(id: string): Singleton<Kind, Sent, Stored> {
    const segment = pathSegment('id', this.#kind.replaceAll('_', ' '), id);
    return new Singleton(this.#connection, `${this.#path}/${segment}`);
  }
}
