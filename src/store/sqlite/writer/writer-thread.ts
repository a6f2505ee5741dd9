// The writer thread. A disk sync can take long, and must not block reads. Batches that several serving
// threads send at about the same time are one transaction, with one disk sync.

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { EventQuota } from '../../../domain/event/quota.ts';
import type { Tenant } from '../../../domain/tenant.ts';
import { monotonicMs } from '../../../scheduling/monotonic-ms.ts';
import { type Command, type CommandResult, StoreUnavailable } from '../../port.ts';
import { emptiesLog, runCommands } from '../command-executors.ts';
import { Connection } from '../file/connection.ts';
import { refuseAnother } from '../file/file.ts';
import { Checkpointer } from './checkpointer.ts';
import { type CommandBatch, decodeBatch } from './writer-message.ts';

/** A batch of commands from `encodeBatch`; the port of another client; or null to stop. */
export type WriterRequest = string | { client: MessagePort } | null;
/** `created`: the group was created exactly as in the command, so it need not be sent back. */
export type WriterReply =
  | { results: (CommandResult | 'created')[] }
  | { error: string; unavailable: boolean };
/** Message to the owner of the thread. */
export type WriterNotice =
  /** The environment of each event that the quota has reduced. */
  | { reduced: Tenant[] }
  /** The message of the error: see `Checkpointer`. */
  | { failedSync: string };

export interface WriterFile {
  file: string;
  identity: string;
  eventBytesPerDay: number;
  /** Counts the batches that the clients have posted, and wakes the thread while it waits for one. */
  posted: SharedArrayBuffer;
}

interface Batch extends CommandBatch {
  client: MessagePort;
}

/** How long a batch waits for those of other busy clients, which send theirs within 0.1 milliseconds. */
const MAX_LINGER_MS = 0.5;
/** A client that sent a batch within this time is busy. */
const BUSY_MS = 10;
/**
 * How long a batch waits for the lock of another program, from when the client sent it: batches that waited for other
 * batches meanwhile must get a response in time too. The last query of a request starts 1.5 seconds after its arrival.
 */
const MAX_LOCK_WAIT_MS = 3_000;
/** A batch that was sent within this time has not waited for another one that waited for the lock. */
const RECENT_MS = 100;

const { file, identity, eventBytesPerDay, posted: postedMemory } = workerData as WriterFile;
const owner = parentPort!;
/** When each client last sent a batch; `performance.now()`. */
const clients = new Map<MessagePort, number>();
const posted = new Int32Array(postedMemory);
const reduced: Tenant[] = [];
const eventQuota = new EventQuota({
  bytesPerDay: eventBytesPerDay,
  onReduced: ({ workspaceId, environment }) => reduced.push({ workspaceId, environment }),
});
const checkpointer = new Checkpointer(file, (message) => notify({ failedSync: message }));
let connection: Connection | null = null;

listen(owner);

function listen(client: MessagePort): void {
  clients.set(client, Number.NEGATIVE_INFINITY);
  client.on('close', () => clients.delete(client));
  client.on('message', (request: WriterRequest) => {
    const batch = receive(client, request);
    if (batch !== null) run([batch, ...collect(client)]);
  });
}

/** Returns the batch; carries out any other request and returns null. */
function receive(client: MessagePort, request: WriterRequest): Batch | null {
  if (typeof request === 'string') {
    clients.set(client, performance.now());
    return { client, ...decodeBatch(request) };
  }
  if (request === null) stop();
  else listen(request.client);
  return null;
}

/**
 * Collects the next batch of each other client. Waits a moment for busy clients: otherwise the batches of two
 * clients would alternate, each with a disk sync of its own.
 */
function collect(first: MessagePort): Batch[] {
  const batches: Batch[] = [];
  const deadline = performance.now() + MAX_LINGER_MS;
  const others = new Set(clients.keys());
  others.delete(first);
  while (others.size > 0) {
    const seen = Atomics.load(posted, 0);
    for (const other of others) {
      const received = receiveMessageOnPort(other) as { message: WriterRequest } | undefined;
      const batch = received === undefined ? null : receive(other, received.message);
      if (batch !== null) batches.push(batch);
      if (batch !== null || !isBusy(other)) others.delete(other);
    }
    const remainingMs = deadline - performance.now();
    if (others.size === 0 || remainingMs <= 0) break;
    Atomics.wait(posted, 0, seen, remainingMs);
  }
  return batches;
}

function isBusy(client: MessagePort): boolean {
  return performance.now() - clients.get(client)! < BUSY_MS;
}

function run(batches: readonly Batch[]): void {
  const replies = repliesTo(batches);
  for (const [index, { client }] of batches.entries()) client.postMessage(JSON.stringify(replies[index]));
  if (reduced.length > 0) notify({ reduced: reduced.splice(0) });
  checkpoint();
}

function notify(notice: WriterNotice): void {
  owner.postMessage(JSON.stringify(notice));
}

/** Runs after the replies, which do not wait for it. */
function checkpoint(): void {
  try {
    if (connection !== null) checkpointer.continue(connection);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    close();
  }
}

function repliesTo(batches: readonly Batch[]): WriterReply[] {
  try {
    refuseAnother(file, identity);
    connection ??= new Connection(file, eventQuota, checkpointer.onFailedSync);
    connection.limitLockWait(lockWaitMs(batches));
    const all = batches.map(({ commands }) => commands);
    if (all.some((commands) => commands.some(emptiesLog))) checkpointer.wait();
    return runCommands(connection, all).map((results, batch) => ({
      results: results.map((result, index) => (isCreated(all[batch]![index]!, result) ? 'created' : result)),
    }));
  } catch (error) {
    const isUnavailable = error instanceof StoreUnavailable;
    // A command of one client must not fail those of another.
    if (!isUnavailable && batches.length > 1) return batches.flatMap((batch) => repliesTo([batch]));
    // A file that could not be opened for writing stays open read-only, so the next batch reopens it.
    if (isUnavailable) close();
    // Errors lose their class when they are posted to another thread.
    const reply = { error: (error as Error).message, unavailable: isUnavailable };
    return batches.map(() => reply);
  }
}

/** Returns the rest of `MAX_LOCK_WAIT_MS` for the batch that was sent first. */
function lockWaitMs(batches: readonly Batch[]): number {
  const ageMs = monotonicMs() - Math.min(...batches.map(({ sentAt }) => sentAt));
  return ageMs < RECENT_MS ? MAX_LOCK_WAIT_MS : MAX_LOCK_WAIT_MS - ageMs;
}

function isCreated({ kind }: Command, result: CommandResult): boolean {
  return kind === 'createUserGroup' && (result as { created: boolean }).created;
}

function stop(): void {
  checkpointer.stop();
  close();
  for (const client of clients.keys()) client.close();
}

function close(): void {
  connection?.close();
  connection = null;
}
