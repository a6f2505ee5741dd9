// The process of the hostile tenant. Started with a low priority: the processors are for the service and the victim, so
// that what the victim waits for is the service.

import { constants, getPriority, setPriority } from 'node:os';
import { hostileCases } from './case/all.ts';
import { type Flow, type Replies, RunningFlow } from './flow.ts';
import { Tenant, type TenantSite } from './tenant.ts';

export type AttackerCommand = ({ prepare: string } & TenantSite) | 'start' | 'stop';
/** `replies`: those of the attack that was stopped. */
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
// The rig may be killed.
process.once('disconnect', () => process.exit());
