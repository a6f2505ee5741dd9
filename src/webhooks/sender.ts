// Sends one webhook: connects only to allowed addresses, follows no redirect, reads little of the response, and takes at
// most 15 seconds.

import type { Agent, ClientRequest } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPublicHost } from '../domain/webhook-endpoint/webhook-address.ts';
import type { Outcome } from '../operations/webhook-endpoint/delivery.ts';
import { FairShare } from '../scheduling/fair-share.ts';
import { http } from '../system/http.ts';
import { ExchangeFailed, receiveStatus, UNANSWERED } from './exchange.ts';
import { NoPublicAddress, publicLookup, type Resolve } from './public-lookup.ts';
import { tlsAgent } from './tls-agent.ts';

const TIMEOUT_MS = 15_000;
/**
 * Time to connect to each address of a receiver but the last, for which Node's default is shorter than the handshake with a
 * distant receiver, or than the repetition of a lost packet. Allows for several addresses before the deadline.
 */
const CONNECT_MS = 2_000;
/**
 * Shorter than the keep-alive timeout of most servers, so that they do not close a connection as it is
 * reused.
 */
const IDLE_MS = 4_000;
/** Equals the maximum number of concurrent attempts to an endpoint. */
const MAX_IDLE_PER_HOST = 32;
/** Maximum number of idle connections to all hosts together: each takes a file descriptor. */
const MAX_IDLE = 512;
const AGENT_OPTIONS = {
  keepAlive: true,
  timeout: IDLE_MS,
  maxFreeSockets: MAX_IDLE_PER_HOST,
  autoSelectFamilyAttemptTimeout: CONNECT_MS,
};
const USER_AGENT = 'User-Group-Service-Webhooks/1';

export interface SenderOptions {
  allowsPrivate: boolean;
  /** Replaces DNS in tests. */
  resolve?: Resolve;
  timeoutMs?: number;
}

/** A webhook as it is sent. */
export interface Webhook {
  workspaceId: number;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export class WebhookSender {
  readonly #allowsPrivate: boolean;
  readonly #timeoutMs: number;
  /** Lookup of public addresses; undefined selects the system's resolver, which also reads the hosts file. */
  readonly #lookup: LookupFunction | undefined;
  readonly #attempts = new Set<AbortController>();
  /** Workspace that used each connection last. */
  readonly #users = new WeakMap<object, number>();
  #isAborted = false;
  readonly #agents = {
    'http:': new http.Agent(AGENT_OPTIONS),
    'https:': tlsAgent(AGENT_OPTIONS),
  };

  constructor({ allowsPrivate, resolve, timeoutMs = TIMEOUT_MS }: SenderOptions) {
    this.#allowsPrivate = allowsPrivate;
    this.#timeoutMs = timeoutMs;
    for (const agent of Object.values(this.#agents)) this.#limitIdle(agent);
    this.#lookup = allowsPrivate && resolve === undefined ? undefined : publicLookup(resolve);
  }

  /**
   * Limits the idle connections of both agents. `maxTotalSockets` would make requests wait, and
   * `maxFreeSockets` counts per host.
   */
  #limitIdle(agent: Agent): void {
    const keepSocketAlive = agent.keepSocketAlive.bind(agent);
    agent.keepSocketAlive = (socket) => this.#mayIdle(socket) && keepSocketAlive(socket);
  }

  /** Whether the workspace that used the connection has less than its share of the idle ones. */
  #mayIdle(socket: object): boolean {
    const share = new FairShare(MAX_IDLE);
    for (const { freeSockets } of Object.values(this.#agents))
      for (const idle of Object.values(freeSockets).flat()) share.take(this.#users.get(idle!)!, 1);
    return share.admits(this.#users.get(socket)!);
  }

  /** Whether running attempts were aborted. */
  get isAborted(): boolean {
    return this.#isAborted;
  }

  /** Returns the time by which an attempt that starts now has to end (`performance.now()`). */
  deadline(): number {
    return performance.now() + this.#timeoutMs;
  }

  /** Sends one webhook. Never rejects, and settles at the deadline at the latest. */
  async send(webhook: Webhook, deadline = this.deadline()): Promise<Outcome> {
    if (this.#isAborted) return failure(stopped());
    // A literal address is not looked up, so `lookup` would not check it.
    if (!this.#allowsPrivate && !isPublicHost(new URL(webhook.url).hostname))
      return failure(new NoPublicAddress());
    const attempt = new AbortController();
    this.#attempts.add(attempt);
    const timedOut = () =>
      attempt.abort(new ExchangeFailed(`timed out after ${this.#timeoutMs / 1_000} seconds`));
    const timer = setTimeout(timedOut, Math.max(0, deadline - performance.now()));
    try {
      const status = await this.#post(webhook, attempt.signal);
      return { status, error: rejection(status) };
    } catch (error) {
      return failure(error);
    } finally {
      clearTimeout(timer);
      this.#attempts.delete(attempt);
    }
  }

  /** Aborts the running attempts, and fails later ones. */
  abort(): void {
    this.#isAborted = true;
    for (const attempt of this.#attempts) attempt.abort(stopped());
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #post(webhook: Webhook, signal: AbortSignal): Promise<number> {
    const first = this.#request(webhook);
    try {
      return await receiveStatus(first, signal);
    } catch (error) {
      if (!first.reusedSocket || signal.aborted) throw error;
      // The receiver closed the idle connection as it was reused.
      return receiveStatus(this.#request(webhook), signal);
    }
  }

  #request({ workspaceId, url, headers, body }: Webhook): ClientRequest {
    const { protocol, hostname } = new URL(url);
    const { request } = protocol === 'https:' ? https : http;
    const sent = request(url, {
      method: 'POST',
      agent: this.#agents[protocol as 'http:' | 'https:'],
      lookup: this.#lookup,
      // The name in TLS has no trailing dot (RFC 6066 §3): servers in Go refuse it.
      ...(hostname.endsWith('.') && { servername: hostname.slice(0, -1) }),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': USER_AGENT,
        ...headers,
      },
    });
    sent.on('socket', (socket) => this.#users.set(socket, workspaceId));
    return sent.end(body);
  }
}

function stopped(): ExchangeFailed {
  return new ExchangeFailed('the service stopped');
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function rejection(status: number): string | null {
  if (status >= 200 && status <= 299) return null;
  return `the receiver returned ${status}${REDIRECTS.has(status) ? ', and redirects are not followed' : ''}`;
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: UNANSWERED,
  EPIPE: UNANSWERED,
  ENOTFOUND: 'the name does not resolve',
  ENODATA: 'the name does not resolve',
  EHOSTUNREACH: 'the receiver is unreachable',
  ENETUNREACH: 'the receiver is unreachable',
  ETIMEDOUT: 'connecting timed out',
  EPROTO: 'the TLS handshake failed',
  HPE_HEADER_OVERFLOW: 'the headers of the response are too long',
};

/** Describes an error to callers, revealing nothing about the network of the service. */
function failure(error: unknown): Outcome {
  return { status: null, error: failureText(error) };
}

function failureText(error: unknown): string {
  if (error instanceof NoPublicAddress) return 'the receiver has no public address';
  if (error instanceof ExchangeFailed) return error.message;
  // After several addresses, an AggregateError with the code of the first.
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  // Prefix of the errors of Node's HTTP parser.
  if (code.startsWith('HPE_')) return TEXTS[code] ?? `the response is not valid HTTP: ${code}`;
  return TEXTS[code] ?? `the request failed: ${code}`;
}
