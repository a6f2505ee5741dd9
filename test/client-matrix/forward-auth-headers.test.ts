// Headers of forward authentication through the real proxies of deploy/forward-auth, alone and in front of a
// second, ordinary proxy: a viewer can neither remove nor add a header that says who is viewing.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  ForwardAuthSite,
  forwardingProxies,
  type RawVisit,
  type Received,
} from '../support/client-matrix/forward-auth.ts';
import { exchange } from '../support/connection/raw-connection.ts';
import { sqlite } from '../support/database.ts';
import { EmbedSite } from '../support/embed-token/site.ts';
import { suiteStack } from '../support/suite.ts';

/** Headers that the service sends; `names` adds those that it may send later. */
const sentNames = ['X-User-Group-Id', 'X-User-Group-Name', 'X-User-Group-Data-Source-40'];
const names = [...sentNames, 'X-User-Group-Data-Source-99', 'X-User-Group-Property-plan'];
/** Every character of a header name (RFC 9110, section 5.6.2) that is neither a letter nor a digit. */
const separators = [..."!#$%&'*+-.^_`|~"];
/** Spellings that CGI, WSGI, PHP or a framework may read as one of these names. */
const spellings = names.flatMap((name) => [
  ...separators.flatMap((separator) => [
    name.replaceAll('-', separator),
    name.replaceAll('-', separator.repeat(2)),
    name.replace('-', separator.repeat(2)),
    name.replace('User-', `User${separator}-`),
    name.replace('Group-', `Group${separator}`),
    `${separator}${name}`,
    `${name}${separator}`,
  ]),
  ...['-', '_', '.'].map((separator) => `HTTP_${name}`.replaceAll(/[-_]/g, separator).toUpperCase()),
  name.toLowerCase(),
  name.toUpperCase(),
  name.replaceAll('-', ''),
  name.replaceAll('-', '_').toUpperCase(),
]);

/** Request heads that name a header in a way that may make a proxy remove or use it. */
const listings: [description: string, head: (name: string) => string[]][] = [
  ['Connection', (name) => [`Connection: ${name}`]],
  ['Connection in lower case', (name) => [`connection: ${name.toLowerCase()}`]],
  ['Connection in upper case', (name) => [`CONNECTION: CLOSE, ${name.toUpperCase()}`]],
  ['Connection after close', (name) => [`Connection: close, ${name}`]],
  ['Connection before keep-alive', (name) => [`Connection: ${name},keep-alive`]],
  ['Connection with spaces and tabs', (name) => [`Connection: \t ${name} \t, \tclose`]],
  ['Connection in quotes', (name) => [`Connection: "${name}", '${name}'`]],
  ['Connection with empty elements', (name) => [`Connection: ,,${name},,`]],
  ['Connection with underscores', (name) => [`Connection: ${name.replaceAll('-', '_')}, ${name}`]],
  ['two Connection headers', (name) => ['Connection: keep-alive', `Connection: ${name}`]],
  ['a Connection header before close', (name) => [`Connection: ${name}`, 'Connection: close']],
  ['a folded Connection header', (name) => ['Connection: keep-alive,', ` ${name}`]],
  ['a folded, empty Connection header', (name) => ['Connection:', `\t${name}`]],
  ['Proxy-Connection', (name) => [`Proxy-Connection: ${name}`, 'Connection: Proxy-Connection']],
  ['Keep-Alive', (name) => [`Keep-Alive: ${name}`, 'Connection: keep-alive']],
  ['TE', (name) => [`TE: trailers, ${name}`, 'Connection: TE']],
  ['Trailer', (name) => [`Trailer: ${name}`]],
  ['Connection without an upgrade', (name) => ['Connection: Upgrade', `Connection: ${name}`]],
  ['Connection with an incomplete upgrade', (name) => [`Connection: ${name}`, 'Upgrade: websocket']],
  ['Connection with another upgrade', (name) => [`Connection: Upgrade, ${name}`, 'Upgrade: h2c']],
];
const hopByHop = ['proxy-connection', 'keep-alive', 'te', 'http2-settings'];

const ordinary = [undefined, ...forwardingProxies.filter(({ name }) => !['Envoy', 'Traefik'].includes(name))];

