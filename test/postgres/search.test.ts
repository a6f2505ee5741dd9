// A search reads the groups after it has found them. A change in between must not hide one.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConsoleBrowser } from '../support/console.ts';
import { postgres } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { elementsOf } from '../support/html.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

const LIST = '/console/user-groups?search=shop';
/** Number of rows on a page. */
const PAGE = 50;
const DELAY_MS = 400;

it('A search in the console misses no group even if the last one on a page gets another name meanwhile', async () => {
  const database = await postgres.create();
  await using proxy = await FaultProxy.start(database.url);
  await using service = await TestService.start(postgres, { database, env: { DATABASE_URL: proxy.url } });
  const browser = await ConsoleBrowser.signIn(service);
  const ids = Array.from({ length: PAGE + 2 }, (_, index) => `shop-${String(index).padStart(3, '0')}`);
  const groups = Object.fromEntries(ids.map((id) => [id, { name: id }]));
  await storeUserGroups(service.app.context.store, 'default', groups);
  let renamed: Promise<unknown> | undefined;
  proxy.decide = (subject) => {
    if (subject === 'search_user_groups') {
      // The server has found the groups by now, but the service does not know them yet.
      proxy.delayMs = DELAY_MS;
      renamed = sleep(DELAY_MS / 2).then(() =>
        runSql(database, `update user_groups set name = 'z, a shop' where provided_id = '${ids[PAGE - 1]}'`),
      );
    } else proxy.delayMs = 0;
    return 'pass';
  };
  const first = await browser.get(LIST);
  await renamed;
  proxy.decide = () => 'pass';
  const next = elementsOf(first.text).find(({ name, text }) => name === 'a' && text === 'Next page')!;
  const second = await browser.get(next.attributes.href!.replaceAll('&amp;', '&'));
  for (const id of ids) assert.ok((first.text + second.text).includes(`value="${id}"`), id);
});
