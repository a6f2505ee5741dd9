// An unresponsive database: a frozen machine, a firewall that drops connections, a broken route. It causes no
// error, and is only detected by timeouts.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/connection/free-port.ts';
import { RESPONSE_LIMIT_MS } from '../support/faults/callers.ts';
import { FAULT_MS, Installation } from '../support/faults/installation.ts';
import { Scrape } from '../support/metrics.ts';
import type { Service } from '../support/process.ts';
import { starvedMs } from '../support/starvation.ts';

/** Number of concurrent calls to a busy process. */
const CROWD = 1_200;
/** Shorter than the connect timeout. */
const SOON_MS = 1_800;
const SHUTDOWN_LIMIT_MS = 5_000;
/** Timeout of Prometheus. */
const SCRAPE_LIMIT_MS = 10_000;

describe('An unresponsive database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start({ processes: 2 });
  });
  beforeEach(async () => {
    site.proxy.heal();
    await site.waitForRecovery();
  });
  after(() => site[Symbol.asyncDispose]());

  it('causes a 503 within the limit, makes the service not ready, and loses no acknowledged change', async (test) => {
    using callers = site.callers();
    await sleep(500);
    site.proxy.silence('all');
    await site.waitUntilNotReady();
    await sleep(FAULT_MS);
    site.proxy.heal();
    await site.waitForRecovery(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
    assert.ok(callers.unavailable > 0);
  });

  it('causes a 503 for all of many concurrent calls as soon as for the first', async () => {
    site.proxy.silence('all');
    const [service] = site.services as [Service];
    const { url } = service;
    const startedAt = performance.now();
    const before = starvedMs(service.id);
    const crowd = Array.from({ length: service.callers(CROWD) }, async () => {
      // Opens a connection for each call. With fetch, sending the calls would take seconds on a busy machine.
      const request = http.request(`${url}/v1/resolve`, {
        agent: false,
        method: 'POST',
        headers: { authorization: `Token ${site.token}` },
      });
      request.end('{"token":"unknown"}');
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      const { code } = (await json(response)) as { code: string };
      assert.equal(response.statusCode, 503);
      return { code, at: performance.now() };
    });
    const responses = await Promise.all(crowd);
    const busyMs = service.busyMs + 2 * (starvedMs(service.id) - before);
    for (const { at } of responses) assert.ok(at - startedAt < RESPONSE_LIMIT_MS + busyMs);
    // Calls beyond the queue limit are rejected earlier.
    const unavailableAt = responses.filter(({ code }) => code === 'database_unavailable').map(({ at }) => at);
    assert.ok(unavailableAt.length > 0);
    const spreadMs = Math.max(...unavailableAt) - Math.min(...unavailableAt);
    assert.ok(
      spreadMs < SOON_MS + busyMs,
      `the last response arrived ${Math.round(spreadMs)} ms after the first`,
    );
  });

  it('causes an immediate 503 for calls after the first has failed', async () => {
    site.proxy.silence('all');
    await site.get('first');
    const startedAt = performance.now();
    assert.equal((await site.get('second')).status, 503);
    assert.ok(performance.now() - startedAt < SOON_MS + site.services[0]!.busyMs);
  });

  it('on open connections only is avoided with new connections, and all callers are served again', async (test) => {
    using callers = site.callers();
    await sleep(200);
    site.proxy.silence('open');
    await site.waitForRecovery(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
  });

  it('on one connection fails only the requests on it', async () => {
    const lost = site.proxy.once('find_user_groups', 'silence');
    const first = site.get('one', 'One');
    await lost;
    assert.equal((await site.get('other', 'Other')).status, 200);
    assert.equal((await first).status, 503);
  });

  it('does not apply an update that timed out over one acknowledged since', async () => {
    await site.get('late', 'Name');
    void site.proxy.once('update_user_groups', 'silence');
    assert.equal((await site.put('late', 'Timed out')).status, 503);
    assert.equal((await site.put('late', 'Acknowledged')).status, 200);
    site.proxy.heal();
    await sleep(500);
    assert.equal((await site.get('late')).json.user_group.name, 'Acknowledged');
  });

  it('does not delay a scrape of the metrics, even if the database may take longer', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const service = await site.serve({
      UGS_METRICS_ADDRESS: address,
      UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '30000',
      UGS_POSTGRES_CONNECT_TIMEOUT_MS: '30000',
    });
    site.proxy.silence('all');
    const startedAt = performance.now();
    const scrape = await Scrape.of(`http://${address}/metrics`);
    assert.ok(performance.now() - startedAt < SCRAPE_LIMIT_MS);
    assert.equal(scrape.sum('user_group_service_ready'), 0);
    assert.equal(scrape.sum('webhook_deliveries_pending'), Number.NaN);
    await service.kill();
    site.services.pop();
  });

  // Last, because it stops a process of the installation.
  it('does not prevent a clean shutdown', async () => {
    const service = site.services.at(-1)!;
    site.proxy.silence('all');
    service.signal('SIGTERM');
    assert.equal((await service.exit(SHUTDOWN_LIMIT_MS)).code, 0);
    site.services.pop();
  });
});
