// A process that is killed loses nothing that it has answered. `npm run rig:crash -- --kills 200` is the long run.

import { it } from 'node:test';
import { crash } from '../../rig/crash.ts';
import { Random } from '../../rig/random.ts';
import { describeOnEachDatabase } from '../database.ts';

const KILLS = 10;

describeOnEachDatabase('kill -9 under load', (kind) => {
  it(`loses no acknowledged change, does none by half and none twice, in ${KILLS} kills`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    const processes = kind.name === 'SQLite' ? 1 : 2;
    await crash({ kind, kills: KILLS, processes, seed, onKill: () => {} });
  });
});
