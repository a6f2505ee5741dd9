import type { Mutant } from '../mutant.ts';

const accessLogFile = 'src/http/log/access-log.ts';
const body = 'src/http/request/body.ts';
const clientAddress = 'src/http/request/client-address.ts';
const endpoint = 'src/http/endpoint.ts';
const entityTag = 'src/http/response/entity-tag.ts';
const bodyAdmission = 'src/http/limits/body-admission.ts';
const credentials = 'src/http/request/credentials.ts';
const form = 'src/http/request/form.ts';
const forwardAuth = 'src/http/endpoints/user-group/forward-auth.ts';
const headers = 'src/http/request/header-checks.ts';
const health = 'src/http/endpoints/service/health.ts';
const httpMetrics = 'src/metrics/http-metrics.ts';
const mediaType = 'src/http/request/media-type.ts';
const pipelining = 'src/http/limits/request-pipelining.ts';
const prefetch = 'src/http/prefetch.ts';
const problem = 'src/http/response/problem.ts';
const problemLog = 'src/http/log/problem-log.ts';
const publicLimit = 'src/http/limits/public-limit.ts';
const query = 'src/http/request/query.ts';
const rateLimit = 'src/http/limits/rate-limit.ts';
const read = 'src/http/endpoints/user-group/read.ts';
const requestId = 'src/http/log/request-id.ts';
const rotate = 'src/http/endpoints/user-group/rotate.ts';
const server = 'src/http/server.ts';
const slowReader = 'src/http/limits/response-backpressure.ts';
const update = 'src/http/endpoints/user-group/update.ts';
const viewerToken = 'src/http/request/viewer-token.ts';

