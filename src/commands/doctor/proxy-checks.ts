// Calls the service through the proxy in front of it, and checks that requests and responses pass unchanged.
// Without an API token, the error that the service returns shows what has arrived.

import { limits } from '../../domain/field.ts';
import { DAY_MS } from '../../domain/instant.ts';
import type { Secret } from '../../domain/secret.ts';
import { certificateRemedy } from '../service-client.ts';
import { attempt, type Check, type CheckResult, failed, ok, skipped, warning } from './check.ts';
import { type ProbeRequest, type ProbeResponse, RateLimited, send } from './http-probe.ts';

const CERTIFICATE_WARNING_DAYS = 14;
const CERTIFICATE_FAILURE_DAYS = 3;
/** Shares of the lifetime of a certificate, for those of hours or days. They are renewed at a third or a half. */
const CERTIFICATE_WARNING_SHARE = 1 / 6;
const CERTIFICATE_FAILURE_SHARE = 1 / 30;
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;
/** Error code of a request that arrived, but has no valid API token. */
const UNAUTHENTICATED = 'unauthenticated';
const GROUPS = '/v1/user-groups';
/** Encoded characters that proxies decode or, such as Traefik, refuse. */
const RESERVED = '%2F%5C%3B%25%3F%23';
const NO_GROUP = 'doctor: no such user group';
/** The longest id: 4 bytes per character, each percent-encoded. */
const LONGEST_ID = '%F0%9F%A9%BA'.repeat(limits.textCodePoints);
const LONG_HEADER = 'x'.repeat(4_096);

export async function checkProxy(url: URL, apiToken: Secret | null): Promise<Check[]> {
  const reachable = await attempt('reachable', remedyIfUnreachable(url), () => checkAlive(url));
  if (reachable.status === 'failed') return [reachable];
  const checks: Check[] = [reachable];
  for (const [name, check] of Object.entries(proxyChecks))
    checks.push(await attemptBelowLimit(url, name, () => check(url)));
  return [...checks, ...(await checkWithToken(url, apiToken))];
}

/** Beyond a limit of the service, every request gets the same error, which says nothing about the proxy. */
function attemptBelowLimit(url: URL, name: string, check: () => Promise<CheckResult>): Promise<Check> {
  const remedy =
    'repeat the check after a minute; behind a proxy, all clients share one limit until UGS_TRUSTED_PROXIES has its address';
  return attempt(name, remedyIfUnreachable(url), () =>
    check().catch((error) => {
      if (!(error instanceof RateLimited)) throw error;
      return warning(`not checked: ${error.message}`, remedy);
    }),
  );
}

function remedyIfUnreachable({ href }: URL): string {
  return `check that the service is running, the URL, and the address, certificate and log of the proxy${certificateRemedy(href)}`;
}

async function checkAlive(url: URL): Promise<CheckResult> {
  const { status, json } = await send(url, { path: '/healthz' });
  if (status === 200 && json.status === 'alive') return ok('/healthz responds');
  if (status >= 502 && status <= 504)
    return failed(
      `/healthz returned ${status}: the proxy finds no process of the service that responds and is ready`,
      'read the log of each process, and run doctor without --url with its settings; if they are ready, compare their addresses with those of the proxy',
    );
  const remedy = 'forward all paths to the service, /healthz included';
  return failed(`/healthz returned ${status} instead of the response of the service`, remedy);
}

const proxyChecks: Record<string, (url: URL) => Promise<CheckResult>> = {
  ready: async (url) => {
    const { status, json } = await send(url, { path: '/readyz' });
    if (status === 200 && json.status === 'ready') return ok('/readyz reports ready');
    const detail = typeof json.detail === 'string' ? `: ${json.detail.replace(/\.$/, '')}` : '';
    return failed(`/readyz returned ${status}${detail}`, 'read the log of the service');
  },
  tls: checkTls,
  caching: checkCaching,
  'request id': async (url) => {
    const { headers, json } = await send(url, { path: '/v1/doctor' });
    const id = headers['x-request-id'];
    if (id !== undefined && id === json.request_id) return ok('X-Request-Id passes');
    const remedy = 'let the response header X-Request-Id pass: it leads to the lines of the log';
    return failed('X-Request-Id is missing or differs from the request_id of the error', remedy);
  },
  'error format': async (url) => {
    const { status, code } = await send(url, { path: '/v1/doctor' });
    if (status === 404 && code === 'not_found') return ok('errors of the service pass');
    const remedy = 'do not replace the errors of the service (nginx: proxy_intercept_errors off)';
    return failed(`an unknown path returned ${status}, not the error of the service`, remedy);
  },
  'encoded paths': checkEncodedPaths,
  methods: checkMethods,
  'precondition headers': checkPreconditions,
  'long requests': async (url) => {
    const request = { path: `${GROUPS}/${LONGEST_ID}`, headers: { 'x-doctor': LONG_HEADER } };
    const response = await send(url, request);
    const what = `a path of ${request.path.length} bytes and a header of ${LONG_HEADER.length}`;
    const remedy = 'accept 16 KiB of headers (nginx: large_client_header_buffers 4 16k)';
    return arrived(what, response, remedy);
  },
  'large bodies': async (url) => {
    const response = await send(url, { method: 'POST', path: GROUPS, body: ' '.repeat(limits.bodyBytes) });
    const remedy = 'accept bodies of 256 KiB (nginx: client_max_body_size 1m)';
    return arrived(`a body of ${limits.bodyBytes} bytes`, response, remedy);
  },
};

