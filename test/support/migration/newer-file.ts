import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux takes the time of a file from the last tick, up to 10 milliseconds ago. */
const COARSE_CLOCK_MS = 20;

/** Writes a file that was modified later than everything that happened before the call. */
export async function writeNewerFile(path: string, text: string): Promise<void> {
  await sleep(COARSE_CLOCK_MS);
  rmSync(path, { force: true });
  writeFileSync(path, text);
}
