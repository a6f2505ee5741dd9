// A killed process loses no webhook. `npm run rig:webhooks -- --kills 200` is the long run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DatabaseKind, describeOnEachDatabase } from '../../test/support/database.ts';
import { PromiseBroken } from '../support/ledger.ts';
import { Random } from '../support/random.ts';
import { killDelivering } from '../webhooks.ts';

const KILLS = 8;

// Concurrent, because they mostly wait until the claims of killed processes expire.
describe('kill -9 while webhooks are delivered', { concurrency: true }, () => {
  describeOnEachDatabase('on', suite, { concurrency: true });
});

function suite(kind: DatabaseKind): void {
  const seed = Random.newSeed();
  const options = { kind, seed, processes: kind.name === 'SQLite' ? 1 : 2, onKill: () => {} };

  it(`loses none in ${KILLS} kills`, async (test) => {
    const { duplicates, events } = await killDelivering({ ...options, kills: KILLS });
    test.diagnostic(`seed ${seed}, ${events} events, ${duplicates} duplicates`);
  });

  it('is detected when it loses one', async () => {
    // Adds an event without a delivery; deleting a delivery would not be reliable, because it may have been
    // sent already.
    const corruptingSql = `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id,
        position, type, occurred_at, actor)
      select bucket, workspace_id, environment, target_type, 'lost', event_id || '-lost',
        (select max(position) + 1 from events), type, occurred_at, actor
      from events where type = 'user_group.created' order by event_id limit 1`;
    await assert.rejects(killDelivering({ ...options, kills: 4, corruptingSql }), PromiseBroken);
  });
}
