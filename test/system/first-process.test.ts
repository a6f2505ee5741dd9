// The first process of a container ignores signals that it does not handle, and SIGKILL from itself.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Folder, PROGRAM, Program } from '../support/process.ts';

const IN_CONTAINER = ['--pid', '--fork', '--kill-child'];
const canUnshare = spawnSync('unshare', [...IN_CONTAINER, 'true']).status === 0;
const EARLY_SIGNAL = fileURLToPath(new URL('../support/preload/early-signal.cjs', import.meta.url));
const SIGNALS = new URL('../../bin/signals.js', import.meta.url).href;
const SYSTEM = new URL('../../src/system/', import.meta.url).href;

describe('The first process of a container', {
  skip: canUnshare ? false : 'no namespace of processes may be created',
}, () => {
  it('ends in a crash without its clean-up', async () => {
    using folder = new Folder();
    await using program = run(
      folder,
      `import { crash } from '${SYSTEM}crash.ts';
      process.on('exit', () => console.log('cleaned up'));
      setTimeout(() => console.log('still running'));
      crash();`,
    );
    const { code, stdout } = await program.exit();
    assert.notEqual(code, 0);
    assert.equal(stdout, '');
  });

  it('ends by a signal that arrives while it loads the command', async () => {
    using folder = new Folder();
    const args = [...IN_CONTAINER, process.execPath, '--require', EARLY_SIGNAL, PROGRAM, 'serve'];
    await using program = new Program(folder, args, { command: 'unshare' });
    const { code, stderr } = await program.exit();
    // 0 if the service handles it, which then runs its event loop for the first time.
    assert.ok(code === 143 || code === 0, String(code));
    assert.equal(stderr, '');
  });

  it('ends after every clean-up of a signal', async () => {
    using folder = new Folder();
    await using program = run(
      folder,
      `import '${SIGNALS}';
      import { deliverSignals, onExit } from '${SYSTEM}on-exit.ts';
      using first = onExit(() => console.log('first'));
      using second = onExit(() => console.log('second'));
      process.kill(process.pid, 'SIGTERM');
      await deliverSignals();
      console.log('next step');`,
    );
    const { code, stdout } = await program.exit();
    assert.deepEqual({ code, stdout }, { code: 143, stdout: 'first\nsecond\n' });
  });
});

function run(folder: Folder, script: string): Program {
  const args = [...IN_CONTAINER, process.execPath, '--input-type=module', '--eval', script];
  return new Program(folder, args, { command: 'unshare' });
}
