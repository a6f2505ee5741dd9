// Queries and commands that take the same statements on both databases, but several, which may depend on the results of
// those before: generators that yield the statements of each step, and get their results from the adapter.

import type { Changes } from '../domain/event/changes.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Command, CommandKind, CommandResult, Recorded } from './port.ts';
import type { Cell, RowShape } from './row-shape.ts';
import { type Call, exists, type Statement } from './statement.ts';

export type Steps<Result> = Generator<readonly Call<unknown>[], Result, unknown[]>;

export type CommandSteps<Kind extends CommandKind> = (
  command: Omit<Command<Kind>, 'kind'>,
  transaction: StepsTransaction,
) => Steps<CommandResult<Kind>>;

/** Locks and events that an adapter provides to a command. */
export interface StepsTransaction {
  /** Prevents other changes of the configuration until the end of the transaction. */
  lockEnvironment(tenant: Tenant): Steps<unknown>;
  /** Prevents the deletion of the workspace until then; returns whether it exists. */
  lockWorkspace(workspaceId: number): Steps<boolean>;
  /** Statements that keep the positions up to the last one of deleted events from being given to new events. */
  keepPositions(last: number): readonly Call<void>[];
  /** The events of the changes, recorded at the end. */
  recordings: Recording[];
}

/** A change that was made; recorded if it has an event. */
export interface Recording extends Recorded {
  version?: number | null;
  changes?: Changes | null;
}

/** One step: sends the statements together, and returns the result of each. */
export function* together<Results extends readonly unknown[]>(
  ...calls: { [Index in keyof Results]: Call<Results[Index]> }
): Steps<Results> {
  return (yield calls as readonly Call<unknown>[]) as readonly unknown[] as Results;
}

/** One step with one statement. */
export function* send<Result>(statement: Call<Result>): Steps<Result> {
  const [result] = yield* together(statement);
  return result;
}

/**
 * One step: sends the statement once for each row, with its cells and the same values after them. Returns for each row
 * whether the statement returned any, as one does that returns what it changes.
 */
export function* sendEach<Row extends object>(
  statement: Statement,
  shape: RowShape<Row>,
  rows: readonly Row[],
  ...values: Cell[]
): Steps<boolean[]> {
  return (yield rows.map((row) => exists(statement, [...shape.cells(row), ...values]))) as boolean[];
}
