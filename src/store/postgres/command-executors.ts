// Executes batches of commands of one kind. A batch is split into parts, each of which changes the database with one
// statement; a batch of a single repeatable part needs no explicit transaction.

import type { Tenant } from '../../domain/tenant.ts';
import { keyToString, type UserGroupKey } from '../../domain/user-group/user-group.ts';
import type { WebhookEndpointKey } from '../../domain/webhook-endpoint/delivery.ts';
import { retryFailedDeliveries } from '../delivery.ts';
import { eraseChanges } from '../event-deletion.ts';
import { byEndpoint } from '../lock-order.ts';
import type { Command, CommandKind, CommandResult, ImportedUserGroup } from '../port.ts';
import type { StepsTransaction } from '../steps.ts';
import { stepsOf, type WriteKind } from '../writes.ts';
import { scatter } from './batch.ts';
import type { ConnectionPool } from './client/pool.ts';
import type { Session } from './client/session.ts';
import { lockEnvironment } from './document.ts';
import { copyEvents, raiseEventFloor, raiseFloor } from './event/copy.ts';
import { ERASURE } from './event/erase.ts';
import { recordAtCommit } from './event/record.ts';
import { lockTargets, recordEvent } from './event/single-event.ts';
import type { CommandBatchExecutor, CommandExecutor, Transaction } from './executor.ts';
import { gatherStatistics } from './gather-statistics.ts';
import { leaseIds } from './lease-ids.ts';
import { pingWrite } from './ping.ts';
import { addUsage, copyUsage } from './usage.ts';
import { copyUserGroups } from './user-group/copy.ts';
import { createUserGroups } from './user-group/create.ts';
import { deleteUserGroups } from './user-group/delete.ts';
import { importUserGroups } from './user-group/import.ts';
import { markSeen } from './user-group/mark-seen.ts';
import { copyRenames, renameUserGroup } from './user-group/rename.ts';
import { forgottenBy, resealTokens, rotateTokens } from './user-group/rotate-token.ts';
import { updateUserGroups } from './user-group/update.ts';
import { lockUserGroups } from './user-group/user-group.ts';
import { copyDeliveries, FIND_FAILED } from './webhook-endpoint/delivery.ts';
import { lockWorkspace, renameWorkspace } from './workspace.ts';

interface Executor<Kind extends CommandKind> {
  execute: CommandBatchExecutor<Kind>;
  /** Returns the part of each command, counted from 0. */
  splitParts: (commands: readonly Command<Kind>[]) => number[];
  /**
   * Environment or webhook endpoint of which each command locks rows until the commit. Parts run in the order
   * of these, otherwise in that of the commands: batches that lock the same rows in different orders deadlock.
   */
  locksRowsOf?: (command: Command<Kind>) => Tenant | WebhookEndpointKey;
  /**
   * Locks the groups of all commands first, if there are several parts or after a conflict. Otherwise a later
   * part could lock a group out of order: a command that changes nothing locks nothing.
   */
  lock?: (session: Session, commands: readonly Command<Kind>[]) => Promise<void>;
  /**
   * Whether a transaction executes one command only, and leaves the others to the next ones: it locks groups and then
   * their environment, so a second command in it could lock a group that did not exist before, out of order.
   */
  isAlone?: boolean;
  /** Whether the commands take several statements, or on Citus several pipelines, which must be atomic. */
  isTransaction?: (commands: readonly Command<Kind>[], isDistributed: boolean) => boolean;
  /**
   * Whether it is harmless to apply it twice, or after its caller was told that it failed. If not, it runs in
   * an explicit transaction: if the server reads it long after we gave up, no commit follows.
   */
  isRepeatable: boolean;
}

const IN_TRANSACTION = { isTransaction: () => true };
const UNREPEATABLE = { isRepeatable: false };
const USER_GROUP_CHANGE = { ...UNREPEATABLE, splitParts: oneOfEachKey, lock: lockUserGroups };
const LOCKS_ENDPOINT = {
  locksRowsOf: ({ endpoint }: { endpoint: WebhookEndpointKey }) => endpoint,
};

