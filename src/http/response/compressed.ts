// Compresses responses, always outside the event loop. Responses that are the same for everybody are
// compressed once, in buffers that all readers share.

import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { lazy } from '../lazy.ts';

export interface Compressed {
  bytes: Buffer;
  gzipped: Buffer;
}

const compress = promisify(gzip);
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

export async function compressed(content: string | Buffer): Promise<Compressed> {
  const bytes = Buffer.from(content);
  return { bytes, gzipped: await compress(bytes) };
}

/** Returns a handler that sends the same content to everybody, which it creates for the first request. */
export function sharedContent(
  create: () => string | Buffer | Promise<string>,
  headers: Readonly<Record<string, string>>,
): (call: { reply: FastifyReply }) => Promise<Buffer> {
  const content = lazy(async () => compressed(await create()));
  return async ({ reply }) => negotiate(await content(), headers, reply);
}

/** Sets the headers, and those of the variant that the client accepts; returns its bytes. */
export function negotiate(
  { bytes, gzipped }: Compressed,
  headers: Readonly<Record<string, string>>,
  reply: FastifyReply,
): Buffer {
  reply.headers(headers);
  return acceptsGzip(reply) ? gzipped : bytes;
}

/**
 * Compresses a response to one caller. It must not contain both a secret and text that another site can
 * choose: the length would reveal the secret (BREACH).
 */
export async function compressedFor(reply: FastifyReply, text: string): Promise<string | Buffer> {
  return acceptsGzip(reply) ? compress(text, { level: constants.Z_BEST_SPEED }) : text;
}

/** Whether the client accepts gzip; sets the headers of that variant. */
function acceptsGzip(reply: FastifyReply): boolean {
  reply.header('vary', 'accept-encoding');
  if (!ACCEPTS_GZIP.test(reply.request.headers['accept-encoding'] ?? '')) return false;
  reply.header('content-encoding', 'gzip');
  return true;
}
