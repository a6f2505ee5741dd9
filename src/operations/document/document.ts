// Reads, lists, creates, replaces and deletes documents of any kind.

import type { Caller } from '../../domain/api-token.ts';
import { encodeCursor, type ListName } from '../../domain/cursor.ts';
import {
  type Document,
  type DocumentDefinition,
  type DocumentKey,
  type DocumentTotal,
  documentBytes,
  documentTag,
  isReservedId,
  SINGLETON_ID,
} from '../../domain/document.ts';
import type { EventType, NewEvent } from '../../domain/event/event.ts';
import { foldText } from '../../domain/fold-text.ts';
import { compareIds } from '../../domain/id-order.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { isMetByTag, type Precondition } from '../../domain/precondition.ts';
import type { SealedSecret, Secret } from '../../domain/secret.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { Problem } from '../../problem.ts';
import { type Context, decrypt } from '../context.ts';
import { type EventContext, newEvent } from '../event/event.ts';
import { firstPage, type PageQuery, readCursor } from '../list-cursor.ts';
import type { CpuQueue } from '../machinery/cpu-queue.ts';
import { changedTooOften, versionMismatch } from '../refusals.ts';
import { callerOfAttempts, type EnvironmentConfig } from './environment-config.ts';

export type DocumentContext = EventContext & Pick<Context, 'keyRing'>;

/** The stored parts of a document, made from a sent body. */
export interface NewDocument {
  body: JsonText;
  /** Absent or undefined: a stored document keeps its secret, and a new one has none. */
  secret?: SealedSecret | null | undefined;
  /** The configuration of the environment, if the document depends on others in it. */
  config?: EnvironmentConfig;
  /** Another document as it was read (null: there was none), if the new one depends on only that. */
  related?: { key: DocumentKey; stored: Document | null };
}

/** The document that a sent body is for. */
export interface Target<Needed> {
  context: Needed;
  caller: Caller;
  key: DocumentKey;
  /** null: the document does not exist yet. */
  stored: Document | null;
}

/** Returns what to store instead of the stored document, or throws. Called before each attempt. */
type Replacement = (stored: Document | null, reader: Caller) => NewDocument | Promise<NewDocument>;

export interface StoredDocument {
  created: boolean;
  document: Document;
}

/** Operations that store and delete documents of one kind. */
export interface DocumentOperations<Body> {
  /** The returned `secret` is shown in the response, and never again. */
  put(
    context: Context,
    caller: Caller,
    id: string,
    body: Body,
    precondition: Precondition | undefined,
    force: boolean,
  ): Promise<StoredDocument & { secret?: Secret | null }>;
  remove(
    context: Context,
    caller: Caller,
    id: string,
    precondition: Precondition | undefined,
    force: boolean,
  ): Promise<void>;
}

export function documentKey(
  { workspaceId, environment }: Tenant,
  { kind }: DocumentDefinition,
  id: string,
): DocumentKey {
  return { workspaceId, environment, kind, id };
}

/** Throws `not_found`. */
export async function readDocument(
  context: Pick<Context, 'store' | 'configs'>,
  caller: Caller,
  definition: DocumentDefinition,
  id: string,
): Promise<Document> {
  const document = await findDocument(context, caller, definition, id);
  if (document === null) throw documentNotFound(definition);
  return document;
}

/** Returns null if there is none. A kind of which an environment has at most one document needs no id. */
export async function findDocument(
  { store, configs }: Pick<Context, 'store' | 'configs'>,
  caller: Caller,
  { kind }: DocumentDefinition,
  id: string = SINGLETON_ID,
): Promise<Document | null> {
  return (await configs.of(store, caller)).ofKind(kind).get(id) ?? null;
}

/** `idPart`: part of the id, regardless of case and accents. Throws `invalid_request` for a cursor of another list. */
export async function listDocuments(
  { store, configs, cpu }: Pick<Context, 'store' | 'configs' | 'cpu'>,
  caller: Caller,
  { kind }: DocumentDefinition,
  { limit, cursor, idPart = '' }: PageQuery & { idPart?: string },
): Promise<{ documents: Document[]; nextCursor: string | null }> {
  const list: ListName = [kind, caller.workspaceId, caller.environment];
  const after = cursor === undefined ? null : readCursor(list, cursor);
  const stored = [...(await configs.of(store, caller)).ofKind(kind).values()];
  const all = idPart === '' ? stored : await findByIdPart(cpu, stored, idPart);
  const start = after === null ? 0 : all.findIndex(({ id }) => compareIds(id, after) > 0);
  const rest = start === -1 ? [] : all.slice(start);
  const documents = firstPage(rest, limit, documentBytes);
  const isEnd = documents.length === rest.length;
  return { documents, nextCursor: isEnd ? null : encodeCursor(list, documents.at(-1)!.id) };
}

/** Returns the documents whose id contains the text, in several turns of the event loop. */
async function findByIdPart(
  cpu: CpuQueue,
  documents: readonly Document[],
  idPart: string,
): Promise<Document[]> {
  const part = foldText(idPart);
  const found: Document[] = [];
  for (const document of documents) {
    await cpu.turn(document.id.length);
    if (foldText(document.id).includes(part)) found.push(document);
  }
  return found;
}

/**
 * Creates or replaces a document. Throws `limit_reached`, `invalid_request` for an id that cannot be a key of a
 * configuration, and `version_mismatch` if the precondition is not met.
 */