function arrived(what: string, { status, code }: ProbeResponse, remedy: string): CheckResult {
  if (code === UNAUTHENTICATED) return ok(`${what} passed`);
  return failed(`${what} returned ${status}`, remedy);
}

async function checkTls(url: URL): Promise<CheckResult> {
  const { protocol, hostname } = url;
  if (protocol === 'http:') {
    if (LOOPBACK.test(hostname)) return skipped('the URL leads to this machine');
    return warning(
      'the URL is not encrypted: tokens can be read on the way',
      'put TLS in front, and use https://',
    );
  }
  const { certificate } = await send(url, { path: '/healthz' });
  if (certificate === null) return skipped('the certificate cannot be read');
  const days = (certificate.expiresAt - Date.now()) / DAY_MS;
  const lifetimeDays = (certificate.expiresAt - certificate.validFrom) / DAY_MS;
  const message = `the certificate is valid for ${days.toFixed(1)} days`;
  const remedy = 'renew the certificate, and check why it was not renewed automatically';
  if (days < Math.min(CERTIFICATE_FAILURE_DAYS, lifetimeDays * CERTIFICATE_FAILURE_SHARE))
    return failed(message, remedy);
  if (days < Math.min(CERTIFICATE_WARNING_DAYS, lifetimeDays * CERTIFICATE_WARNING_SHARE))
    return warning(message, remedy);
  return ok(message);
}

async function checkCaching(url: URL): Promise<CheckResult> {
  const request: ProbeRequest = { path: '/healthz' };
  const [first, second] = [await send(url, request), await send(url, request)];
  const remedy = 'do not cache responses of the service: a revoked token would keep working';
  const isRepeated =
    first.headers['x-request-id'] !== undefined &&
    first.headers['x-request-id'] === second.headers['x-request-id'];
  if (isRepeated || second.headers.age !== undefined) return failed('a response came from a cache', remedy);
  if (second.headers['cache-control'] === 'no-store') return ok('responses are not cached');
  return failed('Cache-Control: no-store was removed or replaced', remedy);
}

/** The service rejects invalid UTF-8 before authentication, unless the path was encoded a second time. */
async function checkEncodedPaths(url: URL): Promise<CheckResult> {
  const remedy =
    'forward the path unchanged (nginx: proxy_pass without a path; Apache: AllowEncodedSlashes NoDecode and nocanon; ' +
    'Traefik: encodedCharacters of the entry point)';
  const reserved = await send(url, { path: `${GROUPS}/doctor${RESERVED}` });
  if (reserved.code !== UNAUTHENTICATED)
    return failed(
      `an id with ${RESERVED} returned ${reserved.status}: the path was decoded or refused`,
      remedy,
    );
  const invalid = await send(url, { path: `${GROUPS}/%FF` });
  if (invalid.code === UNAUTHENTICATED) return failed('the path was percent-encoded a second time', remedy);
  return ok(`ids with ${RESERVED} pass unchanged`);
}

async function checkMethods(url: URL): Promise<CheckResult> {
  const refused: string[] = [];
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const { code } = await send(url, { method, path: `${GROUPS}/doctor` });
    if (code !== UNAUTHENTICATED) refused.push(method);
  }
  if (refused.length === 0) return ok('PUT, PATCH and DELETE pass');
  return failed(`${refused.join(', ')} do not reach the service`, 'allow GET, POST, PUT, PATCH and DELETE');
}

