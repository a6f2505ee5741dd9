// How long the service takes from the start of its process to the first answer that it is ready.

import type { SeededDatabase } from './seed.ts';
import { startService } from './service.ts';

const STARTS = 5;

export interface StartTimes {
  /** The first start there is: no database, no key file, no compiled code from an earlier one. */
  firstMs: number;
  /** Starts on the filled database, with the code that the start before has compiled. */
  laterMs: number[];
}

export async function measureStart(database: SeededDatabase, newFolder: string): Promise<StartTimes> {
  const firstMs = await startOnce({ folder: newFolder, databaseUrl: `sqlite:${newFolder}/user-groups.db` });
  // Node keeps compiled code when the process ends.
  await startOnce(database);
  const laterMs: number[] = [];
  for (let start = 0; start < STARTS; start++) laterMs.push(await startOnce(database));
  return { firstMs, laterMs };
}

async function startOnce(database: Pick<SeededDatabase, 'folder' | 'databaseUrl'>): Promise<number> {
  await using service = await startService(database);
  return service.readyAfterMs;
}