export async function putDocument(
  context: DocumentContext,
  caller: Caller,
  definition: DocumentDefinition,
  id: string,
  replacement: Replacement,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const { store, clock } = context;
  const key = documentKey(caller, definition, id);
  const { kind, limit } = definition;
  for (const reader of callerOfAttempts(caller)) {
    const stored = await findDocument(context, reader, definition, id);
    if (stored === null && isReservedId(id))
      throw new Problem('invalid_request', `The id of this ${definition.noun} must not be ${id}.`);
    if (!isMetBy(precondition, definition, stored)) throw versionMismatch(definition.noun);
    const { body, secret, config, related } = await replacement(stored, reader);
    const byDefault = definition.default;
    if (stored === null && byDefault?.body === body)
      return { created: false, document: { ...key, ...byDefault } };
    const result = await store.write({
      kind: 'putDocument',
      key,
      body,
      secret: stored === null ? (secret ?? null) : secret,
      // The replacement and the type of the event depend on the stored document.
      precondition: unchanged(stored),
      configVersion: config?.version,
      related: related && { key: related.key, precondition: unchanged(related.stored) },
      limit,
      now: clock(),
      event: await newEvent(context, reader, `${kind}.${stored === null ? 'created' : 'updated'}`, id),
    });
    if (result === 'documents_limit_reached') throw limitReached(definition, 'documents');
    if (result === 'bytes_limit_reached') throw limitReached(definition, 'bytes');
    if (result !== 'version_mismatch') return result;
    // Another call created, changed or deleted a document between the read and the write.
  }
  throw changedTooOften(definition.noun);
}

/** Returns the operation that stores a sent body. `prepare` checks and converts it. */
export function putPrepared<Needed extends DocumentContext, Body>(
  definition: DocumentDefinition,
  prepare: (target: Target<Needed>, body: Body) => NewDocument | Promise<NewDocument>,
) {
  return (
    context: Needed,
    caller: Caller,
    id: string,
    body: Body,
    precondition: Precondition | undefined,
  ): Promise<StoredDocument> => {
    const key = documentKey(caller, definition, id);
    const replacement: Replacement = (stored, reader) =>
      prepare({ context, caller: reader, key, stored }, body);
    return putDocument(context, caller, definition, id, replacement, precondition);
  };
}

/** Met as long as the document stays as it was read; null: there was none. */
export function unchanged(stored: Document | null): Precondition {
  return stored === null ? { ifNoneMatch: '*' } : { ifMatch: [documentTag(stored)] };
}

/** Whether the document meets the precondition; if none is stored, its absence or the default. */
function isMetBy(
  precondition: Precondition | undefined,
  definition: DocumentDefinition,
  stored: Document | null,
): boolean {
  if (stored !== null) return isMetByTag(precondition, documentTag(stored));
  const tag = definition.default ? documentTag(definition.default) : null;
  return isMetByTag(precondition, null) || isMetByTag(precondition, tag);
}

/**
 * Deletes a document after a check of what is stored, repeated if that changes meanwhile. Throws `not_found` and
 * `version_mismatch`.
 */
export async function deleteDocument(
  context: DocumentContext,
  caller: Caller,
  definition: DocumentDefinition,
  id: string,
  precondition: Precondition | undefined,
  check: (stored: Document, reader: Caller) => Promise<void> = async () => {},
): Promise<void> {
  const key = documentKey(caller, definition, id);
  for (const reader of callerOfAttempts(caller)) {
    const stored = await readDocument(context, reader, definition, id);
    if (!isMetByTag(precondition, documentTag(stored))) throw versionMismatch(definition.noun);
    await check(stored, reader);
    const event = await newEvent(context, reader, `${definition.kind}.deleted` as EventType, id);
    const result = await context.store.write({
      kind: 'deleteDocument',
      key,
      precondition: unchanged(stored),
      event: withoutTarget(event),
    });
    if (result === 'deleted') return;
  }
  throw changedTooOften(definition.noun);
}

/** Decrypts the secret of a document. Throws `database_unavailable` if that fails. */
export function openSecret({ keyRing }: Pick<Context, 'keyRing'>, document: Document, noun: string): Secret {
  const { secret } = document;
  if (secret === null) throw new Error(`the ${noun} has no secret`);
  return decrypt(() => keyRing.open(secret, document), `secret of this ${noun}`);
}

/** Removes a webhook endpoint from the receivers of the event that ends it. */
export function withoutTarget(event: NewEvent | undefined): NewEvent | undefined {
  if (event === undefined || event.target.type !== 'webhook_endpoint') return event;
  return { ...event, endpoints: event.endpoints.filter((endpointId) => endpointId !== event.target.id) };
}

export function documentNotFound({ noun }: DocumentDefinition): Problem {
  return new Problem('not_found', `This ${noun} does not exist.`);
}

export function limitReached({ noun, limit }: DocumentDefinition, exceeded: keyof DocumentTotal): Problem {
  const texts = {
    documents: `There may be at most ${limit.documents} ${noun}s in a workspace and environment. Delete one first.`,
    bytes: `The ${noun}s of a workspace and environment may have at most ${limit.bytes} bytes together, with their ids. Shorten or delete some first.`,
  };
  return new Problem('limit_reached', texts[exceeded]);
}
