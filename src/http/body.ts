// The body of a request as bytes. Fastify's own reading is not used: it ignores the body of a GET, and decides
// about media types and sizes before it is known who is asking.

import type { IncomingMessage } from 'node:http';
import { limits } from '../domain/field.ts';
import { Problem } from '../problem.ts';

const NO_BODY = Promise.resolve(Buffer.alloc(0));

/** Reads at most `limits.bodyBytes`; what comes after is discarded. Rejects with `body_too_large`. */
export function readBody(message: IncomingMessage): Promise<Buffer> {
  // The headers have announced none; see `optimizeEmptyRequests`.
  if (message.readableEnded) return NO_BODY;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    if (Number(message.headers['content-length']) > limits.bodyBytes) return reject(tooLarge());
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limits.bodyBytes) return chunks.push(chunk);
      chunks.length = 0;
      return reject(tooLarge());
    });
    message.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // The client has gone; nobody reads the answer.
    message.on('error', () =>
      reject(new Problem('invalid_request', 'The connection ended before the body did.')),
    );
  });
}

/** Tells a missing body, which a client or a proxy may have dropped, from one that is not right. */
export function requireBody(bytes: Buffer, method: string): void {
  if (bytes.length > 0) return;
  const hint =
    method === 'GET'
      ? ' Many clients and proxies drop the body of a GET: use POST /v1/user-groups, which takes the same body.'
      : '';
  throw new Problem('body_missing', `This operation needs a JSON body and the request has none.${hint}`);
}

function tooLarge(): Problem {
  return new Problem('body_too_large', `The body must be at most ${limits.bodyBytes} bytes.`);
}
