// The version of a group in headers: `ETag` tells it, `If-Match` asks for it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type UserGroup, versionTag } from '../domain/user-group.ts';
import { Problem } from '../problem.ts';

const ENTITY_TAGS = /^[ \t]*(?:W\/)?"[^"]*"(?:[ \t]*,[ \t]*(?:W\/)?"[^"]*")*[ \t]*$/;

export function setEntityTag(reply: FastifyReply, userGroup: UserGroup): void {
  reply.header('etag', `"${versionTag(userGroup)}"`);
}

/** The versions that `If-Match` names; undefined where any will do. A weak tag never matches (RFC 9110 §13.1.1). */
export function ifMatch({ headers }: FastifyRequest): string[] | undefined {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  if (!ENTITY_TAGS.test(header)) {
    throw new Problem(
      'invalid_request',
      'If-Match must be * or a list of entity tags in double quotes, as ETag shows them.',
    );
  }
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)]
    .filter(([, weak]) => weak === undefined)
    .map(([, , tag]) => tag!);
}
