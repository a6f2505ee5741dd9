// Statements that travel together: one write, one answer of the server, one read. `pg` by itself makes a round trip of
// each, and has the columns of its rows described every time: with a batch of 12 keys that was a quarter of the time
// of both sides.

import type pg from 'pg';

export interface SentStatement {
  /** undefined where it is not to be prepared. */
  name: string | undefined;
  text: string;
  /** Texts, numbers, booleans, null or undefined; or lists of these. */
  values: readonly unknown[];
}

/** One message of `pg`; of each kind that an exchange is told of, the part that it reads. */
interface RowDescription {
  fields: readonly { dataTypeID: number }[];
}
interface DataRow {
  fields: (string | null)[];
}

/** What of `pg`'s connection is not in its types. */
interface WireConnection extends pg.Connection {
  /** The prepared statements of the session, as `pg` keeps them: it adds `text` by `name` of what it runs. */
  parsedStatements: Record<string, string>;
}

/** int4 and int8, of which ours are below 2^53. Everything else that is read is text. */
export const NUMBER_TYPES: readonly number[] = [23, 20];
const NEEDS_ESCAPE = /["\\]/;
/** Of each statement the places of the columns that are numbers; they never change. */
const numberColumns = new Map<string, readonly number[]>();

/** `pg` calls it as it calls its own queries. */
export class Exchange implements pg.Submittable {
  readonly #statements: readonly SentStatement[];
  readonly #results: unknown[][][];
  /** Of the statement whose answer comes next. */
  #place = 0;
  /** `pg` replaces it, to hear of the end too. */
  callback!: (error: unknown, results?: unknown[][][]) => void;
  readonly query_timeout: number;
  /** The rows of each statement, each row an array of its columns. Rejects where one fails; then none is done. */
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
    return this.#statements[this.#place]?.name;
  }

  get text(): string {
    return this.#statements[this.#place]!.text;
  }

  submit(connection: pg.Connection): void {
    const { parsedStatements } = connection as WireConnection;
    const sent = new Set<string>();
    connection.stream.cork();
    for (const { name = '', text, values } of this.#statements) {
      if (parsedStatements[name] === undefined && !sent.has(name)) {
        connection.parse({ name, text, types: [] }, true);
        // The one without a name is whichever was parsed last.
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
    const places = fields.flatMap(({ dataTypeID }, place) =>
      NUMBER_TYPES.includes(dataTypeID) ? [place] : [],
    );
    numberColumns.set(this.text, places);
  }

  handleDataRow({ fields }: DataRow): void {
    const row: unknown[] = fields;
    for (const place of numberColumns.get(this.text)!) {
      const text = fields[place];
      if (text !== null) row[place] = Number(text);
    }
    this.#results[this.#place]!.push(row);
  }

  handleCommandComplete(): void {
    // The answer has described no columns, so it never has any.
    if (!numberColumns.has(this.text)) numberColumns.set(this.text, []);
    this.#place++;
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
  return `"${NEEDS_ESCAPE.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
}
