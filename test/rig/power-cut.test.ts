// What the service has acknowledged is on the disk, not in a cache. `npm run rig:power-cut -- --cuts 1000` is the long
// run. Needs strace.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cutPower } from '../../rig/power-cut.ts';
import { Random } from '../../rig/random.ts';
import { type Recording, readRecording, record } from '../../rig/recording.ts';
import { canTrace } from '../../rig/strace.ts';
import { Folder } from '../process.ts';

const skip = canTrace() ? false : 'strace is not installed, or may not be used';

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

  const faultsOf = async (cuts: number, isLying: boolean): Promise<string[]> => {
    const faults: string[] = [];
    const onCut = (_: number, fault: string | null) => fault !== null && faults.push(fault);
    await cutPower({ recording, cuts, seed, isLying, onCut });
    return faults;
  };

  it('loses no acknowledged change, at 60 moments of the life of a database', async (test) => {
    test.diagnostic(`seed ${seed}`);
    assert.deepEqual(await faultsOf(60, false), []);
  });

  it('would be found to lose some, if the disk did not do what a sync asks for', async () => {
    assert.notDeepEqual(await faultsOf(20, true), []);
  });
});