/** /healthz has no version, so the service rejects preconditions there. */
async function checkPreconditions(url: URL): Promise<CheckResult> {
  const lost: string[] = [];
  for (const name of ['If-Match', 'If-None-Match']) {
    const { code } = await send(url, { path: '/healthz', headers: { [name]: '"doctor"' } });
    if (code !== 'invalid_request') lost.push(name);
  }
  if (lost.length === 0) return ok('If-Match and If-None-Match pass');
  const remedy = 'forward these headers: without them, concurrent changes overwrite each other';
  return failed(`${lost.join(' and ')} did not arrive`, remedy);
}

async function checkWithToken(url: URL, apiToken: Secret | null): Promise<Check[]> {
  if (apiToken === null)
    return [
      {
        name: 'authorization',
        ...skipped('name a file with an API token with --api-token-file to check more'),
      },
    ];
  const headers = { authorization: `Token ${apiToken.reveal()}` };
  const authorization = await attemptBelowLimit(url, 'authorization', () => checkAuthorization(url, headers));
  if (authorization.status !== 'ok') return [authorization];
  return [
    authorization,
    await attemptBelowLimit(url, 'body of GET', () => checkBodyOfGet(url, headers)),
    await attemptBelowLimit(url, 'etag', () => checkEntityTag(url, headers)),
    await attemptBelowLimit(url, 'issuer', () => checkIssuer(url, headers)),
  ];
}

type Authorization = Record<'authorization', string>;

async function checkAuthorization(url: URL, headers: Authorization): Promise<CheckResult> {
  const request = { method: 'POST', path: '/v1/resolve', headers, body: '{"token":"doctor"}' };
  const { status, code } = await send(url, request);
  if (code === 'user_group_token_not_found') return ok('the API token arrives and is valid');
  const remedy =
    'forward the header Authorization and the body unchanged; check with "api-token list" that the API token is active';
  return failed(`a call with the API token returned ${status} ${code ?? ''}`.trim(), remedy);
}

async function checkBodyOfGet(url: URL, headers: Authorization): Promise<CheckResult> {
  const body = JSON.stringify({ user_group_id: NO_GROUP });
  const { status, code } = await send(url, { path: '/api/user', headers, body });
  if (code === 'user_group_not_found') return ok('GET /api/user passes with its body');
  if (code === 'permission_denied') return skipped('the API token may only resolve; use one that may read');
  const remedy = 'let callers use POST /v1/user-groups, or let the body of a GET pass';
  return warning(`GET /api/user with a body returned ${status} ${code ?? ''}`.trim(), remedy);
}

/** Reads an existing group: its entity tag must arrive, and come back unchanged. */
async function checkEntityTag(url: URL, headers: Authorization): Promise<CheckResult> {
  const list = await send(url, { path: `${GROUPS}?limit=1`, headers });
  const [group] = (list.json.user_groups as { provided_id: string }[] | undefined) ?? [];
  if (group === undefined) return skipped('there is no user group that the API token may read');
  const path = `${GROUPS}/${encodeURIComponent(group.provided_id)}`;
  const compressed = { ...headers, 'accept-encoding': 'gzip' };
  const { etag } = (await send(url, { path, headers: compressed })).headers;
  const remedy = 'let ETag pass unchanged, and do not compress JSON in the proxy: that weakens or removes it';
  if (!etag?.startsWith('"'))
    return failed(`the ETag of a user group arrived as ${etag ?? 'nothing'}`, remedy);
  const { status } = await send(url, { path, headers: { ...headers, 'if-none-match': etag } });
  if (status === 304) return ok('ETag and If-None-Match pass unchanged');
  return failed(`a read with the current ETag returned ${status} instead of 304`, remedy);
}

/** Without UGS_PUBLIC_URL, the issuer is the address that the process listens on, behind a proxy usually a local one. */
async function checkIssuer(url: URL, headers: Authorization): Promise<CheckResult> {
  const { issuer } = (await send(url, { path: '/v1/signing-keys', headers })).json;
  if (typeof issuer !== 'string')
    return skipped('the environment has no signing keys, or the API token lacks the permission admin');
  const { origin, hostname } = new URL(issuer);
  if (origin === url.origin || !LOOPBACK.test(hostname)) return ok(`embed tokens name ${issuer}`);
  const remedy = 'set UGS_PUBLIC_URL to the URL at which tools reach the service';
  return warning(`embed tokens name ${issuer}, which only the machine of the service reaches`, remedy);
}
