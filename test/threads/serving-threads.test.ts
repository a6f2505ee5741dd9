// A process with several serving threads: all of them see a change that one has acknowledged, and the limits
// of the process count all of them.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { withDeadline } from '../../src/scheduling/timeout.ts';
import { PinnedClient } from '../support/connection/pinned-client.ts';
import { describeOnEachDatabase, postgres, sqlite } from '../support/database.ts';
import { Scrape } from '../support/metrics.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';
import { Receiver } from '../support/webhooks/receiver.ts';

const THREADS = 3;
const ROUNDS = 20;
const LIMIT = 20;
const REQUESTS = 'http_server_request_duration_seconds_count';
/** Longer than Prometheus waits. */
const SCRAPE_MS = 20_000;

describeOnEachDatabase('Serving threads', (database) => {
  const stack = suiteStack();
  let service: TestService;
  let clients: PinnedClient[];
  before(async () => {
    const env = {
      UGS_THREADS: String(THREADS),
      UGS_METRICS_ADDRESS: '127.0.0.1:0',
      UGS_WEBHOOK_ALLOW_PRIVATE: 'on',
    };
    service = stack.use(await TestService.start(database, { env }));
    const { token } = await service.apiToken({ permission: 'admin' });
    clients = await PinnedClient.ofEachThread(service.url, token, THREADS);
    for (const client of clients) stack.use(client);
  });

  it('see every acknowledged change immediately', async () => {
    let { token } = (await clients[0]!.call('GET', '/api/user', { user_group_id: 'seen', name: 'Seen' })).json
      .user_group;
    for (let round = 0; round < ROUNDS; round++) {
      const [writer, ...others] = rotated(clients, round);
      const rotation = await writer!.call('POST', '/api/user', { current_token: token });
      const replaced = token;
      token = rotation.json.user_group.token;
      await Promise.all(
        others.map(async (reader) => {
          assert.equal((await reader.call('POST', '/v1/resolve', { token: replaced })).status, 404);
          assert.equal((await reader.call('POST', '/v1/resolve', { token })).status, 200);
        }),
      );
    }
  });

  it('refuse an API token as soon as another thread has revoked it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [writer, reader] = rotated(clients, round);
      const created = await service.apiToken();
      using caller = new PinnedClient(service.url, created.token);
      assert.equal((await caller.call('GET', '/v1/user-groups?limit=1')).status, 200);
      const revoked = await writer!.call('DELETE', `/v1/api-tokens/${created.id}`);
      assert.equal(revoked.status, 204, JSON.stringify(revoked.json));
      assert.equal((await caller.call('GET', '/v1/user-groups?limit=1')).status, 401);
      assert.equal((await reader!.call('GET', '/v1/user-groups?limit=1')).status, 200);
    }
  });

  it('create one group for concurrent first calls', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const body = { user_group_id: `first-${round}`, name: 'First' };
      const created = await Promise.all(clients.map((client) => client.call('GET', '/api/user', body)));
      const tokens = new Set(created.map(({ json }) => json.user_group.token));
      assert.equal(tokens.size, 1);
      assert.equal(created.filter(({ json }) => json.new_user_group).length, 1);
    }
  });

  it('lose none of concurrent patches of one group', async () => {
    const body = { user_group_id: 'patched', name: 'Patched' };
    await clients[0]!.call('GET', '/api/user', body);
    const patches = Array.from({ length: ROUNDS }, (_, index) =>
      served(() =>
        clients[index % THREADS]!.call('PATCH', '/v1/user-groups/patched', {
          properties: { [`p${index}`]: index },
        }),
      ),
    );
    for (const { status } of await Promise.all(patches)) assert.equal(status, 200);
    const { json } = await clients[1]!.call('GET', '/v1/user-groups/patched');
    assert.equal(Object.keys(json.user_group.properties).length, ROUNDS);
  });

  it('check properties in the same validator', async () => {
    const schema = { type: 'object', properties: { plan: { enum: ['gold'] } } };
    const rule = { schema, mode: 'enforce' };
    const put = await served(() => clients[0]!.call('PUT', '/v1/property-schema', rule));
    assert.equal(put.status, 201, JSON.stringify(put.json));
    for (const [index, client] of clients.entries()) {
      const id = `checked-${index}`;
      const body = { user_group_id: id, name: 'C', properties: { plan: 'x' } };
      const refused = await served(() => client.call('GET', '/api/user', body));
      assert.deepEqual([refused.status, refused.json.code], [422, 'properties_invalid']);
      const invalid = { schema: { pattern: '(' }, mode: 'enforce' };
      const put = await served(() => client.call('PUT', '/v1/property-schema', invalid));
      assert.equal(put.status, 400);
    }
    await clients[0]!.call('DELETE', '/v1/property-schema');
  });

  it('have their webhooks sent without waiting for the next poll', async () => {
    await using receiver = await Receiver.start();
    const endpoint = { url: receiver.url, event_types: ['user_group.created'] };
    const put = await clients[0]!.call('PUT', '/v1/webhook-endpoints/threads', endpoint);
    assert.equal(put.status, 201, JSON.stringify(put.json));
    for (const [index, client] of clients.entries()) {
      await client.call('GET', '/api/user', { user_group_id: `sent-${index}`, name: 'S' });
      await eventually('the delivery', () => receiver.received.length === index + 1, 900);
    }
  });

  it('are summed in the metrics, and each has its own event loop there', async () => {
    const text = await (await fetch(service.app.metricsUrl!)).text();
    const [, count] = /duration_seconds_count\{[^}]*"\/healthz"[^}]*"200"\} (\d+)/.exec(text)!;
    assert.ok(Number(count) >= THREADS);
    for (let thread = 0; thread < THREADS; thread++)
      assert.match(text, new RegExp(`^nodejs_eventloop_lag_p99_seconds\\{thread="${thread}"\\} `, 'm'));
    for (const name of [
      'process_start_time_seconds',
      'user_group_service_ready 1',
      'user_group_service_build_info',
    ])
      assert.equal(text.split(`\n${name}`).length, 2, name);
  });
});

