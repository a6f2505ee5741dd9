// The version of a resource in headers: `ETag`, `If-Match` and `If-None-Match` (RFC 9110 §13).

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Document, documentTag } from '../../domain/document.ts';
import type { Precondition, Versions } from '../../domain/precondition.ts';
import {
  toVersionTag,
  type UserGroup,
  type VersionTag,
  versionTag,
} from '../../domain/user-group/user-group.ts';
import { Problem } from '../../problem.ts';

// Visible ASCII except quotes, and non-ASCII bytes (RFC 9110 §8.8.3). Commas are allowed.
const ENTITY_TAG = String.raw`(?:W/)?"[\x21\x23-\x7E\x80-\xFF]*"`;
// Empty elements of the list are ignored, as RFC 9110 §5.6.1 requires.
const ENTITY_TAGS = new RegExp(String.raw`^[ \t,]*${ENTITY_TAG}(?:[ \t]*,[ \t,]*${ENTITY_TAG})*[ \t,]*$`);

export function setEntityTag(reply: FastifyReply, userGroup: UserGroup): void {
  setVersionTag(reply, versionTag(userGroup));
}

export function setDocumentTag(reply: FastifyReply, document: Document): void {
  setVersionTag(reply, documentTag(document));
}

export function setVersionTag(reply: FastifyReply, tag: VersionTag): void {
  reply.header('etag', `"${tag}"`);
}

/** Returns undefined if the request has none. Throws `invalid_request` if it is malformed or not supported. */
export function readPrecondition(headers: IncomingHttpHeaders): Precondition | undefined {
  refuseDates(headers);
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return {
    ...(ifMatch !== undefined && { ifMatch: parseVersions('If-Match', ifMatch) }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch: parseVersions('If-None-Match', ifNoneMatch) }),
  };
}

/** Throws `invalid_request` if the request has a precondition, for endpoints that compare no version. */
export function refusePrecondition(headers: IncomingHttpHeaders): void {
  refuseDates(headers);
  refuse('If-Match', headers['if-match'], NOT_HERE);
  refuse('If-None-Match', headers['if-none-match'], NOT_HERE);
}

/** `refusePrecondition` as a hook. */
export async function refusePreconditionHook({ raw }: FastifyRequest): Promise<void> {
  refusePrecondition(raw.headers);
}

const NO_DATES = 'by this service: use If-Match or If-None-Match with the ETag of a response.';
const NOT_HERE = 'by this endpoint: omit it.';

/** Not a loop: every request passes here, and V8 reads headers with constant names faster. */
function refuseDates(headers: IncomingHttpHeaders): void {
  refuse('If-Modified-Since', headers['if-modified-since'], NO_DATES);
  refuse('If-Unmodified-Since', headers['if-unmodified-since'], NO_DATES);
  refuse('If-Range', headers['if-range'], NO_DATES);
}

function refuse(name: string, value: unknown, reason: string): void {
  if (value !== undefined) throw new Problem('invalid_request', `${name} is not supported ${reason}`);
}

/**
 * Drops tags that cannot be a version. `If-Match` compares strongly: a weak tag matches nothing (RFC 9110
 * §13.1.1); `If-None-Match` compares weakly (§13.1.2).
 */
function parseVersions(header: 'If-Match' | 'If-None-Match', text: string): Versions {
  if (text.trim() === '*') return '*';
  if (!ENTITY_TAGS.test(text)) {
    throw new Problem(
      'invalid_request',
      `${header} must be * or a list of entity tags in double quotes, like the value of ETag.`,
    );
  }
  const tags = text.match(new RegExp(ENTITY_TAG, 'g')) ?? [];
  return tags
    .filter((tag) => header === 'If-None-Match' || !tag.startsWith('W/'))
    .map((tag) => toVersionTag(tag.slice(tag.indexOf('"') + 1, -1)))
    .filter((version) => version !== null);
}
