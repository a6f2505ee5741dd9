// Calls a running service over HTTP, with the API token in UGS_API_TOKEN.

import { setTimeout as sleep } from 'node:timers/promises';
import { API_TOKEN_VARIABLE, parseHttpUrl } from '../config.ts';
import type { Permission } from '../domain/api-token.ts';
import { type JsonText, parseStrictJson } from '../domain/json/strict-json.ts';
import type { Violation } from '../problem.ts';
import { errorMessage } from '../system/error-message.ts';
import { ServiceRefused, UsageError } from './exit-code.ts';
import { ServiceObject } from './service-object.ts';

const PAGE = 1_000;
const TIMEOUT_MS = 30_000;
const MAX_LEVELS = 80;
/** More than an environment can have. */
export const MAX_MEMBERS = 2_000_000;
const MAX_RETRIES = 5;
const MAX_PAUSE_SECONDS = 30;
/** Difference of clocks that is not corrected: the service dates its responses in whole seconds. */
const CLOCK_TOLERANCE_MS = 2_000;
const HEADER_TEXT = /^[\x21-\x7e]+$/;
/**
 * Statuses of a service that is busy or restarts, and of a proxy that does not reach it. To repeat a request that
 * was executed changes nothing.
 */
const TRANSIENT = [429, 502, 503, 504];
const UNKNOWN_TOKEN = `the API token in ${API_TOKEN_VARIABLE} is unknown, expired or revoked; "user-group-service api-token create" creates one`;

interface ServiceProblem {
  code: string;
  detail: string;
  errors: readonly Violation[];
}

export interface ServiceResponse {
  body: ServiceObject;
  /** Names the version of the resource; null if a proxy has removed it. */
  entityTag: string | null;
  /** null for a success. */
  problem: ServiceProblem | null;
  /** Whether an earlier attempt, whose response was lost, may have been executed. */
  isRepeated: boolean;
}

interface ServiceRequest {
  body?: JsonText;
  headers?: Readonly<Record<string, string>>;
}

export class ServiceClient {
  readonly #url: string;
  readonly #token: string;
  #clockBehindMs = 0;

  /** Throws `UsageError`. */
  constructor(url: string, permission: Permission) {
    const token = process.env[API_TOKEN_VARIABLE]?.trim();
    if (!token)
      throw new UsageError(
        `--url requires an API token with the permission ${permission} in ${API_TOKEN_VARIABLE}`,
      );
    // The error of `fetch` would contain the token.
    if (!HEADER_TEXT.test(token))
      throw new UsageError(`${API_TOKEN_VARIABLE} must be one API token, without white space`);
    parseServiceUrl(url);
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
  }

  /** How far the clock of the service may be behind that of this machine; 0 unless its last response shows that it is. */
  get clockBehindMs(): number {
    return this.#clockBehindMs;
  }

  /** Returns the body of a success. Throws `ServiceRefused`. */
  async read(path: string): Promise<ServiceObject> {
    return this.bodyOf(await this.call('GET', path));
  }

  /** Throws `ServiceRefused` unless it is a success. */
  bodyOf({ body, problem }: ServiceResponse): ServiceObject {
    if (problem !== null) throw this.refusal(problem);
    return body;
  }

