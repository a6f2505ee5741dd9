// Documents: small, rarely changed settings of one workspace and environment, such as a webhook endpoint. One table and
// one set of statements serves every kind; a kind is defined by its own file and its endpoints.

import { Changes } from './event/changes.ts';
import { namedMembers } from './json/json-tree.ts';
import type { JsonText } from './json/strict-json.ts';
import type { SealedSecret } from './secret.ts';
import type { Tenant } from './tenant.ts';
import type { VersionTag } from './user-group/user-group.ts';

export type DocumentKind =
  | 'webhook_endpoint'
  | 'schema'
  | 'data_source'
  | 'mapping_policy'
  | 'property_schema'
  | 'integration'
  | 'key_set';

/** Id of a document that an environment has only one of. */
export const SINGLETON_ID = 'default';

export interface DocumentKey extends Tenant {
  readonly kind: DocumentKind;
  readonly id: string;
}

/** The documents of one kind in a workspace and environment. */
export interface DocumentTotal {
  readonly documents: number;
  /** Size of their ids and bodies in UTF-8. */
  readonly bytes: number;
}

/** Finite, because commands for the writer thread are JSON. */
export const UNLIMITED: DocumentTotal = {
  documents: Number.MAX_SAFE_INTEGER,
  bytes: Number.MAX_SAFE_INTEGER,
};

/** Properties that the documents of one kind share. */
export interface DocumentDefinition {
  /** Documents without endpoints of their own have no definition. */
  readonly kind: Exclude<DocumentKind, 'key_set'>;
  /** Name of the kind in messages. */
  readonly noun: string;
  readonly limit: DocumentTotal;
  /** What callers read while no document is stored. */
  readonly default?: Omit<Document, keyof DocumentKey>;
}

/** A stored document. Instants are milliseconds since 1970. */
export interface Document extends DocumentKey {
  /** Starts at 1 and increases with every change. */
  version: number;
  body: JsonText;
  /** Encrypted; null for a document without a secret. */
  secret: SealedSecret | null;
  createdAt: number;
  updatedAt: number;
}

/** The replacement of a document; without a secret, it keeps the stored one. */
interface NewVersion {
  body: JsonText;
  secret?: SealedSecret | null | undefined;
  now: number;
}

/** The next version of a document; the first one if none is stored. */
export function nextVersion(
  key: DocumentKey,
  stored: Document | null,
  { body, secret = stored?.secret ?? null, now }: NewVersion,
): Document {
  const version = (stored?.version ?? 0) + 1;
  return { ...key, version, body, secret, createdAt: stored?.createdAt ?? now, updatedAt: now };
}

/** Identifies a version of a document; `createdAt` distinguishes one that was deleted and created again. */
export function documentTag({ createdAt, version }: Pick<Document, 'createdAt' | 'version'>): VersionTag {
  return `${createdAt}-${version}` as VersionTag;
}

/** The fields of an event about a change of the document. Secrets are never part of it. */
export function documentFields({ body }: Pick<Document, 'body'>): Record<string, JsonText> {
  return Object.fromEntries(namedMembers(body));
}

/** Returns the changes of an event: `before` is null for a new document, `after` for a deleted one. */
export function documentChanges(before: Document | null, after: Document | null): Changes | null {
  return after && new Changes(before && documentFields(before), documentFields(after));
}

/** Ids that no new document gets: URLs resolve the first two, and a configuration cannot have the last one. */
export function isReservedId(id: string): boolean {
  return id === '.' || id === '..' || id === '__proto__';
}

export function documentBytes({ id, body }: Pick<Document, 'id' | 'body'>): number {
  return Buffer.byteLength(id) + Buffer.byteLength(body);
}

/**
 * Returns the limit that replacing `stored` by the document would exceed; null if none. A document that does
 * not grow is accepted even beyond the limit.
 */
export function exceededLimit(
  document: Pick<Document, 'id' | 'body'>,
  stored: Document | null,
  total: DocumentTotal,
  limit: DocumentTotal,
): keyof DocumentTotal | null {
  const { documents, bytes } = documentTotal(stored === null ? [] : [stored]);
  const after = {
    documents: total.documents - documents + 1,
    bytes: total.bytes - bytes + documentBytes(document),
  };
  return exceededTotal(total, after, limit);
}

/** The same for a change of several documents of one kind. */
export function exceededTotal(
  before: DocumentTotal,
  after: DocumentTotal,
  limit: DocumentTotal,
): keyof DocumentTotal | null {
  const exceeds = (name: keyof DocumentTotal) => after[name] > limit[name] && after[name] > before[name];
  if (exceeds('documents')) return 'documents';
  return exceeds('bytes') ? 'bytes' : null;
}

export function documentTotal(documents: readonly Pick<Document, 'id' | 'body'>[]): DocumentTotal {
  const bytes = documents.reduce((sum, document) => sum + documentBytes(document), 0);
  return { documents: documents.length, bytes };
}
