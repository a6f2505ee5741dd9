// Replaces the processes of a service one after the other by processes of the next version under load, and
// then goes back; the first process of the next version migrates the database. No call may fail, no group may
// be lost, and no token may resolve that is replaced or whose group is suspended.

import type { DatabaseKind } from '../test/support/database.ts';
import { OtherVersion } from '../test/support/migration/other-version.ts';
import { Folder, PROGRAM, serve } from '../test/support/process.ts';
import { type RollingRestartFigures, rollingRestart } from './rolling-restart.ts';

interface RollingUpgradeOptions {
  kind: DatabaseKind;
  /** How many processes serve the database. */
  processes: number;
  /** Upgrades, each followed by a downgrade. */
  rounds: number;
  /**
   * Revision of this repository to upgrade from and go back to, with this version as the next one; null
   * starts with this version, and the next one has another migration.
   */
  from: string | null;
  onRestart: (restarts: number) => void;
  onFailure: (failure: string) => void;
}

interface RollingUpgradeFigures extends RollingRestartFigures {
  /** Duration of the slowest replacement of one process, until the new one listens. */
  upgradeMs: number;
  downgradeMs: number;
  migrationMs: number;
  /** Number of starts of the earlier version that reported a newer schema. */
  warned: number;
}

export async function rollingUpgrade(options: RollingUpgradeOptions): Promise<RollingUpgradeFigures> {
  const { kind, processes, rounds, from, onRestart, onFailure } = options;
  using other = from === null ? OtherVersion.next() : OtherVersion.ofRevision(from);
  const [earlier, later] = from === null ? [PROGRAM, other.program] : [other.program, PROGRAM];
  await fillCompileCache(other.program);
  const isUpgrade = (restart: number): boolean => Math.floor(restart / processes) % 2 === 0;
  const times = { upgradeMs: 0, downgradeMs: 0, migrationMs: 0 };
  let warned = 0;
  const figures = await rollingRestart({
    kind,
    processes,
    restarts: 2 * rounds * processes,
    nginx: null,
    initial: earlier,
    programOf: (restart) => (isUpgrade(restart) ? later : earlier),
    onRestart: (restarts, { log }, tookMs) => {
      times.migrationMs += migrationMsOf(log);
      if (log.includes('a newer version of the service has migrated the database')) warned++;
      const direction = isUpgrade(restarts - 1) ? 'upgradeMs' : 'downgradeMs';
      times[direction] = Math.max(times[direction], tookMs);
      onRestart(restarts);
    },
    onFailure,
  });
  return { ...figures, ...times, warned };
}

/**
 * Starts and stops the program once. Without the compile cache, its first start strips the types of all sources, which
 * an installed package does not have.
 */
async function fillCompileCache(program: string): Promise<void> {
  using folder = new Folder();
  await using service = await serve(folder, { program });
  service.signal('SIGTERM');
  await service.exit();
}

function migrationMsOf(log: string): number {
  const lines = log.matchAll(/"tookMs":(\d+),"msg":"migrated the database"/g);
  return Array.from(lines, ([, ms]) => Number(ms)).reduce((sum, ms) => sum + ms, 0);
}
