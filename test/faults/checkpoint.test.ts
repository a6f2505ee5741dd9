// The log is copied into the database while commits continue. After a failed sync of the database, the
// process ends, because only the log still has every change, and the next start copies all of it. Requires
// strace.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Injection, SYNC } from '../../reliability/support/injection.ts';
import { QUIET } from '../../reliability/support/program.ts';
import { canTrace } from '../../reliability/support/strace.ts';
import { createApiToken, Folder, type Service, serve } from '../support/process.ts';

const FILE = 'data/user-groups.db';
const LOG_PAGES = 10_000;
/** Each update stores them again, although it sends only a name: about 15 pages. */
const PROPERTIES = { text: 'x'.repeat(60_000) };
const CALLERS = 4;
/** Offset of the number of pages in the index of the log. */
const PAGES_OFFSET = 16;

describe('The log of SQLite', () => {
  it('restarts after a checkpoint, while changes continue', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder, { env: QUIET });
    let longest = 0;
    const changes = await changeUntil(service, token, () => {
      const pages = pagesOfLog(folder);
      longest = Math.max(longest, pages);
      return longest >= LOG_PAGES && pages < LOG_PAGES / 2;
    });
    assert.ok(longest < 2 * LOG_PAGES, `${longest} pages`);
    await assertStored(service, token, changes);
  });
});

describe('A failed sync of a checkpoint (SQLite)', {
  skip: canTrace() ? false : 'strace is not installed or not permitted',
}, () => {
  it('ends the process, and the next start has every acknowledged change', async () => {
    using folder = new Folder();
    using tools = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder, { env: QUIET });
    const target = { paths: [folder.join(FILE)], output: tools.join('calls') };
    const before = await changeUntil(service, token, () => pagesOfLog(folder) > LOG_PAGES - 500);
    const fault = { call: SYNC, error: 'EIO', when: '1+' } as const;
    const injection = await Injection.attach(service.id, target, [fault]);
    const changes = await changeUntil(service, token, () => false, before);
    await injection.end();
    const { signal, stdout } = await service.exit();
    assert.equal(signal, 'SIGKILL');
    assert.match(stdout, /"level":60.*could not sync the database file/);
    await using next = await serve(folder, { env: QUIET });
    await assertStored(next, token, changes);
  });
});

/** Number of the last acknowledged change of each user group, which is its name. */
type Changes = Map<string, number>;

/** Changes one group per caller until the condition holds or the service is gone. */
async function changeUntil(
  service: Service,
  token: string,
  isDone: () => boolean,
  before: Changes = new Map(),
): Promise<Changes> {
  const changes = new Map(before);
  let isGone = false;
  const changeGroup = async (id: string): Promise<void> => {
    for (let change = (changes.get(id) ?? 0) + 1; !isGone && !isDone(); change++) {
      // A row of another length is written completely.
      const name = String(change).padStart(8 + (change % 2), '0');
      const [method, properties] = change === 1 ? ['GET', PROPERTIES] : ['PUT', undefined];
      const body = { user_group_id: id, name, properties };
      const response = await service.call(token, method, '/api/user', body).catch(() => null);
      if (response === null) isGone = true;
      else if (response.status === 200) changes.set(id, change);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => changeGroup(`customer-${caller}`)));
  return changes;
}

/** Asserts that the changes are stored; one more may be, if its response was lost. */
async function assertStored(service: Service, token: string, changes: Changes): Promise<void> {
  for (const [id, change] of changes) {
    const { json } = await service.call(token, 'GET', '/api/user', { user_group_id: id });
    assert.ok([change, change + 1].includes(Number(json.user_group.name)), `${id}: ${json.user_group.name}`);
  }
}

function pagesOfLog(folder: Folder): number {
  return readFileSync(folder.join(`${FILE}-shm`)).readUInt32LE(PAGES_OFFSET);
}
