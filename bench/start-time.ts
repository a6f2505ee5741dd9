// Measures the time from the start of the process until it reports ready.

import type { SeededDatabase } from './seed.ts';
import { startService } from './service.ts';

const STARTS = 5;

export interface StartTimes {
  /** Duration of the first start: no database, no key file, and no compile cache. */
  firstMs: number;
  /** Durations of starts on the seeded database, with the compile cache of the previous start. */
  laterMs: number[];
}

export async function measureStart(database: SeededDatabase, newFolder: string): Promise<StartTimes> {
  const firstMs = await startOnce({ folder: newFolder, databaseUrl: `sqlite:${newFolder}/user-groups.db` });
  // Node writes the compile cache when the process exits.
  await startOnce(database);
  const laterMs: number[] = [];
  for (let start = 0; start < STARTS; start++) laterMs.push(await startOnce(database));
  return { firstMs, laterMs };
}

async function startOnce(database: Pick<SeededDatabase, 'folder' | 'databaseUrl'>): Promise<number> {
  await using service = await startService(database);
  return service.readyAfterMs;
}