for (const kind of forwardingProxies) {
  for (const second of ordinary) {
    const missing = [kind, second].find((proxy) => proxy !== undefined && proxy.command === undefined);
    const skip = missing !== undefined && `${missing.name} is not installed (${missing.install})`;
    const chain = second === undefined ? kind.name : `${kind.name} before ${second.name}`;
    describe(`Headers through ${chain}`, { skip }, () => {
      const stack = suiteStack();
      let embed: EmbedSite;
      let site: ForwardAuthSite;
      let head: string[];
      before(async () => {
        embed = stack.use(await EmbedSite.start(sqlite));
        const { token: apiToken } = await embed.service.apiToken({ permission: 'resolve' });
        site = stack.use(await ForwardAuthSite.start(kind, embed.service.url, apiToken, { second }));
        const group = { user_group_id: 'acme', name: 'Acme', mapping: { 40: 'orders' } };
        head = headOf(await embed.createGroup(group));
      });

      const headOf = (token: string) => [
        'GET /page HTTP/1.1',
        'Host: 127.0.0.1',
        `X-User-Group-Token: ${token}`,
      ];
      const acme = {
        'x-user-group-id': 'acme',
        'x-user-group-name': 'Acme',
        'x-user-group-data-source-40': 'orders',
      };
      const assertAcme = ({ status, received }: RawVisit, message: string): void =>
        assert.deepEqual([status, received && viewerIn(received)], [200, acme], message);
      const assertAcmeOrRefused = (visit: RawVisit, message: string): void => {
        if (visit.received !== undefined) assertAcme(visit, message);
        else assert.ok([400, 401, 411].includes(visit.status), `${message}: ${visit.status}`);
      };

      it('keeps every header about the viewer, whatever the request lists as hop-by-hop', async () => {
        for (const [description, lines] of listings)
          for (const list of [...sentNames, sentNames.join(', ')])
            assertAcmeOrRefused(await site.visitRaw([...head, ...lines(list)]), `${description}: ${list}`);
      });

      it('passes on no hop-by-hop header that could name another one', async () => {
        const lines = [
          'Connection: X-User-Group-Id, Upgrade, HTTP2-Settings',
          'Upgrade: h2c',
          ...hopByHop.map((name) => `${name}: X-User-Group-Id`),
        ];
        const { status, received } = await site.visitRaw([...head, ...lines]);
        const isHttp2 = kind.speaksH2c && status === 101;
        if (!isHttp2) assert.equal(status, 200);
        // The proxy may pass the request on only after the viewer has continued in HTTP/2.
        if (isHttp2 && received === undefined) return;
        const headers = pairsOf(received!.headers);
        for (const [name, value] of headers) {
          assert.ok(!hopByHop.includes(name), name);
          assert.ok(name !== 'connection' || /^(?:close|keep-alive)$/i.test(value), value);
          assert.notEqual(name, 'upgrade');
        }
      });

      it('opens a WebSocket with every header about the viewer, unless a proxy ends it', async () => {
        const lines = [
          `Connection: keep-alive, Upgrade, ${sentNames.join(', ')}`,
          'Upgrade: websocket',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Sec-WebSocket-Version: 13',
        ];
        const { status, received } = await site.visitRaw([...head, ...lines]);
        // nginx ends it if it is the second proxy, which has default settings.
        assert.equal(status, kind.endsWebSockets || second?.name === 'nginx' ? 200 : 101);
        assert.deepEqual(viewerIn(received!), acme);
      });

      it('opens no tunnel for CONNECT, through which a viewer could send any header', async () => {
        site.received.length = 0;
        const body =
          'GET /page HTTP/1.1\r\nHost: 127.0.0.1\r\nX-User-Group-Id: evil\r\nConnection: close\r\n\r\n';
        for (const lines of [[], [`Content-Length: ${body.length}`, 'Connection: close']]) {
          const tunnel = ['CONNECT 127.0.0.1:80 HTTP/1.1', ...head.slice(1), ...lines, '', ''];
          const { answers } = await exchange(site.url, tunnel.join('\r\n') + body);
          assert.ok(
            answers.every(({ status }) => status >= 400),
            `${answers.map(({ status }) => status)}`,
          );
        }
        for (const received of site.received)
          assertAcme({ status: 200, received }, `${received.method} ${received.url}`);
      });

      it('passes on no header of the viewer that a dashboard could read as one of these', async () => {
        for (let start = 0; start < spellings.length; start += 40) {
          const batch = spellings.slice(start, start + 40);
          const visit = await site.visitRaw([...head, ...batch.map((name) => `${name}: evil`)]);
          assertAcme(visit, batch.join());
        }
      });

      it('passes on no header about the viewer with whitespace in or around its name', async () => {
        for (const name of names) {
          for (const line of [` ${name}`, `\t${name}`, `${name} `, `${name}\t`, name.replace('-', ' ')])
            assertAcmeOrRefused(await site.visitRaw([...head, `${line}: evil`]), line);
          for (const fold of [' ', '\t'])
            assertAcmeOrRefused(
              await site.visitRaw([...head, 'A: b', `${fold}${name}: evil`]),
              `folded ${name}`,
            );
        }
      });

      it('passes on no header about the viewer in a trailer', async () => {
        const chunked = ['Transfer-Encoding: chunked', 'Trailer: X-User-Group-Id'];
        const lines = [head[0]!.replace('GET', 'POST'), ...head.slice(1), ...chunked];
        const visit = await site.visitRaw(lines, '2\r\nhi\r\n0\r\nX-User-Group-Id: evil\r\n\r\n');
        assertAcmeOrRefused(visit, 'a trailer');
        assert.deepEqual(visit.received?.trailers ?? [], []);
      });
    });
  }
}

/** Returns names in lower case with their values. */
function pairsOf(headers: readonly string[]): [name: string, value: string][] {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), headers[index + 1]!] as [string, string]] : [],
  );
}

/** Returns the headers that a dashboard could read as headers about the viewer. */
function viewerIn({ headers }: Received): Record<string, string> {
  const viewer = pairsOf(headers).filter(([name, value]) => name.includes('group') || value === 'evil');
  assert.equal(new Set(viewer.map(([name]) => name)).size, viewer.length, 'a repeated header');
  return Object.fromEntries(viewer);
}
