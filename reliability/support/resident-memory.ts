// Measures the resident memory of a process, as the kernel reports it.

import { readFileSync } from 'node:fs';

const EVERY_MS = 100;

/** Returns the current resident memory of the process in megabytes. */
export function residentMb(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kibibytes) * 1_024) / 1_000_000;
}

/** Returns the result of the work, and the peak resident memory of the process meanwhile. */
export async function peakResidentMb<Result>(pid: number, work: Promise<Result>): Promise<[Result, number]> {
  let peak = residentMb(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(pid));
  }, EVERY_MS);
  try {
    return [await work, peak];
  } finally {
    clearInterval(timer);
  }
}
