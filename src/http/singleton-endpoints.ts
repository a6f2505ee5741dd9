// Documents of which an environment has one.

import type { FastifyReply } from 'fastify';
import type { Caller } from '../domain/api-token.ts';
import { type Document, type DocumentDefinition, documentTag } from '../domain/document.ts';
import { SINGLETON_ID } from '../domain/policy-mode.ts';
import type { Context } from '../operations/context.ts';
import { setVersionTag } from './response/entity-tag.ts';

export async function findSingleton(
  { configs, store }: Context,
  caller: Caller,
  { kind }: DocumentDefinition,
): Promise<Document | null> {
  return (await configs.of(store, caller)).ofKind(kind).get(SINGLETON_ID) ?? null;
}

export function setDocumentTag(reply: FastifyReply, document: Document): void {
  setVersionTag(reply, documentTag(document));
}
