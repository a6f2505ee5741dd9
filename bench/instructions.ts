// Counts the instructions that a process executes in user mode, with perf: unlike processor time, they hardly
// depend on what else the machine is doing.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const hasPerf = spawnSync('perf', ['stat', '-e', 'instructions:u', 'true']).status === 0;

/** Returns the instructions of all threads of the process during the work; NaN without perf. */
export async function instructionsDuring(processId: number, work: () => Promise<unknown>): Promise<number> {
  if (!hasPerf) {
    await work();
    return Number.NaN;
  }
  const args = ['stat', '--field-separator=,', '--event=instructions:u', `--pid=${processId}`];
  const perf = spawn('perf', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  });
  let output = '';
  perf.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await work();
  const closed = once(perf, 'close');
  perf.kill('SIGINT');
  await closed;
  return Number(output.split(',', 1)[0]);
}
