// Process of a `CommandHost`: runs each command that it receives, and answers with its exit code and output.

import { setTimeout as sleep } from 'node:timers/promises';
import { main } from '../../src/main.ts';
import type { HostedCommand, HostedExit } from './command-host.ts';

process.on('message', async (command: HostedCommand) => process.send!(await run(command)));
// Every command adds listeners that remain until the process ends, such as for errors of its output.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);

async function run({ args, env, folder }: HostedCommand): Promise<HostedExit> {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const code = await main([process.execPath, 'user-group-service', ...args]);
  // A connection that stays open would keep a process of the command running: here, the command gets no exit.
  while (process.getActiveResourcesInfo().includes('TCPSocketWrap')) await sleep(1);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Captures what is written to the stream, and returns a function that returns its text. */
function capture(stream: NodeJS.WriteStream): () => string {
  const chunks: Buffer[] = [];
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    chunks.push(Buffer.from(chunk as string));
    const done = more.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  return () => Buffer.concat(chunks).toString();
}
