// A process that is killed loses nothing that it has answered. `npm run rig:crash -- --kills 200` is the long run.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { crash } from '../../rig/crash.ts';
import { PromiseBroken } from '../../rig/ledger.ts';
import { Random } from '../../rig/random.ts';
import { describeOnEachDatabase } from '../database.ts';

const KILLS = 20;
const OLDEST = 'where team_id = (select min(team_id) from user_groups)';

describeOnEachDatabase('kill -9 under load', (kind) => {
  const seed = Random.newSeed();
  const options = { kind, seed, processes: kind.name === 'SQLite' ? 1 : 2, onKill: () => {} };

  it(`loses no acknowledged change, does none by half and none twice, in ${KILLS} kills`, async (test) => {
    test.diagnostic(`seed ${seed}`);
    await crash({ ...options, kills: KILLS });
  });

  for (const [loss, harm] of [
    ['a group', `delete from user_groups ${OLDEST}`],
    ['a change', `update user_groups set version = version - 1 ${OLDEST}`],
  ] as const) {
    it(`would be found to lose ${loss}`, async () => {
      await assert.rejects(crash({ ...options, kills: 6, harm }), PromiseBroken);
    });
  }
});
