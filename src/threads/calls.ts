// Calls between the main thread and the other serving threads.

import type { MessagePort, Worker } from 'node:worker_threads';
import { type BirpcReturn, createBirpc } from 'birpc';
import type { ConfigMessage } from '../config.ts';
import type { ServerFacts, WriterConnection } from '../database.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';
import type { ThreadMetricsMessage } from '../metrics/metrics.ts';
import type { Validator } from '../operations/property-schema/validator/validator.ts';
import type { SharedMemory } from '../serving.ts';

export interface ThreadStart {
  /** The number of the thread; 0 is the main thread. */
  thread: number;
  config: ConfigMessage;
  server: ServerFacts | null;
  memory: SharedMemory;
  logLevel: string;
  /** Members of every line of the log. */
  logBindings: Record<string, unknown>;
  /** Memory of the `SharedClock`. */
  clock: SharedArrayBuffer;
}

interface ThreadCalls {
  /** Opens the database, and prepares everything but the port. */
  open(start: ThreadStart): Promise<void>;
  listen(host: string, port: number): Promise<void>;
  collectMetrics(): Promise<ThreadMetricsMessage>;
  /** Drains and closes; the thread exits afterwards. */
  close(): Promise<void>;
}

export interface MainCalls {
  log(line: string): void;
  eventReduced(tenant: Tenant): void;
  databaseUnavailable(reason: string): void;
  connectionRefused(reason: string): void;
  databaseAvailable(): void;
  /** The endpoints have due deliveries. */
  wake(endpoints: readonly WebhookEndpointKey[]): void;
  connectWriter(): WriterConnection;
  validate: Validator['validate'];
}

/** Calls without a response. */
const EVENTS: (keyof MainCalls)[] = [
  'log',
  'eventReduced',
  'databaseUnavailable',
  'connectionRefused',
  'databaseAvailable',
  'wake',
];

export function callMain(port: MessagePort, functions: ThreadCalls): BirpcReturn<MainCalls, ThreadCalls> {
  return createBirpc<MainCalls, ThreadCalls>(functions, { ...channel(port), eventNames: EVENTS });
}

export function callThread(worker: Worker, functions: MainCalls): BirpcReturn<ThreadCalls, MainCalls> {
  return createBirpc<ThreadCalls, MainCalls>(functions, channel(worker));
}

interface Response {
  /** Result of the call. */
  r?: unknown;
  /** Error of the call. */
  e?: unknown;
}

function channel(port: MessagePort | Worker) {
  return {
    post: (message: Response) => {
      const transferred = isConnection(message.r) ? [message.r.port] : [];
      port.postMessage(
        message.e instanceof Error ? { ...message, e: portable(message.e) } : message,
        transferred,
      );
    },
    on: (receive: (message: Response) => void) => {
      port.on('message', (message: Response) => {
        receive(message.e === undefined ? message : { ...message, e: revived(message.e as PortableError) });
      });
    },
    // A thread may wait for its database for as long as the settings say.
    timeout: -1,
  };
}

function isConnection(value: unknown): value is WriterConnection {
  return value instanceof Object && 'port' in value;
}

/** Structured cloning drops the members that Node adds to an error. */
interface PortableError {
  message: string;
  stack: string | undefined;
  cause: PortableError | undefined;
  members: Record<string, unknown>;
}

function portable(error: Error): PortableError {
  const { name, message, stack, cause } = error;
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  return {
    message,
    stack,
    cause: cause instanceof Error ? portable(cause) : undefined,
    members: { name, code, syscall, address, port },
  };
}

function revived({ message, stack, cause, members }: PortableError): Error {
  const error = new Error(message, cause && { cause: revived(cause) });
  return Object.assign(error, { stack, ...members });
}
