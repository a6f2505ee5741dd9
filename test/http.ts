// Requests through a real socket, with a body on any method: fetch refuses bodies on GET.

import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { watch } from './exposure.ts';

export interface TestRequest {
  method?: string;
  path?: string;
  /** An API token; null for none. */
  token?: string | null;
  /** A value is sent as JSON, text and bytes as they are. */
  body?: unknown;
  /** A list sends a header several times; undefined leaves out one that would be sent. */
  headers?: Record<string, string | string[] | undefined>;
}

export interface TestAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** The body as it came, for tests of bytes. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

export function send(
  url: string,
  { method = 'GET', path = '/api/user', token, body, headers = {} }: TestRequest,
): Promise<TestAnswer> {
  const bytes = bytesOf(body);
  const all: Record<string, string | string[] | undefined> = {
    ...(token != null && { authorization: `Token ${token}` }),
    ...(bytes !== undefined && {
      'content-type': 'application/json',
      'content-length': String(bytes.length),
    }),
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | string[]
  >;
  watch.sent([sent.authorization ?? []].flat(), bytes);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url + path, { method, headers: sent, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = response.headers['content-type']?.includes('json') && text !== '';
        const answer: TestAnswer = {
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
}

const LANES = 32;

/** What becomes of each, in their order, with few at one time: a busy machine would turn away some of hundreds. */
export async function inLanes<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = [...items].entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