const executors: { [Kind in CommandKind]: Executor<Kind> } = {
  leaseIds: jointly(leaseIds),
  ensureWorkspace: inSteps(),
  // Between two attempts another caller may have renamed it again, or created what a deletion must find.
  renameWorkspace: singly(renameWorkspace, UNREPEATABLE),
  deleteWorkspace: inSteps(UNREPEATABLE),
  createApiToken: inSteps(IN_TRANSACTION),
  revokeApiToken: inSteps(IN_TRANSACTION),
  // A repeated attempt would not find the text that it has replaced, or replace one that another caller has issued.
  rotateApiToken: inSteps(UNREPEATABLE),
  markApiTokensUsed: inSteps(),
  markSeen: singly(markSeen),
  // A repeated attempt would count twice.
  addUsage: singly(addUsage, UNREPEATABLE),
  copyUsage: singly(copyUsage, IN_TRANSACTION),
  deleteOldUsage: inSteps(IN_TRANSACTION),
  // A repeated attempt would find what the first one stored.
  putFigures: inSteps(UNREPEATABLE),
  putDocument: inSteps({ ...UNREPEATABLE, locksRowsOf: ({ key }) => key }),
  deleteDocument: inSteps({ ...UNREPEATABLE, locksRowsOf: ({ key }) => key }),
  changeConfig: inSteps({ ...UNREPEATABLE, locksRowsOf: ({ tenant }) => tenant }),
  resealDocument: inSteps({ ...IN_TRANSACTION, locksRowsOf: ({ key }) => key }),
  copyDocuments: inSteps(IN_TRANSACTION),
  copyEvents: singly(copyEvents, IN_TRANSACTION),
  raiseEventFloor: singly(raiseEventFloor, IN_TRANSACTION),
  copyDeliveries: singly(copyDeliveries),
  deleteOldEvents: inSteps(IN_TRANSACTION),
  deleteOldDeliveries: inSteps(LOCKS_ENDPOINT),
  // A repeated attempt would record it again.
  recordEvent: singly(recordEvent, { ...UNREPEATABLE, lock: lockTargets }),
  claimDeliveries: inSteps({ ...IN_TRANSACTION, ...LOCKS_ENDPOINT }),
  finishAttempts: inSteps(),
  retryDelivery: inSteps(LOCKS_ENDPOINT),
  retryFailedDeliveries: singly(
    (session, command) => session.perform(retryFailedDeliveries(FIND_FAILED, command)),
    LOCKS_ENDPOINT,
  ),
  cancelDeliveries: inSteps({ ...IN_TRANSACTION, ...LOCKS_ENDPOINT }),
  deleteDeliveries: inSteps({ ...IN_TRANSACTION, ...LOCKS_ENDPOINT }),
  setFailingSince: inSteps(LOCKS_ENDPOINT),
  eraseChanges: singly((session, command) => session.perform(eraseChanges(ERASURE, command))),
  addTokenKeyId: inSteps(),
  removeTokenKeyIds: inSteps(),
  createUserGroup: jointly(createUserGroups, { isTransaction: (_, isDistributed) => isDistributed }),
  importUserGroup: jointly(importUserGroups, { ...IN_TRANSACTION, splitParts: oneOfEachToken }),
  copyUserGroups: singly(copyUserGroups, IN_TRANSACTION),
  // Between two attempts of an update another one may have been acknowledged.
  updateUserGroup: jointly(updateUserGroups, USER_GROUP_CHANGE),
  // For the same reason; and the group may have been created again in between.
  deleteUserGroup: jointly(deleteUserGroups, USER_GROUP_CHANGE),
  // For the same reason; and another rename may have been acknowledged.
  renameUserGroup: singly(renameUserGroup, { ...UNREPEATABLE, isAlone: true }),
  copyRenames: singly(copyRenames),
  rotateToken: jointly(rotateTokens, {
    isTransaction: (commands, isDistributed) => isDistributed || forgottenBy(commands).length > 0,
  }),
  resealToken: jointly(resealTokens),
  // PostgreSQL removes dead rows by itself.
  scrub: singly(async () => true),
  gatherStatistics: singly(gatherStatistics),
  pingWrite: jointly(pingWrite),
};

