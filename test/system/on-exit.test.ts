// Clean-up when a signal ends a command, even if it arrives while the event loop is blocked.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Folder, Program } from '../support/process.ts';

const MODULE = new URL('../../src/system/on-exit.ts', import.meta.url).href;

describe('A signal that arrives while the event loop is blocked', () => {
  it('ends the process with its clean-up before the next step', async () => {
    using folder = new Folder();
    // Continues after a file operation, as commands do.
    const script = `
      import { stat } from 'node:fs/promises';
      import { deliverSignals, onExit } from '${MODULE}';
      using cleanUp = onExit(() => console.log('cleaned up'));
      await stat('.');
      process.kill(process.pid, 'SIGTERM');
      await deliverSignals();
      console.log('next step');`;
    await using program = new Program(folder, ['--input-type=module', '--eval', script], {
      command: process.execPath,
    });
    const { signal, stdout, stderr } = await program.exit();
    assert.deepEqual({ signal, stdout, stderr }, { signal: 'SIGTERM', stdout: 'cleaned up\n', stderr: '' });
  });
});
