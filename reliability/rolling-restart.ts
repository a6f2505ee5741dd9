// Restarts the processes of a service one after the other under load. Callers either connect directly and,
// like the client package, retry at the next address, or connect through nginx and do not retry. No call may
// fail, and no group may be lost.

import { setTimeout as sleep } from 'node:timers/promises';
import { UserGroupClient } from '../client/src/index.ts';
import type { DatabaseKind } from '../test/support/database.ts';
import { createApiToken, eventually, Folder, PROGRAM } from '../test/support/process.ts';
import { RollingCaller, type Target } from './rolling-restart/caller.ts';
import { type NginxConfiguration, startNginx } from './rolling-restart/nginx.ts';
import { type Restart, RestartedProcess } from './rolling-restart/restarted-process.ts';

interface RollingRestartOptions {
  kind: DatabaseKind;
  /** How many processes serve the database. */
  processes: number;
  restarts: number;
  /** The configuration of nginx; null: callers connect to the processes directly. */
  nginx: NginxConfiguration | null;
  /** Program with which the processes are started; this version if absent. */
  initial?: string;
  /** Returns the program that a restart starts, by its index; this version if absent. */
  programOf?: (restart: number) => string;
  onRestart: (restarts: number, restarted: RestartedProcess, tookMs: number) => void;
  /** Receives a report of each failed call. */
  onFailure: (failure: string) => void;
}

interface CallerFigures {
  calls: number;
  /** Requests that were not served and therefore repeated. */
  repeated: number;
  /** The highest number of repeated requests of one call. */
  mostRepeated: number;
  failed: number;
  slowestMs: number;
  groups: number;
  /** Tokens that resolved although they were replaced, or their group was suspended. */
  wrong: number;
  /** Groups that differ from the last response to their caller. */
  lost: number;
}

export interface RollingRestartFigures extends CallerFigures {
  restarts: number;
  slowestRestartMs: number;
  /** Restarts of the only process that outlast the retries of the client, although they got a processor. */
  tooSlow: number;
  /** Failed attempts of nginx to reach a process; 0 without nginx. */
  undelivered: number;
}

const CALLERS = 16;
/** Time under load before a process is stopped and after its restart. */
const BETWEEN_MS = 500;
/** Same time for a single process: long enough for waiting callers to retry. */
const BETWEEN_ALONE_MS = 4_000;
/**
 * Retries of a call to a single process, which outlast the slowest restart on a busy machine. `isDelayed` judges
 * how many were needed.
 */
const RETRIES_ALONE = 60;
/** Default of the client package; they take at least three seconds. */
const DEFAULT_RETRIES = 5;
const DEFAULT_RETRIES_MS = 3_000;
/** Default of the client package. */
const DEFAULT_TIMEOUT_MS = 30_000;

export async function rollingRestart(options: RollingRestartOptions): Promise<RollingRestartFigures> {
  using folder = new Folder();
  await using database = await options.kind.create();
  await using stack = new AsyncDisposableStack();
  const processes: RestartedProcess[] = [];
  while (processes.length < options.processes)
    processes.push(stack.use(await RestartedProcess.start(folder, database, options.initial)));
  await using nginx = options.nginx && (await startNginx(options.nginx, processes));
  // Uses the program of the processes, because this version would migrate the database before one of them
  // does.
  const { token: apiToken } = await createApiToken(folder, [], {
    env: database.env,
    program: options.initial ?? PROGRAM,
  });
  const targets: readonly Target[] = nginx ? [nginx] : processes;
  const isAlone = processes.length === 1;
  const callers = Array.from(
    { length: CALLERS },
    (_, index) =>
      new RollingCaller({
        index,
        targets,
        apiToken,
        maxRetries: nginx ? 0 : isAlone ? RETRIES_ALONE : undefined,
        onFailure: options.onFailure,
      }),
  );
  let isOver = false;
  const calling = Promise.all(callers.map((caller) => caller.callUntil(() => isOver)));
  const restarted = await restartEach(processes, callers, options);
  isOver = true;
  await calling;
  return {
    restarts: options.restarts,
    slowestRestartMs: Math.max(...restarted.map(({ tookMs }) => tookMs)),
    tooSlow: isAlone ? restarted.filter(({ workedMs }) => workedMs >= DEFAULT_RETRIES_MS).length : 0,
    // Connects directly, so that nginx does not affect the result.
    ...(await figuresOf(callers, new UserGroupClient({ url: processes[0]!.url, apiToken }))),
    undelivered: nginx?.undelivered ?? 0,
  };
}

/**
 * Whether the defaults of the client do not suffice: for a restart that the machine did not delay, or for a call although
 * every restart was fast.
 */
export function isDelayed({
  slowestRestartMs,
  tooSlow,
  mostRepeated,
  slowestMs,
}: RollingRestartFigures): boolean {
  const isExceeded = mostRepeated > DEFAULT_RETRIES || slowestMs > DEFAULT_TIMEOUT_MS;
  return tooSlow > 0 || (isExceeded && slowestRestartMs < DEFAULT_RETRIES_MS);
}

async function restartEach(
  processes: readonly RestartedProcess[],
  callers: readonly RollingCaller[],
  { restarts, programOf, onRestart }: RollingRestartOptions,
): Promise<Restart[]> {
  const betweenMs = processes.length === 1 ? BETWEEN_ALONE_MS : BETWEEN_MS;
  const restarted: Restart[] = [];
  for (let index = 0; index < restarts; index++) {
    await sleep(betweenMs);
    await callsEnded(callers);
    const process = processes[index % processes.length]!;
    const restart = await process.restart(programOf?.(index));
    restarted.push(restart);
    onRestart(index + 1, process, restart.tookMs);
  }
  await sleep(betweenMs);
  return restarted;
}

/**
 * Waits until each caller has ended the call that it makes now. nginx may have tried it before the restarted process
 * listened, on a busy machine long ago, and would have no process left for it.
 */
async function callsEnded(callers: readonly RollingCaller[]): Promise<void> {
  const before = callers.map(({ calls }) => calls);
  await eventually('the calls in flight to end', () =>
    callers.every(({ calls }, index) => calls > before[index]!),
  );
}

async function figuresOf(callers: readonly RollingCaller[], client: UserGroupClient): Promise<CallerFigures> {
  const all = <Value>(of: (caller: RollingCaller) => Value): Value[] => callers.map(of);
  return {
    calls: sum(all(({ calls }) => calls)),
    repeated: sum(all(({ repeated }) => repeated)),
    mostRepeated: Math.max(...all(({ mostRepeated }) => mostRepeated)),
    failed: sum(all(({ failed }) => failed)),
    slowestMs: Math.round(Math.max(...all(({ slowestMs }) => slowestMs))),
    groups: sum(all(({ groups }) => groups)),
    wrong: sum(all(({ wrong }) => wrong)),
    lost: sum(await Promise.all(all((caller) => caller.lost(client)))),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