const STEPS: Omit<StepsTransaction, 'recordings'> = {
  lockEnvironment,
  lockWorkspace,
  keepPositions: (last) => [raiseFloor(last)],
};

/** Applies a batch of commands of one kind, or the first command, entirely or not at all. Throws `StoreUnavailable`. */
export async function runCommands(pool: ConnectionPool, sent: readonly Command[]): Promise<CommandResult[]> {
  const executor = executors[sent[0]!.kind] as Executor<CommandKind>;
  const { execute, splitParts, locksRowsOf, lock, isAlone, isRepeatable } = executor;
  const commands = isAlone ? sent.slice(0, 1) : sent;
  // Parts are numbered in order of first occurrence.
  const partOf = splitParts(commands);
  const parts = [...Map.groupBy(commands.keys(), (place) => partOf[place]!).values()];
  if (locksRowsOf)
    parts.sort(([a], [b]) => byEndpoint(locksRowsOf(commands[a!]!), locksRowsOf(commands[b!]!)));
  const work = async (session: Session): Promise<CommandResult[]> => {
    const results: CommandResult[] = new Array(commands.length);
    const transaction: Transaction = { ...STEPS, locked: new Map(), recordings: [] };
    for (const [part, places] of parts.entries()) {
      const ofPart = places.map((place) => commands[place]!);
      const locksFirst = part === 0 && (parts.length > 1 || session.isContended);
      const [ofPlaces] = await session.pipelined(() => {
        const locking = locksFirst && lock?.(session, commands);
        return [execute(session, ofPart, transaction), locking];
      });
      scatter(results, places, ofPlaces);
    }
    await recordAtCommit(session, transaction.recordings);
    return results;
  };
  const takesTransaction =
    parts.length > 1 || !isRepeatable || executor.isTransaction?.(commands, pool.isDistributed);
  return takesTransaction ? pool.transaction(work, isRepeatable) : pool.run(work);
}

/** Whether a batch executes commands of the kind one at a time. */
export function executesSingly(kind: CommandKind): boolean {
  return executors[kind].splitParts === eachAlone;
}

function together(commands: readonly unknown[]): number[] {
  return commands.map(() => 0);
}

function eachAlone(commands: readonly unknown[]): number[] {
  return commands.map((_, index) => index);
}

/** Commands on one key keep their order: first the first of each key, then the second of each key, and so on. */
function oneOfEachKey(commands: readonly { key: UserGroupKey }[]): number[] {
  return oneOfEach(commands, ({ key }) => [keyToString(key)]);
}

/** The same for commands on one key or with one token. */
function oneOfEachToken(commands: readonly ImportedUserGroup[]): number[] {
  return oneOfEach(commands, ({ key, claim }) =>
    claim === null ? [keyToString(key)] : [keyToString(key), claim],
  );
}

function oneOfEach<Item>(items: readonly Item[], listNames: (item: Item) => string[]): number[] {
  const next = new Map<string, number>();
  return items.map((item) => {
    const names = listNames(item);
    const part = Math.max(...names.map((name) => next.get(name) ?? 0));
    for (const name of names) next.set(name, part + 1);
    return part;
  });
}

/** Executes rare commands one at a time. They are repeatable unless the table above says otherwise. */
function singly<Kind extends CommandKind>(
  execute: CommandExecutor<Kind>,
  traits: Partial<Executor<Kind>> = {},
): Executor<Kind> {
  return {
    execute: async (session, [command], transaction) => [await execute(session, command!, transaction)],
    splitParts: eachAlone,
    isRepeatable: true,
    ...traits,
  };
}

/** Does the same with those that take the same statements on both databases. */
function inSteps<Kind extends WriteKind>(traits: Partial<Executor<Kind>> = {}): Executor<Kind> {
  return singly((session, command, transaction) => session.perform(stepsOf(command, transaction)), traits);
}

/** Executes all commands of a batch, or of each part, with the same statements. */
function jointly<Kind extends CommandKind>(
  execute: CommandBatchExecutor<Kind>,
  traits: Partial<Executor<Kind>> = {},
): Executor<Kind> {
  return { execute, splitParts: together, isRepeatable: true, ...traits };
}
