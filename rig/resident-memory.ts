// How much memory a process takes, as the kernel sees it.

import { readFileSync } from 'node:fs';

const EVERY_MS = 100;

/** Megabytes that the process has in memory now. */
export function residentMb(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kibibytes) * 1_024) / 1_000_000;
}

/** The most that the process has in memory while the work is done. */
export async function mostResidentMb<Result>(pid: number, work: Promise<Result>): Promise<[Result, number]> {
  let most = residentMb(pid);
  const watch = setInterval(() => {
    most = Math.max(most, residentMb(pid));
  }, EVERY_MS);
  try {
    return [await work, most];
  } finally {
    clearInterval(watch);
  }
}
