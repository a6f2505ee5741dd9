// Executes batches of commands in one transaction: one sync for all of them.

import { cpuMs } from '../../system/cpu-time.ts';
import { retryFailedDeliveries } from '../delivery.ts';
import { eraseChanges } from '../event-deletion.ts';
import type { Command, CommandKind, CommandResult } from '../port.ts';
import { countInResult } from '../result-size.ts';
import { stepsOf, type WriteKind, writeKinds } from '../writes.ts';
import { copyEvents, raiseEventFloor } from './event/copy.ts';
import { ERASURE } from './event/erase.ts';
import { record } from './event/record.ts';
import { type CommandExecutor, MAX_CHARACTERS } from './executor.ts';
import type { Connection } from './file/connection.ts';
import { leaseIds } from './lease-ids.ts';
import { pingWrite } from './ping.ts';
import { perform } from './steps.ts';
import { addUsage, copyUsage } from './usage.ts';
import { copyUserGroups } from './user-group/copy.ts';
import { createUserGroup } from './user-group/create.ts';
import { deleteUserGroup } from './user-group/delete.ts';
import { importUserGroup } from './user-group/import.ts';
import { markSeen } from './user-group/mark-seen.ts';
import { copyRenames, renameUserGroup } from './user-group/rename.ts';
import { resealToken, rotateToken } from './user-group/rotate-token.ts';
import { updateUserGroup } from './user-group/update.ts';
import { copyDeliveries, FIND_FAILED } from './webhook-endpoint/delivery.ts';

/** Executes commands that take the same statements on both databases. */
const executeWrite: CommandExecutor<WriteKind> = (connection, command) =>
  perform(connection, (transaction) => stepsOf(command, transaction));

const executors: { [Kind in CommandKind]: CommandExecutor<Kind> } = {
  ...(Object.fromEntries(writeKinds.map((kind) => [kind, executeWrite])) as {
    [Kind in WriteKind]: CommandExecutor<Kind>;
  }),
  createUserGroup,
  importUserGroup,
  updateUserGroup,
  deleteUserGroup,
  renameUserGroup,
  rotateToken,
  resealToken,
  leaseIds,
  markSeen,
  addUsage,
  copyUsage,
  recordEvent: (connection, { event }) => void record(connection, event, null),
  eraseChanges: (connection, command) => connection.perform(eraseChanges(ERASURE, command)),
  retryFailedDeliveries: (connection, command) =>
    connection.perform(retryFailedDeliveries(FIND_FAILED, command)),
  copyUserGroups,
  copyEvents,
  raiseEventFloor,
  copyRenames,
  copyDeliveries,
  // Done after the transaction: see `emptiesLog`.
  scrub: () => false,
  // Without statistics SQLite chooses the index that has all columns of the key.
  gatherStatistics: () => {},
  pingWrite,
};

/** Whether the log is emptied after the command, so that nothing deleted remains in it. */
export function emptiesLog({ kind }: Command): boolean {
  return kind === 'scrub';
}

/** Maximum processor time of the commands of a batch, for which the next batch waits. */
const MAX_MS = 10;
/** A batch whose commands take less on average may exceed it: more transactions would cost more. */
const SMALL_COMMAND_MS = 0.2;

/**
 * Runs all batches in one transaction. Each ends early at `MAX_CHARACTERS`, or at `MAX_MS` unless its
 * commands are small.
 */
export function runCommands(
  connection: Connection,
  batches: readonly (readonly Command[])[],
): CommandResult[][] {
  // Immediate: a deferred transaction that reads before it writes fails if another one has written in between.
  const results = connection.transaction('immediate', () =>
    batches.map((commands) => runUntilLong(connection, commands)),
  );
  if (!batches.some((commands) => commands.some(emptiesLog))) return results;
  const isEmpty = connection.truncateLog();
  return results.map((own, batch) =>
    own.map((result, index) => (emptiesLog(batches[batch]![index]!) ? isEmpty : result)),
  );
}

function runUntilLong(connection: Connection, commands: readonly Command[]): CommandResult[] {
  const results: CommandResult[] = [];
  const [startedAt, cpuBefore] = [performance.now(), cpuMs()];
  let characters = 0;
  for (const command of commands) {
    const result = (executors[command.kind] as CommandExecutor<CommandKind>)(connection, command);
    results.push(result);
    characters += countInResult(result);
    const limitMs = Math.max(MAX_MS, results.length * SMALL_COMMAND_MS);
    // The clock comes first because it is cheaper.
    const isLong = performance.now() - startedAt >= limitMs && cpuMs() - cpuBefore >= limitMs;
    if (isLong || characters >= MAX_CHARACTERS) break;
  }
  return results;
}
