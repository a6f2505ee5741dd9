// Acknowledged changes are on disk, not in a cache. `npm run rig:power-cut -- --cuts 1000` is the long run. Requires
// strace.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Folder } from '../../test/support/process.ts';
import { type Recording, readRecording, record } from '../power-cut/recording.ts';
import { cutPower } from '../power-cut.ts';
import { Random } from '../support/random.ts';
import { canTrace } from '../support/strace.ts';

const skip = canTrace() ? false : 'strace is not installed or not permitted';

describe('A power cut (SQLite)', { skip }, () => {
  const folder = new Folder();
  const seed = Random.newSeed();
  let recording: Recording;

  before(async () => {
    await record({
      folder: folder.path,
      random: new Random(seed),
      rounds: 60,
      withCheckpoint: false,
      failsSyncs: false,
    });
    recording = await readRecording(folder.path);
  });
  after(() => folder[Symbol.dispose]());

  const faultsOf = async (cuts: number, isLying: boolean, firstSeed = seed): Promise<string[]> => {
    const faults: string[] = [];
    const onCut = (_: number, fault: string | null) => fault !== null && faults.push(fault);
    await cutPower({ recording, cuts, seed: firstSeed, isLying, onCut });
    return faults;
  };

  it('loses no acknowledged change at 30 moments of a recorded run', async (test) => {
    test.diagnostic(`seed ${seed}`);
    assert.deepEqual(await faultsOf(30, false), []);
  });

  it('is detected as losing changes if the disk ignores syncs', async () => {
    let faults: string[] = [];
    for (let cut = 0; cut < 20 && faults.length === 0; cut++) faults = await faultsOf(1, true, seed + cut);
    assert.notDeepEqual(faults, []);
  });
});
