// Processor time of processes, which tells more than requests per second where a machine has other work. From Linux's
// /proc; elsewhere nothing is known.

import { readFileSync } from 'node:fs';

/** Of Linux on every processor that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000;

/** Microseconds that the process has used so far, with all its threads; NaN where it cannot be told. */
export function processorTime(processId: number): number {
  const fields = statOf(processId);
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK;
}

/** The same of all processes that the process has started, also of those that have ended. */
export function processorTimeOfChildren(processId: number): number {
  const fields = statOf(processId);
  const ended = (Number(fields[13]) + Number(fields[14])) * MICROSECONDS_PER_TICK;
  return childrenOf(processId).reduce((sum, child) => sum + processorTime(child), ended);
}

function childrenOf(processId: number): number[] {
  try {
    const text = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8');
    return text.trim().split(' ').map(Number);
  } catch {
    return [];
  }
}

/** The fields behind the name of the program, which may hold anything. */
function statOf(processId: number): string[] {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
