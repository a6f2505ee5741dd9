// Requests of callers that the service does not know delay no others: the health checks of each client, and the pages
// of people who are signed in, have turns of their own.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mintApiToken } from '../../src/domain/token.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { sqlite } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const CONNECTIONS = 400;
const unknown = mintApiToken().reveal();

function get(path: string, header = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`;
}

describe('While many unknown callers send requests', () => {
  // Other threads would have other queues. Without a limit, because refusals beyond it are delayed.
  const env = {
    UGS_THREADS: '1',
    UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: '0',
    UGS_TRUSTED_PROXIES: '127.0.0.1',
  };
  const service = TestService.of(sqlite, { env });
  let connections: readonly RawConnection[] = [];
  let rounds = 0;
  let cookie = '';
  const isAnswered = ({ exchange }: RawConnection) => exchange.answers.length === rounds;
  before(async () => {
    ({ cookie } = await ConsoleBrowser.signIn(service));
    const open = Array.from({ length: CONNECTIONS + 1 }, () => RawConnection.open(service.url));
    connections = await Promise.all(open);
    // The event loop accepts one connection per turn; after this round, all are accepted.
    rounds++;
    for (const connection of connections) connection.write(get('/healthz'));
    await eventually('all responses', () => connections.every(isAnswered));
  });
  after(() => {
    for (const connection of connections) connection.leave();
  });

  /** Sends the request after those of the others. Returns how many of these get their responses first. */
  async function requestsBefore(request: string, other: string): Promise<number> {
    const [own, ...others] = connections as [RawConnection, ...RawConnection[]];
    // Two callers, because those of one alone do not take turns.
    for (const token of [service.token, unknown])
      await service.call('GET', '/v1/whoami', undefined, { token });
    rounds++;
    for (const connection of others) connection.write(other);
    own.write(request);
    while (!isAnswered(own)) await nextTurn();
    const before = others.filter(isAnswered).length;
    assert.equal(own.exchange.answers.at(-1)!.status, 200);
    await eventually('the other responses', () => others.every(isAnswered));
    return before;
  }

  for (const path of ['/healthz', '/readyz', '/console/user-groups'])
    it(`GET ${path} does not wait for them`, async () => {
      const header = path.startsWith('/console') ? `Cookie: ${cookie}\r\n` : '';
      const other = get('/v1/whoami', `Authorization: Token ${unknown}\r\n`);
      const before = await requestsBefore(get(path, header), other);
      assert.ok(before < CONNECTIONS / 2, `${before} responses before it`);
    });

  it('a health check does not wait for those from other addresses', async () => {
    const own = get('/healthz', 'X-Forwarded-For: 198.51.100.1\r\n');
    const before = await requestsBefore(own, get('/healthz'));
    assert.ok(before < CONNECTIONS / 2, `${before} responses before it`);
  });
});
