// After a failed sync, pages of the write-ahead log may exist only in the page cache: Linux marks them clean
// although it could not write them. A service that starts in this state must make them durable before it
// returns their data. Requires strace.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createApiToken, eventually, Folder, serve } from '../../test/support/process.ts';
import { CALLS, eventsOf, Replay } from '../power-cut/replay.ts';
import { Injection, SYNC } from '../support/injection.ts';
import { writeScript } from '../support/program.ts';
import { Random } from '../support/random.ts';
import { canTrace, recordingArguments } from '../support/strace.ts';

const LOG = 'data/user-groups.db-wal';
const ID = 'customer';

describe('A change whose sync failed (SQLite)', {
  skip: canTrace() ? false : 'strace is not installed or not permitted',
}, () => {
  it('survives a power cut once a service restarted after a kill has returned it', async () => {
    using folder = new Folder();
    using tools = new Folder();
    using restored = new Folder();
    const { token } = await createApiToken(folder);
    const synced = await failSync(folder, tools, token);
    const replay = diskWith(folder, synced);
    const trace = tools.join('trace');
    assert.equal(await readName(folder, token, trace), 'After');
    for await (const event of eventsOf(trace, folder.path)) replay.apply(event);
    replay.disk.restore(restored.path, 'nothing', new Random(0));
    assert.equal(await readName(restored, token, tools.join('later')), 'After');
  });
});

/**
 * Makes the sync of one change fail, and kills the service. Returns the content of the log that was synced
 * before.
 */
async function failSync(folder: Folder, tools: Folder, token: string): Promise<Buffer> {
  await using service = await serve(folder);
  await service.call(token, 'GET', '/api/user', { user_group_id: ID, name: 'Before' });
  const synced = readFileSync(folder.join(LOG));
  const target = { paths: [folder.join(LOG)], output: tools.join('calls') };
  const fault = { call: SYNC, error: 'EIO', when: '1+' } as const;
  const injection = await Injection.attach(service.id, target, [fault]);
  const { status } = await service.call(token, 'PUT', '/api/user', { user_group_id: ID, name: 'After' });
  assert.equal(status, 503);
  await service.kill();
  await injection.end();
  return synced;
}

/** Returns the disk of the folder: everything is synced except the content of the log after `synced`. */
function diskWith(folder: Folder, synced: Buffer): Replay {
  const replay = new Replay(folder.path, false);
  const write = (path: string, data: Buffer, isSafe: boolean): void => {
    const file = replay.disk.file(path);
    file.change({ offset: 0, data });
    file.startSync()(isSafe);
  };
  replay.apply({ kind: 'create directory', path: folder.join('data') });
  for (const name of readdirSync(folder.join('data')).map((each) => `data/${each}`))
    write(folder.join(name), name === LOG ? synced : readFileSync(folder.join(name)), true);
  write(folder.join(LOG), readFileSync(folder.join(LOG)), false);
  for (const directory of ['', 'data']) replay.disk.find(folder.join(directory))?.startSync()(true);
  return replay;
}

/** Starts a service, reads the name, and kills the service; the trace contains all its file operations. */
async function readName(folder: Folder, token: string, trace: string): Promise<string> {
  const command = writeScript(`${trace}.sh`, ['strace', ...recordingArguments(trace, CALLS)]);
  await using service = await serve(folder, { command });
  const { json } = await service.call(token, 'GET', '/api/user', { user_group_id: ID });
  await service.kill();
  await eventually('the end of the trace', () => /\+\+\+ killed/.test(readFileSync(trace, 'latin1')));
  return json.user_group.name;
}
