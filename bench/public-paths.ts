// Measures the cost of callers without an API token: for each public path, the processor time and the bytes
// of a response. `npm run rig:two-tenants` measures what another tenant notices of them.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DatabaseTokenIssuer } from '../reliability/support/token-issuer.ts';
import { printTable } from '../src/commands/terminal/output.ts';
import { MAX_KEPT_CHARACTERS } from '../src/console/request/interrupted-form.ts';
import { sqlite, type TestDatabase } from '../test/support/database.ts';
import { send } from '../test/support/http.ts';
import { eventually, WITHOUT_FAILURE_LIMIT } from '../test/support/process.ts';
import { processorTime } from './processor-time.ts';
import { ServerProcess } from './server-process.ts';

const CONNECTIONS = 16;
/** Makes wrk report what it sent as one line of JSON. */
const SUMMARY = `done = function(summary)
  io.write(string.format('{"requests":%d,"bytes":%d}\\n', summary.requests, summary.bytes))
end`;

interface Options {
  seconds: number;
  folder: string;
  report: (text: string) => void;
}

/** Returns raw requests by name. */
async function requestsOf(url: string, admin: string): Promise<Record<string, string>> {
  const page = (await send(url, { path: '/docs' })).text;
  const [bundle = ''] = /\/docs\/assets\/[^"]+bundle\.js/.exec(page) ?? [];
  const signIn = (await send(url, { path: '/console/sign-in' })).text;
  const [htmx = ''] = /\/console\/assets\/[^"]+htmx\.js/.exec(signIn) ?? [];
  const keys = await send(url, { path: '/v1/signing-keys', token: admin });
  const issuer = new URL(keys.json.issuer).pathname;
  const keySet = (path: string) => `${path}/.well-known/jwks.json`;
  const get = (path: string, headers: readonly string[] = []) => head('GET', path, headers);
  const invalid = ['Authorization: Token uga_invalid'];
  const unknown = [`Authorization: Token ${admin.slice(0, -8)}00000000`];
  const post = (path: string, headers: readonly string[], body: string) =>
    head('POST', path, [...headers, `Content-Length: ${body.length}`]) + body;
  const json = 'Content-Type: application/json';
  const form = ['Content-Type: application/x-www-form-urlencoded', 'Sec-Fetch-Site: same-origin'];
  return {
    'GET /healthz': get('/healthz'),
    'GET /readyz': get('/readyz'),
    'GET /openapi.json': get('/openapi.json'),
    'GET /openapi.json, gzip': get('/openapi.json', ['Accept-Encoding: gzip']),

    'GET /docs': get('/docs'),
    'GET /docs/assets/…, 1.5 MB': get(bundle),
    'GET /docs/assets/…, gzip': get(bundle, ['Accept-Encoding: gzip']),
    'GET /errors': get('/errors'),
    'GET /issuers/…, valid': get(keySet(issuer)),
    'GET /issuers/…, unknown': get(keySet(issuer.replace(/.{24}(?=.$)/, '0'.repeat(24)))),
    'GET /issuers/…, malformed': get(keySet('/issuers/x')),
    'GET /, browser': get('/', ['Accept: text/html']),
    'GET /console': get('/console'),
    'GET /console/sign-in': get('/console/sign-in'),
    'POST /console/sign-in, invalid token': post('/console/sign-in', form, 'api_token=invalid'),
    'POST /console/sign-in, 60 KB': post('/console/sign-in', form, `api_token=${'x'.repeat(60_000)}`),
    'GET /console/user-groups, no session': get('/console/user-groups'),
    'POST /console/…, no session, 1 MB': post(
      '/console/user-groups/a/review',
      form,
      `name=${'%3C'.repeat(MAX_KEPT_CHARACTERS - 4)}`,
    ),
    'GET /console/assets/…': get(htmx),
    'unknown path (404)': get('/nothing/here'),
    'unknown method (405)': head('DELETE', '/v1/resolve', []),
    'no API token (401)': post('/v1/resolve', [json], '{}'),
    'malformed API token (401)': post('/v1/resolve', [json, ...invalid], '{}'),
    'unknown API token (401)': post('/v1/resolve', [json, ...unknown], '{}'),
    'unknown API token, 200 KB': post('/v1/user-groups', [json, ...unknown], `"${'x'.repeat(200_000)}"`),
    'invalid HTTP (400)': 'GET /\r\n\r\n',
    'headers of 20 KB (431)': get('/', [`X: ${'x'.repeat(20_000)}`]),
  };
}

function head(method: string, path: string, headers: readonly string[]): string {
  return `${[`${method} ${path} HTTP/1.1`, 'Host: bench', ...headers].join('\r\n')}\r\n\r\n`;
}

export async function measurePublicPaths({ seconds, folder, report }: Options): Promise<void> {
  await using database = await sqlite.create();
  const script = ['bin/user-group-service.js', 'serve'];
  const env = { ...database.env, LOG_LEVEL: 'error', ...WITHOUT_FAILURE_LIMIT };
  await using server = await ServerProcess.start({ script, env });
  const requests = await requestsOf(server.url, await prepare(database, server.url));
  const rows: string[][] = [];
  for (const [name, text] of Object.entries(requests)) {
    report(name);
    const before = processorTime(server.processId);
    const { requests: sent, bytes } = await wrk(server.url, text, { seconds, folder });
    const spent = processorTime(server.processId) - before;
    rows.push([name, (spent / sent).toFixed(0), (bytes / sent).toFixed(0)]);
  }
  printTable(['', 'µs per request', 'bytes'], rows);
}

/** Stores 3 MB of data sources and a key set; returns the API token of their environment. */
async function prepare(database: TestDatabase, url: string): Promise<string> {
  await using issuer = await DatabaseTokenIssuer.open(database);
  const { token } = await issuer.create('default', 'Customer', 'admin');
  const call = (method: string, path: string, body: unknown) => send(url, { method, path, body, token });
  const settings = { audience: 'cube', properties: ['plan'] };
  // Generating keys takes long on a busy machine.
  await eventually('an integration', async () => {
    const { status } = await call('PUT', '/v1/integrations/jwt', { type: 'jwt', settings });
    return status < 300;
  });
  for (let source = 0; source < 200; source++)
    await call('PUT', `/v1/data-sources/${source}`, {
      schema_id: '40',
      name: 'Large',
      attributes: { text: 'x'.repeat(15_000) },
    });
  return token;
}

async function wrk(
  url: string,
  text: string,
  { seconds, folder }: Pick<Options, 'seconds' | 'folder'>,
): Promise<{ requests: number; bytes: number }> {
  const script = join(folder, 'request.lua');
  writeFileSync(
    script,
    `local text = ${JSON.stringify(text)}\nrequest = function() return text end\n${SUMMARY}`,
  );
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, url];
  const { stdout } = await promisify(execFile)('wrk', args);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}
