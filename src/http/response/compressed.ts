// Responses that are the same for everybody: compressed once, outside the event loop, in buffers that all readers share.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Compressed {
  bytes: Buffer;
  gzipped: Buffer;
}

const compress = promisify(gzip);
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/;

export async function compressed(content: string | Buffer): Promise<Compressed> {
  const bytes = Buffer.from(content);
  return { bytes, gzipped: await compress(bytes) };
}

/** Sets the headers of the variant that the client accepts, and returns its bytes. */
export function negotiate(
  { bytes, gzipped }: Compressed,
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
): Buffer {
  reply.header('vary', 'accept-encoding');
  if (!ACCEPTS_GZIP.test(headers['accept-encoding'] ?? '')) return bytes;
  reply.header('content-encoding', 'gzip');
  return gzipped;
}