  /** Yields the objects under this name in each page of a list. Throws `ServiceRefused`. */
  async *pages(
    path: string,
    name: string,
    filter: Record<string, string> = {},
  ): AsyncGenerator<ServiceObject[]> {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({ ...filter, limit: String(PAGE), ...(cursor !== '' && { cursor }) });
      const body = await this.read(`${path}?${query}`);
      yield body.objects(name);
      cursor = body.stringOrNull('next_cursor');
    }
  }

  /** Retries after a transient failure. Throws `ServiceRefused` if the service does not respond. */
  async call(method: string, path: string, request: ServiceRequest = {}): Promise<ServiceResponse> {
    for (let retry = 0; ; retry++) {
      const sentAt = Date.now();
      const response = await this.#send(method, path, request);
      this.#clockBehindMs = clockBehindMs(response, sentAt);
      if (!TRANSIENT.includes(response.status) || retry === MAX_RETRIES)
        return { ...(await this.#read(response)), isRepeated: retry > 0 };
      // An overloaded service may close the connection before the end of its response.
      await response.body?.cancel().catch(() => {});
      await sleep(pauseMs(response, retry));
    }
  }

  refusal({ code, detail }: ServiceProblem): ServiceRefused {
    // Replaces the detail, which tells callers of the API which header to send.
    const reason = code === 'unauthenticated' ? UNKNOWN_TOKEN : detail;
    return new ServiceRefused(`${this.#url}: ${reason}`);
  }

  async #read(response: Response): Promise<Omit<ServiceResponse, 'isRepeated'>> {
    const { status, headers } = response;
    const bytes = Buffer.from(await response.arrayBuffer().catch((error) => this.#unreachable(error)));
    const body = new ServiceObject(status === 204 ? new Map() : this.#members(status, bytes));
    return { body, entityTag: headers.get('etag'), problem: response.ok ? null : problemIn(body) };
  }

  #members(status: number, bytes: Buffer): ReadonlyMap<string, JsonText> {
    try {
      return parseStrictJson(bytes, MAX_LEVELS, MAX_MEMBERS).members;
    } catch (error) {
      throw new ServiceRefused(
        `${this.#url} responded with the status ${status} and something other than JSON: is this the URL of the service?`,
        { cause: error },
      );
    }
  }

  #send(method: string, path: string, { body, headers }: ServiceRequest): Promise<Response> {
    const contentType = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetch(this.#url + path, {
      method,
      headers: { authorization: `Token ${this.#token}`, ...contentType, ...headers },
      ...(body !== undefined && { body }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error) => this.#unreachable(error));
  }

  #unreachable(error: unknown): never {
    const reason = errorMessage((error as Error).cause ?? error);
    throw new ServiceRefused(
      `cannot reach ${this.#url}: ${reason}; check the URL, and that the service is running${certificateRemedy(this.#url)}${proxyRemedy(this.#url)}`,
      { cause: error },
    );
  }
}

/** Continues the remedy of a failed connection; empty without TLS. */
export function certificateRemedy(url: string): string {
  return url.startsWith('https:') ? '; for your own certificate authority, set NODE_EXTRA_CA_CERTS' : '';
}

/** Does the same for a proxy that other programs use, and Node only on request; empty without one. */
function proxyRemedy(url: string): string {
  const name = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const { env } = process;
  const isIgnored = env.NODE_USE_ENV_PROXY !== '1' && (env[name] || env[name.toLowerCase()]);
  return isIgnored ? `; to connect through the proxy in ${name}, set NODE_USE_ENV_PROXY=1` : '';
}

/** Parses the value of `--url`. Throws `UsageError`. */
export function parseServiceUrl(text: string): URL {
  try {
    return parseHttpUrl(text);
  } catch (error) {
    throw new UsageError(`--url ${(error as Error).message}, such as https://groups.example.com`);
  }
}

function problemIn(body: ServiceObject): ServiceProblem {
  const errors = body.textOrNull('errors') === null ? [] : body.objects('errors');
  return {
    code: body.string('code'),
    detail: body.string('detail'),
    errors: errors.map((each) => ({ pointer: each.string('pointer'), detail: each.string('detail') })),
  };
}

function clockBehindMs({ headers }: Response, sentAt: number): number {
  const date = Date.parse(headers.get('date') ?? '');
  return sentAt - date > CLOCK_TOLERANCE_MS ? Date.now() - date : 0;
}

function pauseMs({ headers }: Response, retry: number): number {
  const seconds = Number(headers.get('retry-after') ?? 2 ** retry);
  return Math.min(MAX_PAUSE_SECONDS, Number.isFinite(seconds) ? seconds : 1) * 1_000;
}
