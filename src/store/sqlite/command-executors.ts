// Executes batches of commands, each batch in one transaction: one sync for all of them.

import type { Command, CommandKind, CommandResult } from '../port.ts';
import { createApiToken, markApiTokensUsed, revokeApiToken, rotateApiToken } from './api-token.ts';
import type { Connection } from './connection.ts';
import { copyDeliveries } from './copy-deliveries.ts';
import { copyEvents } from './copy-events.ts';
import { copyUserGroups } from './copy-user-groups.ts';
import { createUserGroup } from './create-user-group.ts';
import { deleteOldDeliveries } from './delete-old-deliveries.ts';
import { deleteUserGroup } from './delete-user-group.ts';
import {
  cancelDeliveries,
  claimDeliveries,
  deleteDeliveries,
  finishAttempts,
  retryDelivery,
  setFailingSince,
} from './delivery.ts';
import { copyDocuments, deleteDocument, putDocument, resealDocument } from './document.ts';
import { deleteOldEvents, eraseChanges } from './event.ts';
import { importUserGroup } from './import-user-group.ts';
import { leaseIds } from './lease-ids.ts';
import { markSeen } from './mark-seen.ts';
import { pingWrite } from './ping.ts';
import { resealToken, rotateToken } from './rotate-token.ts';
import { recordEvent } from './single-event.ts';
import { addTokenKeyId, removeTokenKeyIds } from './token-key.ts';
import { updateUserGroup } from './update-user-group.ts';
import { deleteWorkspace, ensureWorkspace, renameWorkspace } from './workspace.ts';

type Executor<Kind extends CommandKind> = (
  connection: Connection,
  command: Command<Kind>,
) => CommandResult<Kind>;

const executors: { [Kind in CommandKind]: Executor<Kind> } = {
  createUserGroup,
  importUserGroup,
  updateUserGroup,
  deleteUserGroup,
  rotateToken,
  resealToken,
  leaseIds,
  ensureWorkspace,
  renameWorkspace,
  deleteWorkspace,
  createApiToken,
  revokeApiToken,
  rotateApiToken,
  markApiTokensUsed,
  markSeen,
  putDocument,
  deleteDocument,
  resealDocument,
  deleteOldEvents,
  deleteOldDeliveries,
  recordEvent,
  claimDeliveries,
  finishAttempts,
  retryDelivery,
  cancelDeliveries,
  deleteDeliveries,
  setFailingSince,
  eraseChanges,
  copyUserGroups,
  copyDocuments,
  copyEvents,
  copyDeliveries,
  addTokenKeyId,
  removeTokenKeyIds,
  // After the transaction.
  scrub: () => null,
  // Without statistics SQLite chooses the index that has all columns of the key.
  gatherStatistics: () => null,
  pingWrite,
};

export function runCommands(connection: Connection, commands: readonly Command[]): CommandResult[] {
  // Immediate: a deferred transaction that reads before it writes fails if another one has written in between.
  const results = connection.transaction('immediate', () =>
    commands.map((command) => (executors[command.kind] as Executor<CommandKind>)(connection, command)),
  );
  if (commands.some(({ kind }) => kind === 'scrub')) connection.truncateLog();
  return results;
}
