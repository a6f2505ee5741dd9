// Sends one webhook: connects only to allowed addresses, follows no redirect, reads little of the response, and takes at
// most 15 seconds.

import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPublicHost } from '../domain/webhook-address.ts';
import type { Outcome } from '../operations/delivery.ts';
import { AddressNotPublic, publicLookup, type Resolve, systemLookup } from './public-lookup.ts';

const TIMEOUT_MS = 15_000;
/** A longer response ends the connection. */
const MAX_RESPONSE_BYTES = 65_536;
/** Shorter than the keep-alive timeout of most servers, which would close the connection as it is reused. */
const IDLE_MS = 4_000;
const USER_AGENT = 'User-Group-Service-Webhooks/1';

export interface SenderOptions {
  allowsPrivate: boolean;
  /** Replaces DNS in tests. */
  resolve?: Resolve;
  timeoutMs?: number;
}

export class WebhookSender {
  readonly #allowsPrivate: boolean;
  readonly #timeoutMs: number;
  readonly #lookup: LookupFunction;
  readonly #attempts = new Set<AbortController>();
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, timeout: IDLE_MS }),
    'https:': new https.Agent({ keepAlive: true, timeout: IDLE_MS }),
  };

  constructor({ allowsPrivate, resolve, timeoutMs = TIMEOUT_MS }: SenderOptions) {
    this.#allowsPrivate = allowsPrivate;
    this.#timeoutMs = timeoutMs;
    this.#lookup = allowsPrivate && resolve === undefined ? systemLookup : publicLookup(resolve);
  }

  /** Never rejects. */
  async send(url: string, headers: Record<string, string>, body: string): Promise<Outcome> {
    const target = new URL(url);
    // A literal address is not looked up.
    if (!this.#allowsPrivate && !isPublicHost(target.hostname)) return failure(new AddressNotPublic());
    const attempt = new AbortController();
    this.#attempts.add(attempt);
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      attempt.abort();
    }, this.#timeoutMs);
    try {
      const status = await this.#post(target, headers, Buffer.from(body), attempt.signal);
      return { status, error: rejection(status) };
    } catch (error) {
      if (!isTimedOut) return failure(error);
      return { status: null, error: `timed out after ${this.#timeoutMs / 1_000} seconds` };
    } finally {
      clearTimeout(timer);
      this.#attempts.delete(attempt);
    }
  }

  /** Ends the attempts that are running. */
  abort(): void {
    for (const attempt of this.#attempts) attempt.abort();
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #post(url: URL, headers: Record<string, string>, body: Buffer, signal: AbortSignal): Promise<number> {
    const attempt = () => {
      const { request } = url.protocol === 'https:' ? https : http;
      const sent = request(url, {
        method: 'POST',
        agent: this.#agents[url.protocol as 'http:' | 'https:'],
        lookup: this.#lookup,
        signal,
        headers: {
          'content-type': 'application/json',
          'content-length': body.length,
          'user-agent': USER_AGENT,
          ...headers,
        },
      });
      sent.end(body);
      return sent;
    };
    const first = attempt();
    try {
      return await statusOf(first);
    } catch (error) {
      if (!first.reusedSocket || signal.aborted) throw error;
      // The receiver has closed an idle connection at the same moment.
      return statusOf(attempt());
    }
  }
}

/** The status, after the response has ended. */
function statusOf(request: ClientRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      // Whatever becomes of the body, the receiver has answered.
      response.on('error', () => {});
      response.on('close', () => resolve(response.statusCode!));
      discard(response);
    });
  });
}

function discard(response: IncomingMessage): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) response.destroy();
  });
}

function rejection(status: number): string | null {
  if (status >= 200 && status <= 299) return null;
  const isRedirect = status >= 300 && status <= 399;
  return `the receiver returned ${status}${isRedirect ? ', and redirects are not followed' : ''}`;
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the receiver closed the connection without a response',
  EPIPE: 'the receiver closed the connection without a response',
  ENOTFOUND: 'the name does not resolve',
  ENODATA: 'the name does not resolve',
  EHOSTUNREACH: 'the receiver is unreachable',
  ENETUNREACH: 'the receiver is unreachable',
  ETIMEDOUT: 'connecting timed out',
};

/** Shown to callers: says nothing about the network of the service. */
function failure(error: unknown): Outcome {
  if (error instanceof AddressNotPublic) return { status: null, error: 'the address is not public' };
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code = 'unknown error' } = first as NodeJS.ErrnoException;
  return { status: null, error: TEXTS[code] ?? `the request failed: ${code}` };
}
