// Thread that compiles property schemas and checks properties. It stops work that takes too long; if it
// cannot stop the work, the main thread ends it.

import { setPriority } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { JsonText } from '../../../domain/json/strict-json.ts';
import { compileSchema, type SchemaCheck } from '../../../domain/json-schema/compile.ts';
import { parseExactly } from '../../../domain/json-schema/exact-number.ts';
import { schemaExamples } from '../../../domain/json-schema/example.ts';
import { SchemaInvalid } from '../../../domain/json-schema/schema-invalid.ts';
import type { Violation } from '../../../problem.ts';
import { cpuMs } from '../../../system/cpu-time.ts';
import { Stopwatch, TimeExceeded } from './stopwatch.ts';

/** Limits of a thread; times are in milliseconds of processor time. */
export interface ThreadLimits {
  compileMs: number;
  checkMs: number;
  /** Priority for the operating system: 0 is normal, 19 the lowest. */
  niceness: number;
}

export interface ValidatorRequest {
  schemaId: number;
  /**
   * JSON text; null if the thread already has the schema: copying 64 KiB for each check would take longer
   * than the check.
   */
  schema: JsonText | null;
  /** Id of a schema that the thread should forget; null for none. */
  dropped: number | null;
  /** JSON texts; null compiles the schema and tries it with examples. */
  properties: readonly JsonText[] | null;
}

/** `violations` are those of each of the properties; `limit` is the one of the processor time. */
export type Verdict =
  | { result: 'checked'; violations: Violation[][] }
  | { result: 'unusable_schema'; pointer: string; detail: string }
  | { result: 'exceeded'; limit: 'compile' | 'check' };

/**
 * `cpuMs` is the processor time of the thread since its start. `hasForgotten`: the thread no longer has any
 * schemas. `hasCompiled`: the thread has compiled the schema of the request, and begins to check.
 */
export type ValidatorReply = { cpuMs: number } & (
  | { verdict: Verdict; hasForgotten: boolean }
  | { hasCompiled: true }
  | { isReady: true }
);

interface KnownSchema {
  text: JsonText;
  check: SchemaCheck | null;
}

/** Half of the heap of a thread: patterns can take a thousand times the size of their text. */
const MAX_KEPT_BYTES = 32_000_000;

const { compileMs, checkMs, niceness } = workerData as ThreadLimits;
const schemas = new Map<number, KnownSchema>();
const stopwatch = new Stopwatch();

parentPort?.on('message', (request: ValidatorRequest) => {
  const verdict = reachVerdict(request);
  const hasForgotten = getHeapStatistics().used_heap_size > MAX_KEPT_BYTES;
  if (hasForgotten) schemas.clear();
  send({ verdict, hasForgotten, cpuMs: cpuMs() });
});
warmUp();
lowerPriority();
send({ isReady: true, cpuMs: cpuMs() });

function send(reply: ValidatorReply): void {
  parentPort?.postMessage(reply);
}

/** Compiles and checks a schema at start, because the first one takes longer. */
function warmUp(): void {
  stopwatch.start(Number.POSITIVE_INFINITY);
  const check = compileSchema(
    {
      properties: { a: { items: { type: 'string', pattern: '^[^@\\s]+@\\w+$' } } },
      additionalProperties: false,
    },
    stopwatch,
  );
  for (let round = 0; round < 20; round++) check({ a: ['a@b', 1], b: 1 });
}

/**
 * Lowers the priority. Called after the code is loaded: at a low priority, loading would take seconds on a
 * busy machine, and the first request does not wait that long. Linux only: on other systems, the priority is
 * that of the whole process.
 */
function lowerPriority(): void {
  if (niceness > 0 && process.platform === 'linux') setPriority(niceness);
}

function reachVerdict(request: ValidatorRequest): Verdict {
  let limit: 'compile' | 'check' = 'compile';
  try {
    const schema = knownSchema(request);
    const check = compiled(schema);
    limit = 'check';
    if (request.properties === null) tryExamples(schema, check);
    stopwatch.start(checkMs);
    const violations = (request.properties ?? []).map((text) => check(parseExactly(text)));
    return { result: 'checked', violations };
  } catch (error) {
    if (error instanceof TimeExceeded) return { result: 'exceeded', limit };
    if (error instanceof SchemaInvalid) return unusable(error.pointer, error.message);
    // A reference leads to itself without consuming data.
    if (error instanceof RangeError) return unusable('', 'must not refer to itself endlessly');
    throw error;
  }
}

function unusable(pointer: string, detail: string): Verdict {
  return { result: 'unusable_schema', pointer, detail };
}

function knownSchema({ schemaId, schema, dropped }: ValidatorRequest): KnownSchema {
  if (dropped !== null) schemas.delete(dropped);
  if (schema !== null) schemas.set(schemaId, { text: schema, check: null });
  return schemas.get(schemaId)!;
}

function compiled(schema: KnownSchema): SchemaCheck {
  if (schema.check !== null) return schema.check;
  stopwatch.start(compileMs);
  const check = compileSchema(parseExactly(schema.text), stopwatch);
  stopwatch.check();
  schema.check = check;
  send({ hasCompiled: true, cpuMs: cpuMs() });
  return check;
}

/**
 * Checks examples with the schema. Throws `TimeExceeded` if an example takes longer than a check may. All
 * examples together get no more time than that: the rest is skipped.
 */
function tryExamples({ text }: KnownSchema, check: SchemaCheck): void {
  const endAt = cpuMs() + checkMs;
  const examples = schemaExamples(parseExactly(text), stopwatch.step);
  for (let left = checkMs; left > 0; left = endAt - cpuMs()) {
    stopwatch.start(left);
    const next = orNull(() => examples.next());
    if (next === null || next.done) return;
    stopwatch.start(checkMs);
    check(next.value);
    stopwatch.check();
  }
}

/** Returns null if the work takes too long. */
function orNull<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof TimeExceeded) return null;
    throw error;
  }
}
