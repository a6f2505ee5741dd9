// Tables of the console in a window that is just wide enough for them: none is scrolled to the side, and each id of ordinary
// length is in one piece.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { launchBrowser, skipsBrowser } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { Receiver, respondWith } from '../support/webhooks/receiver.ts';

/** In smaller windows the rows are cards. */
const WIDTH = 901;
const IDS = ['acme-corp-7', 'globex-inc-eu-west', 'an-id-of-24-characters-1'];
const PAGES = [
  '/console/user-groups',
  '/console/events',
  '/console/webhooks',
  '/console/webhooks/crm',
  '/console/api-tokens',
];
const SCROLLED =
  "[...document.querySelectorAll('.table')].filter((table) => table.scrollWidth > table.clientWidth).length";
const BROKEN_IDS =
  "[...document.querySelectorAll('td .id')].filter((id) => id.getClientRects().length > 1).map((id) => id.textContent)";

describe('The tables of the console', { skip: skipsBrowser }, () => {
  it('fit into a small window, and break no id of ordinary length', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    await using service = await TestService.start(sqlite, { env: { UGS_WEBHOOK_ALLOW_PRIVATE: 'on' } });
    const { token } = await service.apiToken({ permission: 'admin', name: 'support' });
    const call = async (method: 'GET' | 'PUT', path: string, body?: object) => {
      const response = await served(() => service.call(method, path, body, { token }));
      assert.ok(response.status < 300, response.text);
      return response.json;
    };
    await call('PUT', '/v1/webhook-endpoints/crm', { url: receiver.url, event_types: ['*'] });
    for (const id of IDS)
      await call('PUT', `/v1/user-groups/${id}`, {
        name: 'Acme',
        mapping: { 40: 'orders-eu' },
        properties: { plan: 'gold' },
      });
    await eventually('an attempt has failed', async () => {
      const { deliveries } = await call('GET', '/v1/webhook-endpoints/crm/deliveries');
      return deliveries.some(({ attempts }: { attempts: number }) => attempts > 0) ? true : null;
    });
    await using browser = await launchBrowser();
    const page = await browser.newPage({ baseURL: service.url, viewport: { width: WIDTH, height: 800 } });
    await page.goto('/');
    await page.getByLabel('API token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
    for (const path of PAGES) {
      await page.goto(path);
      assert.equal(await page.locator('thead').first().isVisible(), true, path);
      assert.equal(await page.evaluate(SCROLLED), 0, path);
      assert.deepEqual(await page.evaluate(BROKEN_IDS), [], path);
    }
  });
});