export const http: readonly Mutant[] = [
  {
    name: 'a tenant with many large bodies evicts those of one with few',
    file: bodyAdmission,
    find: 'if (this.#shares.heldBy(reservation.tenant) < heldAtLeast) continue;',
    replace: '',
    tests: ['test/http/body-admission.test.ts'],
  },
  {
    name: 'large bodies of all senders count for one tenant',
    file: bodyAdmission,
    find: 'this.#shares.grant(tenant, bytes) < bytes',
    replace: 'this.#shares.grant(0, bytes) < bytes',
    tests: ['test/http/body-admission.test.ts'],
  },
  {
    name: 'an Origin that is a part of a configured one is accepted',
    file: headers,
    find: 'allowedOrigins.includes(origin)',
    replace: 'allowedOrigins.join().includes(origin)',
    tests: ['test/api-token/authentication.test.ts'],
  },
  {
    name: 'permission: a read-only API token updates groups',
    file: update,
    find: "permissions: ['read-write'],",
    replace: "permissions: ['read-write', 'read-only'],",
    tests: ['test/api-token/environment.test.ts'],
  },
  {
    name: 'permission: a read-only API token rotates tokens',
    file: rotate,
    find: "permissions: ['read-write'],",
    replace: "permissions: ['read-write', 'read-only'],",
    tests: ['test/api-token/environment.test.ts'],
  },
  {
    name: 'permission: a resolve API token reads groups',
    file: read,
    find: "permissions: ['read-write', 'read-only'],",
    replace: "permissions: ['read-write', 'read-only', 'resolve'],",
    tests: ['test/api-token/environment.test.ts'],
  },
  {
    name: 'order: 403 comes before 429',
    file: endpoint,
    find: 'if (limit !== null) await limit(caller, reply);\n    permit(caller, permissions, purpose);',
    replace: 'permit(caller, permissions, purpose);\n    if (limit !== null) await limit(caller, reply);',
    tests: ['test/http/rate-limit.test.ts'],
  },
  {
    name: 'order: the body is validated before the API token',
    file: endpoint,
    find: 'const caller = await authorize(',
    replace:
      'if (prefetch.receiving) endpoint.body.read((await prefetch.receiving).bytes);\n  const caller = await authorize(',
    tests: ['test/api-token/authentication.test.ts'],
  },
  {
    name: 'prefetch: the hint of a rejected caller is kept',
    file: prefetch,
    find: 'if (digest !== null) this.#callers.delete(digest);',
    replace: '',
    tests: ['test/postgres/prefetch.test.ts'],
  },
  {
    name: 'rate limit: one request more than the limit is admitted',
    file: rateLimit,
    find: 'new RateLimiterMemory({ points: requestsPerMinute,',
    replace: 'new RateLimiterMemory({ points: requestsPerMinute + 1,',
    tests: ['test/http/rate-limit.test.ts'],
  },
  {
    name: 'public limit: a request without permission counts',
    file: server,
    find: 'const isPublic = !request.apiTokenId;',
    replace: 'const isPublic = true;',
    tests: ['test/http/public-limit.test.ts'],
  },
  {
    name: 'public limit: refused requests count as pages',
    file: publicLimit,
    find: 'this.#secondsBeyond(this.#refusals, request)',
    replace: 'this.#secondsBeyond(this.#pages, request)',
    tests: ['test/http/public-limit.test.ts'],
  },
  {
    name: 'public limit: memory grows with the number of addresses',
    file: publicLimit,
    find: 'if (count === 1 && this.#counts.size === MAX_NETWORKS) this.#forgetFirst();',
    replace: '',
    tests: ['test/http/public-limit.test.ts'],
  },
  {
    name: 'rate limit: Retry-After may be longer than a minute',
    file: rateLimit,
    find: 'Math.min(Math.max(1, Math.ceil(msBeforeNext / 1_000)), MINUTE_SECONDS)',
    replace: 'Math.max(1, Math.ceil(msBeforeNext / 1_000))',
    tests: ['test/http/rate-limit.test.ts'],
  },
  {
    name: 'a body of exactly 256 KiB is rejected',
    file: body,
    find: 'if (size > maxBytes) return fail(',
    replace: 'if (size >= maxBytes) return fail(',
    tests: ['test/http/body.test.ts'],
  },
  {
    name: 'an announced length of exactly 256 KiB is rejected',
    file: body,
    find: 'if (bytes > maxBytes) throw',
    replace: 'if (bytes >= maxBytes) throw',
    tests: ['test/http/body.test.ts'],
  },
  {
    name: 'a body that is too large is read to its end before it is rejected',
    file: body,
    find: 'if (bytes > maxBytes) throw tooLarge(maxBytes);',
    replace: '',
    tests: ['test/http/broken-request.test.ts'],
  },
  {
    name: 'a body of any media type is accepted',
    file: mediaType,
    find: 'type !== undefined && !accepted.some((each) => patterns[each].test(type))',
    replace: 'false',
    tests: ['test/http/body.test.ts'],
  },
  {
    name: 'a foreign Origin is accepted',
    file: headers,
    find: 'if (origin === undefined || allowedOrigins.includes(origin)) return;',
    replace: 'return;',
    tests: ['test/api-token/authentication.test.ts'],
  },
  {
    name: 'an Origin that starts with the host of the service is accepted',
    file: headers,
    find: '(origin === `http://${host}` || origin === `https://${host}`)',
    replace: '(origin.startsWith(`http://${host}`) || origin === `https://${host}`)',
    tests: ['test/api-token/authentication.test.ts'],
  },
  {
    name: 'framing: an unknown transfer coding is accepted',
    file: headers,
    find: "(coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')",
    replace: "httpVersion === '1.0'",
    tests: ['test/process/raw-http.test.ts'],
  },
  {
    name: 'framing: chunks are accepted in HTTP/1.0',
    file: headers,
    find: "(coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')",
    replace: "coding.toLowerCase() !== 'chunked'",
    tests: ['test/process/raw-http.test.ts'],
  },
  {
    name: 'framing: the connection stays open after an ambiguous request',
    file: server,
    find: "// The start of the next request is ambiguous.\n  reply.header('connection', 'close');",
    replace: '',
    tests: ['test/process/raw-http.test.ts'],
  },
  {
    name: 'two Authorization headers are accepted',
    file: headers,
    find: "  'authorization',\n  'host',",
    replace: "  'host',",
    tests: ['test/api-token/authentication.test.ts'],
  },
  {
    name: 'pipelined requests run concurrently',
    file: pipelining,
    find: 'if (isBehindOthers(response)) this.#add(',
    replace: 'if (false) this.#add(',
    tests: ['test/http/pipelining.test.ts'],
  },
  {
    name: 'any number of pipelined requests may wait',
    file: pipelining,
    find: 'if (this.#count === MAX_WAITING) socket.resetAndDestroy();',
    replace: '',
    tests: ['test/http/pipelining.test.ts'],
  },
  {
    name: 'If-Match: a weak tag matches',
    file: entityTag,
    find: "(tag) => !tag.startsWith('W/')",
    replace: '() => true',
    tests: ['test/user-group/version.test.ts'],
  },
  {
    name: 'If-Match: a malformed header is ignored',
    file: entityTag,
    find: 'if (!ENTITY_TAGS.test(text)) {',
    replace: 'if (false) {',
    tests: ['test/user-group/version.test.ts'],
  },
  {
    name: 'query: a duplicate parameter is accepted',
    file: query,
    find: 'if (name in values) throw',
    replace: 'if (false) throw',
    tests: ['test/bad-input/bad-url.test.ts'],
  },
  {
    name: 'query: fields in the URL are dropped silently',
    file: query,
    find: "if (encodedQueryOf(url) === '') return null;",
    replace: 'return null;',
    tests: ['test/user-group/field.test.ts'],
  },
  {
    name: 'problem: Retry-After is missing',
    file: problem,
    find: 'if (status === 429 || status === 503) {',
    replace: 'if (status === 429) {',
    tests: ['test/load/overload.test.ts'],
  },
  {
    name: 'problem: WWW-Authenticate is missing',
    file: problem,
    find: "if (status === 401) headers['www-authenticate'] = challengeOf(problem, protocol);",
    replace: '',
    tests: ['test/api-token/authentication.test.ts'],
  },
  {
    name: 'problem: a token is echoed',
    file: problem,
    find: 'return redact(text);',
    replace: 'return text;',
    tests: ['test/user-group/token-echo.test.ts'],
  },
  {
    name: 'problem: an internal error reveals its message',
    file: problem,
    find: "'The service has a bug or an unexpected failure. Its log has the details under the request id.',",
    replace: 'String(error),',
    tests: ['test/http/problem.test.ts'],
  },
  {
    name: 'log: an outage logs every failed call',
    file: problemLog,
    find: 'if (this.#lines === this.#maxLines) {',
    replace: 'if (false) {',
    tests: ['test/load/overload.test.ts'],
  },
  {
    name: 'shutdown: new requests are served until the process exits',
    file: server,
    find: "if (phase !== 'closing') return;",
    replace: 'return;',
    tests: ['test/process/shutdown.test.ts'],
  },
  {
    name: 'shutdown: responses lack Connection: close',
    file: server,
    find: "if (phase !== 'serving') reply.header('connection', 'close');",
    replace: '',
    tests: ['test/process/shutdown.test.ts'],
  },
  {
    name: 'a 405 response lacks the Allow header',
    file: server,
    find: "reply.header('allow', allow);",
    replace: '',
    tests: ['test/http/problem.test.ts'],
  },
  {
    name: 'readiness does not check the database',
    file: health,
    find: 'await isReady();',
    replace: '',
    tests: ['test/process/shutdown.test.ts'],
  },
  {
    name: 'a client that does not read is never disconnected',
    file: slowReader,
    find: 'else if (now - mark.at >= answerTimeoutMs) socket.resetAndDestroy();',
    replace: '',
    tests: ['test/load/response-backpressure.test.ts'],
  },
  {
    name: 'the memory for unread responses is unlimited',
    file: slowReader,
    find: "if (access !== 'write' && !this.#bytes.admits(tenant)) throw UNREAD;",
    replace: '',
    tests: ['test/load/response-backpressure.test.ts'],
  },
  {
    name: 'client address: X-Forwarded-For of any sender is believed',
    file: clientAddress,
    find: "return address !== '' && trustedProxies",
    replace: "return address !== '' || trustedProxies",
    tests: ['test/http/client-address.test.ts'],
  },
  {
    name: 'client address: the first address of X-Forwarded-For is believed',
    file: clientAddress,
    find: "parseHop(hops.pop() ?? '')",
    replace: "parseHop(hops.shift() ?? '')",
    tests: ['test/http/client-address.test.ts'],
  },
  {
    name: 'request id: a token of the caller is adopted',
    file: requestId,
    find: 'return redact(member) === member;',
    replace: 'return true;',
    tests: ['test/http/request-id.test.ts'],
  },
  {
    name: 'request id: an id of any length is adopted',
    file: requestId,
    find: '{1,128}$/',
    replace: '{1,}$/',
    tests: ['test/http/request-id.test.ts'],
  },
  {
    name: 'access log: the path of the request is logged',
    file: accessLogFile,
    find: '          path,\n',
    replace: '          path: request.url,\n',
    tests: ['test/http/access-log.test.ts'],
  },
  {
    name: 'metrics: unknown methods are labels',
    file: httpMetrics,
    find: 'const method = Math.max(0, METHODS.indexOf(request.method));',
    replace:
      'const method = (METHODS.includes(request.method) || METHODS.push(request.method)) && METHODS.indexOf(request.method);',
    tests: ['test/metrics/metrics.test.ts'],
  },
  {
    name: 'metrics: requests of disconnected clients stay active',
    file: httpMetrics,
    find: 'this.#active[method]!--;',
    replace: 'if (status !== null) this.#active[method]!--;',
    tests: ['test/metrics/metrics.test.ts'],
  },
  {
    name: 'credentials: Basic is accepted everywhere',
    file: credentials,
    find: "if (protocol === 'oauth') token",
    replace: 'token',
    tests: ['test/user-group/introspect.test.ts'],
  },
  {
    name: 'credentials: forward authentication accepts the API token as Bearer',
    file: credentials,
    find: "if (protocol !== 'forward-auth') token",
    replace: 'token',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: 'form: a repeated parameter is accepted',
    file: form,
    find: 'if (key in values) throw',
    replace: 'if (false) throw',
    tests: ['test/user-group/introspect.test.ts'],
  },
  {
    name: 'forward auth: a cookie replaces a header that is not valid',
    file: viewerToken,
    find: 'const token = header ?',
    replace: 'const token = header && !request.headers.cookie ?',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: 'forward auth: the first of two cookies counts',
    file: viewerToken,
    find: 'others.length > 0',
    replace: 'false',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: 'forward auth: a schema that leads to no data source is left out',
    file: forwardAuth,
    find: '!isComplete',
    replace: 'false',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: 'forward auth: any number of data sources',
    file: forwardAuth,
    find: 'references.length > MAX_DATA_SOURCES ||',
    replace: '',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: 'forward auth: headers of any size',
    file: forwardAuth,
    find: ' || bytes > MAX_HEADER_BYTES',
    replace: '',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: 'forward auth: schemas that differ in case have one header',
    file: forwardAuth,
    find: '/^[0-9a-z]+$/.test',
    replace: '/^[0-9a-z]+$/i.test',
    tests: ['test/http/forward-auth-query.test.ts'],
  },
  {
    name: 'forward auth: values are not encoded',
    file: forwardAuth,
    find: "'X-User-Group-Name': encodeURIComponent(userGroup.name)",
    replace: "'X-User-Group-Name': userGroup.name",
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: "forward auth: the origin of the viewer's page is checked",
    file: server,
    find: ' && !isForwarded(request)',
    replace: '',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: "forward auth: the preconditions of the viewer's request are refused",
    file: endpoint,
    find: " && endpoint.protocol !== 'forward-auth'",
    replace: '',
    tests: ['test/user-group/forward-auth.test.ts'],
  },
  {
    name: 'forward auth: HAProxy passes a request for which headers about the viewer do not fit',
    file: 'deploy/forward-auth/forward-auth.lua',
    find: 'is_complete and "allowed" or "incomplete"',
    replace: '"allowed"',
    tests: ['test/client-matrix/forward-auth-proxies.test.ts'],
  },
  {
    name: 'forward auth: Caddy removes the headers that Connection lists',
    file: 'deploy/forward-auth/Caddyfile',
    find: '\t\trequest_header -Connection\n',
    replace: '',
    tests: ['test/client-matrix/forward-auth-headers.test.ts'],
  },
  {
    name: 'metrics: a process whose check fails is ready',
    file: 'src/metrics/readiness.ts',
    find: '() => false,',
    replace: '() => true,',
    tests: ['test/metrics/metrics.test.ts'],
  },
];
