// Process of the hostile tenant. It has a low priority, which leaves the processors to the service and the
// victim: what the victim waits for is then the service.

import { constants, getPriority, setPriority } from 'node:os';
import { hostileCases } from './case/all.ts';
import { type Flow, type Replies, RunningFlow } from './flow.ts';
import { Tenant, type TenantSite } from './tenant.ts';

export type AttackerCommand = ({ prepare: string } & TenantSite) | 'start' | 'stop';
/** `replies` are those of the attack that was stopped. */
export type AttackerMessage = 'prepared' | 'started' | { replies: Replies };

const NICER_BY = 10;

let url = '';
let flows: readonly Flow[] = [];
let running: RunningFlow[] = [];

async function obey(command: AttackerCommand): Promise<AttackerMessage> {
  if (command === 'start') {
    running = flows.map((flow) => new RunningFlow(url, flow));
    return 'started';
  }
  if (command === 'stop') {
    for (const flow of running) flow.stop();
    return { replies: totalOf(running) };
  }
  ({ url } = command);
  const { prepare } = hostileCases.find(({ name }) => name === command.prepare)!;
  flows = await prepare(new Tenant(command));
  setPriority(Math.min(getPriority() + NICER_BY, constants.priority.PRIORITY_LOW));
  return 'prepared';
}

function totalOf(stopped: readonly RunningFlow[]): Replies {
  const total: Replies = {};
  for (const { replies } of stopped)
    for (const [name, count] of Object.entries(replies)) total[name] = (total[name] ?? 0) + count;
  return total;
}

process.on('message', async (command: AttackerCommand) => process.send?.(await obey(command)));
// Exits with the rig, which may be killed.
process.once('disconnect', () => process.exit());
