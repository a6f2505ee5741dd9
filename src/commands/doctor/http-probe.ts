// Sends requests exactly as given: unlike fetch, node:http does not normalize the path and sends GET with a body.

import { once } from 'node:events';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import { parseLenientObject } from '../../domain/json/lenient-json.ts';
import { http } from '../../system/http.ts';

const TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1_048_576;

export interface ProbeRequest {
  method?: string;
  /** Percent-encoded. */
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Milliseconds since 1970. */
interface Certificate {
  validFrom: number;
  expiresAt: number;
}

export interface ProbeResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The body if it is a JSON object, otherwise empty. */
  json: Record<string, unknown>;
  /** The error code if the response is an error in the format of the service; otherwise null. */
  code: string | null;
  /** null without TLS. */
  certificate: Certificate | null;
}

/** The response is `rate_limited`. */
export class RateLimited extends Error {}

/** Throws `RateLimited`, and Node's error if the connection fails, and after a time limit. */
export async function send(
  { protocol, hostname, port, pathname }: URL,
  { method = 'GET', path, headers = {}, body }: ProbeRequest,
): Promise<ProbeResponse> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const options = {
    method,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: pathname.replace(/\/$/, '') + path,
    agent: false as const,
    signal,
    headers: {
      ...headers,
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
    },
  };
  const request = (protocol === 'https:' ? https : http).request(options).end(body);
  // The errors after the response are those of its body.
  request.on('error', () => {});
  try {
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
    const certificate = certificateOf(request);
    return toProbeResponse(response, await readText(response), certificate);
  } catch (error) {
    throw signal.aborted ? new Error(`no response within ${TIMEOUT_MS / 1_000} seconds`) : error;
  }
}

/** Must run while the connection is open. */
function certificateOf({ socket }: ClientRequest): Certificate | null {
  const certificate = (socket as Partial<TLSSocket> | null)?.getPeerCertificate?.();
  if (!certificate?.valid_to) return null;
  return { validFrom: Date.parse(certificate.valid_from), expiresAt: Date.parse(certificate.valid_to) };
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) throw new Error('the response is too large');
  }
  return text;
}

function toProbeResponse(
  { statusCode = 0, headers }: IncomingMessage,
  text: string,
  certificate: Certificate | null,
): ProbeResponse {
  const json = parseLenientObject(text) ?? {};
  const isProblem = headers['content-type']?.startsWith('application/problem+json') && json.success === 0;
  const code = isProblem && typeof json.code === 'string' ? json.code : null;
  if (code === 'rate_limited') throw new RateLimited('the service returned 429 rate_limited');
  return { status: statusCode, headers, json, code, certificate };
}
