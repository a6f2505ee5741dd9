// The processes of a service are replaced in turn, over and over, while callers use them as the client package does:
// each repeats what it was not served, at another address where there is one. No call may fail, and nothing be lost.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind, TestDatabase } from '../test/database.ts';
import { Folder } from '../test/process.ts';
import { DatabaseIssuer } from './issuer.ts';
import { RestartedProcess } from './restarted-process.ts';
import { RollingCaller } from './rolling-caller.ts';

export interface RollingRestartOptions {
  kind: DatabaseKind;
  /** How many serve the database. */
  processes: number;
  restarts: number;
  onRestart: (restarts: number) => void;
  /** What is to be known of each call that failed. */
  onFailure: (failure: string) => void;
}

export interface RollingRestartFigures extends Record<string, number> {
  restarts: number;
  calls: number;
  /** Requests that were not served, and so sent again. */
  repeated: number;
  /** The same of the one call that had the most. */
  mostRepeated: number;
  failed: number;
  slowestMs: number;
  groups: number;
  /** Groups that are not as their caller was told. */
  lost: number;
}

const CALLERS = 16;
/** Under load, before a process ends and after it is back. */
const BETWEEN_MS = 500;
/** Where there is no other process: by then whoever has waited for it is back. */
const BETWEEN_ALONE_MS = 4_000;

export async function restartInTurn(options: RollingRestartOptions): Promise<RollingRestartFigures> {
  using folder = new Folder();
  const database = await options.kind.create();
  const processes: RestartedProcess[] = [];
  try {
    while (processes.length < options.processes)
      processes.push(await RestartedProcess.start(folder, database));
    const token = await newApiToken(database);
    const callers = Array.from(
      { length: CALLERS },
      (_, index) => new RollingCaller(index, processes, token, options.onFailure),
    );
    const betweenMs = processes.length === 1 ? BETWEEN_ALONE_MS : BETWEEN_MS;
    let isOver = false;
    const calling = Promise.all(callers.map((caller) => caller.callUntil(() => isOver)));
    for (let restarts = 0; restarts < options.restarts; options.onRestart(++restarts)) {
      await sleep(betweenMs);
      await processes[restarts % processes.length]!.restart();
    }
    await sleep(betweenMs);
    isOver = true;
    await calling;
    return await figuresOf(options.restarts, callers);
  } finally {
    await Promise.all(processes.map((process) => process[Symbol.asyncDispose]()));
    await database.drop();
  }
}

async function newApiToken(database: TestDatabase): Promise<string> {
  await using issuer = await DatabaseIssuer.open(database);
  return (await issuer.create('default', 'Customer')).token;
}

async function figuresOf(
  restarts: number,
  callers: readonly RollingCaller[],
): Promise<RollingRestartFigures> {
  const all = <Value>(of: (caller: RollingCaller) => Value): Value[] => callers.map(of);
  return {
    restarts,
    calls: sum(all(({ calls }) => calls)),
    repeated: sum(all(({ repeated }) => repeated)),
    mostRepeated: Math.max(...all(({ mostRepeated }) => mostRepeated)),
    failed: sum(all(({ failed }) => failed)),
    slowestMs: Math.round(Math.max(...all(({ slowestMs }) => slowestMs))),
    groups: sum(all(({ groups }) => groups)),
    lost: sum(await Promise.all(all((caller) => caller.lost()))),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
