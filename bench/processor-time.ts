// Reads the CPU time of processes, which is more reliable than requests per second on a busy machine, from
// Linux's /proc; not available on other systems.

import { readFileSync } from 'node:fs';

/** Length of a tick: USER_HZ is 100 on every architecture that Node supports. */
const MICROSECONDS_PER_TICK = 10_000;

/** Returns the CPU time of the process with all its threads in microseconds; NaN if unknown. */
export function processorTime(processId: number): number {
  const fields = statOf(processId);
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK;
}

/** Returns the CPU time of all child processes, including those that have exited. */
export function processorTimeOfChildren(processId: number): number {
  const fields = statOf(processId);
  const exited = (Number(fields[13]) + Number(fields[14])) * MICROSECONDS_PER_TICK;
  return childrenOf(processId).reduce((sum, child) => sum + processorTime(child), exited);
}

function childrenOf(processId: number): number[] {
  try {
    const text = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8');
    return text.trim().split(' ').map(Number);
  } catch {
    return [];
  }
}

/** Returns the fields after the program name, which may contain any character. */
function statOf(processId: number): string[] {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
