// What executes each kind of command, and in which parts a batch is executed: a part changes the database with
// one statement. Where a batch is one part that may be repeated, that statement is the transaction.

import { spell, type UserGroup, type UserGroupKey } from '../../domain/user-group.ts';
import type { Command, CommandKind, CommandResult, ImportedUserGroup } from '../store.ts';
import { createApiToken, revokeApiToken } from './api-token.ts';
import { placesOf, putInPlace } from './batch.ts';
import { copyUserGroups } from './copy-user-groups.ts';
import { createUserGroups } from './create-user-group.ts';
import { deleteUserGroups } from './delete-user-group.ts';
import { leaseIds } from './id-block.ts';
import { importUserGroups } from './import-user-group.ts';
import { pingWrite } from './ping.ts';
import type { ConnectionPool, Session } from './pool.ts';
import { forgottenBy, resealTokens, rotateTokens } from './rotate-token.ts';
import { gatherStatistics } from './statistics.ts';
import { addTokenKeyId, removeTokenKeyIds } from './token-key.ts';
import { updateUserGroups } from './update-user-group.ts';
import { lockUserGroups } from './user-group.ts';
import { ensureWorkspace } from './workspace.ts';

interface Execution<Kind extends CommandKind> {
  /** `held` has the user groups that an earlier part has changed, and so locked, by their keys. */
  execute: (
    session: Session,
    commands: readonly Command<Kind>[],
    held: Map<string, UserGroup>,
  ) => Promise<CommandResult<Kind>[]>;
  /** To each command the number of its part, from 0. */
  partsOf: (commands: readonly Command<Kind>[]) => number[];
  /**
   * Run first where there are several parts; the first one has all keys. A command that changes nothing locks nothing,
   * and one on the same group in a later part would lock it out of order.
   */
  lock?: (session: Session, commands: readonly Command<Kind>[]) => Promise<void>;
  /** Whether they take several statements, of which all happen or none. */
  isTransaction?: (commands: readonly Command<Kind>[]) => boolean;
  /**
   * Whether doing it again, or later than its caller was told that it failed, does no harm. What does is a
   * transaction: the server may read it when it was given up long ago, and nobody tells it to commit then.
   */
  isRepeatable: boolean;
}

const executions: { [Kind in CommandKind]: Execution<Kind> } = {
  leaseIds: { execute: leaseIds, partsOf: together, isRepeatable: true },
  ensureWorkspace: singly(ensureWorkspace),
  createApiToken: singly(createApiToken),
  revokeApiToken: singly(revokeApiToken),
  addTokenKeyId: singly(addTokenKeyId),
  removeTokenKeyIds: singly(removeTokenKeyIds),
  createUserGroup: { execute: createUserGroups, partsOf: together, isRepeatable: true },
  importUserGroup: {
    execute: importUserGroups,
    partsOf: oneOfEachToken,
    isTransaction: () => true,
    isRepeatable: true,
  },
  copyUserGroups: { ...singly(copyUserGroups), isTransaction: () => true },
  // Between two tries of an update another one may have come, and have been acknowledged.
  updateUserGroup: {
    execute: updateUserGroups,
    partsOf: oneOfEachKey,
    lock: lockUserGroups,
    isRepeatable: false,
  },
  // As with an update; and what a lost answer has deleted may be made again by then.
  deleteUserGroup: {
    execute: deleteUserGroups,
    partsOf: oneOfEachKey,
    lock: lockUserGroups,
    isRepeatable: false,
  },
  rotateToken: {
    execute: rotateTokens,
    partsOf: together,
    isTransaction: (commands) => forgottenBy(commands).length > 0,
    isRepeatable: true,
  },
  resealToken: { execute: resealTokens, partsOf: together, isRepeatable: true },
  gatherStatistics: { execute: gatherStatistics, partsOf: together, isRepeatable: true },
  pingWrite: { execute: pingWrite, partsOf: together, isRepeatable: true },
};

/** All of a batch, whose commands are of one kind, or nothing of it. Throws `StoreUnavailable`. */
export async function runCommands(
  pool: ConnectionPool,
  commands: readonly Command[],
): Promise<CommandResult[]> {
  const { execute, partsOf, lock, isTransaction, isRepeatable } = executions[
    commands[0]!.kind
  ] as Execution<CommandKind>;
  // A part comes first after the one before it has come.
  const parts = [...placesOf(partsOf(commands)).values()];
  const work = async (session: Session): Promise<CommandResult[]> => {
    const results: CommandResult[] = new Array(commands.length);
    const held = new Map<string, UserGroup>();
    for (const [part, places] of parts.entries()) {
      const ofPart = places.map((place) => commands[place]!);
      // They are asked at one time, and travel together.
      const locking = part === 0 && parts.length > 1 && lock?.(session, ofPart);
      const [ofPlaces] = await Promise.all([execute(session, ofPart, held), locking]);
      putInPlace(results, places, ofPlaces);
    }
    return results;
  };
  const takesTransaction = parts.length > 1 || !isRepeatable || isTransaction?.(commands);
  return takesTransaction ? pool.transaction(work, isRepeatable) : pool.run(work);
}

function together(commands: readonly Command[]): number[] {
  return commands.map(() => 0);
}

/** Commands on one key keep their order: the first of each key, then the second of each key, and so on. */
function oneOfEachKey(commands: readonly { key: UserGroupKey }[]): number[] {
  return oneOfEach(commands, ({ key }) => [spell(key)]);
}

/** The same for commands on one key or with one token. */
function oneOfEachToken(commands: readonly ImportedUserGroup[]): number[] {
  return oneOfEach(commands, ({ key, claim }) => [spell(key), claim]);
}

function oneOfEach<Item>(items: readonly Item[], namesOf: (item: Item) => string[]): number[] {
  const next = new Map<string, number>();
  return items.map((item) => {
    const names = namesOf(item);
    const part = Math.max(...names.map((name) => next.get(name) ?? 0));
    for (const name of names) next.set(name, part + 1);
    return part;
  });
}

/** For commands that are rare: a statement each. All of them may be repeated. */
function singly<Kind extends CommandKind>(
  execute: (session: Session, command: Command<Kind>) => Promise<CommandResult<Kind>>,
): Execution<Kind> {
  return {
    execute: async (session, [command]) => [await execute(session, command!)],
    partsOf: (commands) => commands.map((_, index) => index),
    isRepeatable: true,
  };
}