describe('The metrics of a process that ends', () => {
  it('are still complete when its other threads have exited', async (t) => {
    const env = { UGS_THREADS: '2', UGS_METRICS_ADDRESS: '127.0.0.1:0' };
    const service = await TestService.start(sqlite, { env });
    const { eventRetention, metricsUrl } = service.app;
    const countRequests = async (): Promise<number> => (await Scrape.of(metricsUrl!)).sum(REQUESTS);
    for (const client of await PinnedClient.ofEachThread(service.url, service.token, 2))
      client[Symbol.dispose]();
    const counted = await eventually('two counted requests', async () => {
      const count = await countRequests();
      return count >= 2 && count;
    });
    // The main thread stops retention once the other threads have exited.
    const [exited, scraped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stop = eventRetention.stop.bind(eventRetention);
    t.mock.method(eventRetention, 'stop', async () => {
      exited.resolve();
      await scraped.promise;
      await stop();
    });
    const ended = service.end();
    await exited.promise;
    const last = countRequests();
    await withDeadline(
      performance.now() + SCRAPE_MS,
      last,
      () => new Error('the scrape is not answered'),
    ).finally(scraped.resolve);
    assert.ok((await last) >= counted);
    await ended;
  });
});

describeOnEachDatabase('The limits of a process', (database) => {
  it('count the requests of all its threads', async () => {
    const env = {
      UGS_THREADS: '2',
      UGS_RATE_LIMIT_PER_MINUTE: String(LIMIT),
      UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: String(LIMIT),
    };
    await using service = await TestService.start(database, { env });
    const calls = async (token: string | null) => {
      const clients = Array.from({ length: 2 * LIMIT }, () => new PinnedClient(service.url, token));
      const answers = await Promise.all(
        clients.map((client) => client.call('GET', '/v1/user-groups?limit=1')),
      );
      for (const client of clients) client[Symbol.dispose]();
      assert.equal(new Set(answers.map(({ thread }) => thread)).size, 2);
      return answers.map(({ status }) => status).toSorted((a, b) => a - b);
    };
    const { token } = await service.apiToken();
    const expected = (status: number) => [...Array(LIMIT).fill(status), ...Array(LIMIT).fill(429)];
    assert.deepEqual(await calls(token), expected(200));
    assert.deepEqual(await calls(null), expected(401));
  });
});

/** Returns the elements, starting with a different one in each round. */
function rotated<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

describe('The threads of a process on PostgreSQL', () => {
  it('are so few that each has two connections of the pool, and the log says why', async () => {
    await using service = await TestService.start(postgres, {
      env: { UGS_THREADS: '4', UGS_POSTGRES_POOL_SIZE: '5' },
    });
    assert.equal(service.app.threads, 2);
    assert.ok(
      service.logEntries.some(({ msg }) => String(msg).startsWith('fewer serving threads than UGS_THREADS')),
    );
    using client = new PinnedClient(service.url, service.token);
    assert.equal((await client.call('GET', '/readyz')).status, 200);
  });
});
