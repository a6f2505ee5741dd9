// Pipelining: several statements in one write and one round trip, with a single Sync. The pipelining of `pg`
// sends a Sync for each statement and asks for a description of the columns each time; for the two lookups of
// a GET, ours takes half of the client's CPU time.

import type pg from 'pg';
import { preparedStatements } from './pg-internals.ts';

export interface SentStatement {
  /** undefined: not prepared. */
  name: string | undefined;
  text: string;
  /** Strings, numbers, booleans, null or undefined; or arrays of these. */
  values: readonly unknown[];
}

/** The parts of protocol messages that a pipeline reads. */
interface RowDescription {
  fields: readonly { dataTypeID: number }[];
}
interface DataRow {
  fields: (string | null)[];
}

/** OIDs of int4 and int8; our int8 values are below 2^53. Every other column is read as text. */
export const NUMBER_TYPES: readonly number[] = [23, 20];
const NEEDS_ESCAPE = /["\\]/;
/** JSON escapes everything else as arrays do, in a third of the time. */
const DIFFERS_IN_JSON = /[\p{Cc}\p{Cs}]/u;
/** Indexes of numeric columns by statement text, which never change. */
const numberColumns = new Map<string, readonly number[]>();

/** Implements the `Submittable` interface of `pg`, as its own queries do. */
export class Pipeline implements pg.Submittable {
  readonly #statements: readonly SentStatement[];
  readonly #results: unknown[][][];
  /** Index of the statement whose result comes next. */
  #current = 0;
  /** `pg` wraps it to learn when the pipeline ends. */
  callback!: (error: unknown, results?: unknown[][][]) => void;
  readonly query_timeout: number;
  /** The server's confirmation of the last statement. */
  command = '';
  /** The rows of each statement, each row an array of its columns. Rejects if one fails; then none is applied. */
  readonly results: Promise<unknown[][][]>;

  constructor(statements: readonly SentStatement[], timeoutMs: number) {
    this.#statements = statements;
    this.#results = statements.map(() => []);
    this.query_timeout = timeoutMs;
    this.results = new Promise((resolve, reject) => {
      this.callback = (error, results) => (error ? reject(error) : resolve(results!));
    });
  }

  get name(): string | undefined {
    return this.#statements[this.#current]?.name;
  }

  get text(): string {
    return this.#statements[this.#current]!.text;
  }

  submit(connection: pg.Connection): void {
    const prepared = preparedStatements(connection);
    const sent = new Set<string>();
    connection.stream.cork();
    for (const { name = '', text, values } of this.#statements) {
      if (prepared[name] === undefined && !sent.has(name)) {
        connection.parse({ name, text, types: [] }, true);
        // The unnamed statement is whichever was parsed last.
        if (name !== '') sent.add(name);
      }
      if (!numberColumns.has(text)) connection.describe({ type: 'S', name }, true);
      connection.bind({ statement: name, values: values.map(toText) }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: RowDescription): void {
    const indexes = fields.flatMap(({ dataTypeID }, index) =>
      NUMBER_TYPES.includes(dataTypeID) ? [index] : [],
    );
    numberColumns.set(this.text, indexes);
  }

  handleDataRow({ fields }: DataRow): void {
    const row: unknown[] = fields;
    for (const index of numberColumns.get(this.text)!) {
      const text = fields[index];
      if (text !== null) row[index] = Number(text);
    }
    this.#results[this.#current]!.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.command = text;
    // The server described no columns: the statement never returns rows.
    if (!numberColumns.has(this.text)) numberColumns.set(this.text, []);
    this.#current++;
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }

  handleError(error: unknown): void {
    this.callback(error);
  }
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? `{${value.map(toElement).join()}}` : String(value);
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value !== 'string') return String(value);
  if (!NEEDS_ESCAPE.test(value)) return `"${value}"`;
  return DIFFERS_IN_JSON.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : JSON.stringify(value);
}
