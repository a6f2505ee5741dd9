// Node runs the contents of the compile cache without checking them, so only the user of the process may
// write there.

import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { describe, it } from 'node:test';
import { Folder, serve } from '../support/process.ts';

const skip = process.env.TEST_EXECUTABLE !== undefined && 'the single executable has no compile cache';
const { uid } = userInfo();
const OTHER_UID = 65_534;

describe('The compile cache', { skip }, () => {
  /**
   * Starts a service with two threads, and returns the folder of its cache; `prepare` may create that folder
   * first.
   */
  async function cacheAfterStart(folder: Folder, prepare = (_cache: string): void => {}): Promise<string> {
    const TMPDIR = folder.join('tmp');
    mkdirSync(TMPDIR);
    const cache = `${TMPDIR}/node-compile-cache-${uid}`;
    prepare(cache);
    await using _service = await serve(folder, { env: { TMPDIR, UGS_THREADS: '2' } });
    // The folder of temporary files contains nothing else.
    assert.deepEqual([readdirSync(TMPDIR).length, statSync(cache).isDirectory()], [1, true]);
    return cache;
  }

  it('is in a folder that no other user can open', async () => {
    using folder = new Folder();
    const cache = await cacheAfterStart(folder);
    assert.equal(statSync(cache).mode & 0o777, 0o700);
    assert.notDeepEqual(readdirSync(cache), []);
  });

  it('is not used if other users can write to its folder', async () => {
    using folder = new Folder();
    const cache = await cacheAfterStart(folder, (path) => {
      mkdirSync(path);
      chmodSync(path, 0o777);
    });
    assert.deepEqual(readdirSync(cache), []);
  });

  it('is not used if another user has created its folder', {
    skip: uid !== 0 && 'only root can create a folder of another user',
  }, async () => {
    using folder = new Folder();
    const cache = await cacheAfterStart(folder, (path) => {
      mkdirSync(path, { mode: 0o700 });
      chownSync(path, OTHER_UID, OTHER_UID);
    });
    assert.deepEqual(readdirSync(cache), []);
  });

  it('is not used if its folder is a symbolic link', async () => {
    using folder = new Folder();
    const other = folder.join('other');
    mkdirSync(other, { mode: 0o700 });
    await cacheAfterStart(folder, (path) => symlinkSync(other, path));
    assert.deepEqual(readdirSync(other), []);
  });
});
