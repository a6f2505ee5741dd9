// Sends requests through a real socket, with a body on any method: fetch refuses bodies on GET.

import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { assertDeclared } from './api-description/declared-problem.ts';
import { watch } from './exposure.ts';

export interface TestRequest {
  method?: string;
  path?: string;
  /** API token; null for none. */
  token?: string | null;
  /** Body: values are sent as JSON, strings and buffers unchanged, URLSearchParams as a form. */
  body?: unknown;
  /** Headers: an array repeats a header; undefined removes a default header. */
  headers?: Record<string, string | string[] | undefined>;
  /** Address of the client on this machine. */
  localAddress?: string;
  /** Agent that keeps the connections; by default, all requests share one. */
  agent?: Agent;
}

export interface TestResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Body as received, for tests that compare bytes. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  json: any;
}

/** Calls that require a body. */
export const CALLS_WITH_BODY = [
  ['GET', '/api/user'],
  ['PUT', '/api/user'],
  ['POST', '/api/user'],
  ['POST', '/v1/user-groups'],
  ['POST', '/v1/resolve'],
] as const;

const sharedAgent = new Agent({ keepAlive: true, maxSockets: 256 });

export function send(
  url: string,
  {
    method = 'GET',
    path = '/api/user',
    token,
    body,
    headers = {},
    localAddress,
    agent = sharedAgent,
  }: TestRequest,
): Promise<TestResponse> {
  const bytes = bytesOf(body);
  const all: Record<string, string | string[] | undefined> = {
    ...(token != null && { authorization: `Token ${token}` }),
    ...(bytes !== undefined && {
      'content-type':
        body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'application/json',
      'content-length': String(bytes.length),
    }),
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | string[]
  >;
  watch.sent([sent.authorization ?? []].flat(), bytes);
  const answered = new Promise<TestResponse>((resolve, reject) => {
    const outgoing = httpRequest(url + path, { method, headers: sent, agent, localAddress }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { 'content-type': type, 'content-encoding': encoding } = response.headers;
        const isJson = type?.includes('json') && encoding === undefined && text !== '';
        const answer: TestResponse = {
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        };
        watch.answered(`${method} ${path}`, answer);
        resolve(answer);
      });
    });
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
  return answered.then((answer) => {
    assertDeclared(`${method} ${path}`, answer);
    return answer;
  });
}

const CONCURRENCY = 32;

/**
 * Maps the items in order with limited concurrency, because on a busy machine the service rejects hundreds of
 * requests at a time.
 */
export async function mapConcurrently<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, index: number) => Promise<Result>,
  concurrency = CONCURRENCY,
): Promise<Result[]> {
  const results: Result[] = [];
  const remaining = [...items].entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of remaining) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  const isText = typeof body === 'string' || body instanceof URLSearchParams;
  return Buffer.from(isText ? String(body) : JSON.stringify(body));
}
