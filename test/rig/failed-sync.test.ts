// What a failed sync has left in the write-ahead log may be in the memory of the system only: Linux takes for written
// what it could not write. A service that starts there makes it safe before it shows it. Needs strace.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Injection, SYNC } from '../../rig/injection.ts';
import { processOf, writeScript } from '../../rig/program.ts';
import { Random } from '../../rig/random.ts';
import { CALLS, eventsOf, Replay } from '../../rig/replay.ts';
import { canTrace, recordingArguments } from '../../rig/strace.ts';
import { createApiToken, eventually, Folder, serve } from '../process.ts';

const LOG = 'data/user-groups.db-wal';
const ID = 'customer';

describe('A change whose sync has failed (SQLite)', {
  skip: canTrace() ? false : 'strace is not installed, or may not be used',
}, () => {
  it('outlasts a power cut once it was shown, by a service that was started after a kill', async () => {
    using folder = new Folder();
    using tools = new Folder();
    using remains = new Folder();
    const { token } = await createApiToken(folder);
    const synced = await failSync(folder, tools, token);
    const replay = diskWith(folder, synced);
    const trace = tools.join('trace');
    assert.equal(await nameShown(folder, token, trace), 'After');
    for await (const event of eventsOf(trace, folder.path)) replay.apply(event);
    replay.disk.restore(remains.path, 'nothing', new Random(0));
    assert.equal(await nameShown(remains, token, tools.join('later')), 'After');
  });
});

/** Fails the sync of one change, and kills the service. Returns what was synced of the log before. */
async function failSync(folder: Folder, tools: Folder, token: string): Promise<Buffer> {
  const script = writeScript(tools.join('serve'));
  await using service = await serve(folder, { command: script });
  await service.call(token, 'GET', '/api/user', { user_group_id: ID, name: 'Before' });
  const synced = readFileSync(folder.join(LOG));
  const target = { paths: [folder.join(LOG)], output: tools.join('calls') };
  const fault = { call: SYNC, error: 'EIO', when: '1+' } as const;
  const injection = await Injection.attach(processOf(script), target, [fault]);
  const { status } = await service.call(token, 'PUT', '/api/user', { user_group_id: ID, name: 'After' });
  assert.equal(status, 503);
  await service.kill();
  await injection.end();
  return synced;
}

/** The disk under the folder: all is safe but what came into the log after `synced`. */
function diskWith(folder: Folder, synced: Buffer): Replay {
  const replay = new Replay(folder.path, false);
  const write = (path: string, data: Buffer, isSafe: boolean): void => {
    const file = replay.disk.file(path);
    file.change({ offset: 0, data });
    file.beginSync()(isSafe);
  };
  replay.apply({ kind: 'make directory', path: folder.join('data') });
  for (const name of readdirSync(folder.join('data')).map((each) => `data/${each}`))
    write(folder.join(name), name === LOG ? synced : readFileSync(folder.join(name)), true);
  write(folder.join(LOG), readFileSync(folder.join(LOG)), false);
  for (const directory of ['', 'data']) replay.disk.find(folder.join(directory))?.beginSync()(true);
  return replay;
}

/** By a service that is started, asked, and killed; all that it does to its files stands in the trace. */
async function nameShown(folder: Folder, token: string, trace: string): Promise<string> {
  const command = writeScript(`${trace}.sh`, ['strace', ...recordingArguments(trace, CALLS)]);
  await using service = await serve(folder, { command });
  const { json } = await service.call(token, 'GET', '/api/user', { user_group_id: ID });
  await service.kill();
  await eventually('the end of the trace', () => /\+\+\+ killed/.test(readFileSync(trace, 'latin1')));
  return json.user_group.name;
}
