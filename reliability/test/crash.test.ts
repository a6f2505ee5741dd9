// A killed process loses no acknowledged change. `npm run rig:crash -- --kills 200` is the long run.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../../test/support/database.ts';
import { crash } from '../crash.ts';
import { PromiseBroken } from '../support/ledger.ts';
import { Random } from '../support/random.ts';

const KILLS = 10;
const OLDEST = 'where team_id = (select min(team_id) from user_groups)';

describeOnEachDatabase('kill -9 under load', (kind) => {
  const seed = Random.newSeed();
  const options = { kind, seed, processes: kind.name === 'SQLite' ? 1 : 2, onKill: () => {} };

  it(`loses no acknowledged change, and applies none partially or twice, in ${KILLS} kills`, async (test) => {
    test.diagnostic(`seed ${seed}`);
    await crash({ ...options, kills: KILLS });
  });

  for (const [loss, corruptingSql] of [
    ['a group', `delete from user_groups ${OLDEST}`],
    ['a change', `update user_groups set version = version - 1 ${OLDEST}`],
  ] as const) {
    it(`is detected when it loses ${loss}`, async () => {
      await assert.rejects(crash({ ...options, kills: 6, corruptingSql }), PromiseBroken);
    });
  }
});
