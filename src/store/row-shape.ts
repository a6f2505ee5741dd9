// Describes how values are stored: each column is named once, with its type and its conversions. Statements
// take lists of columns and parameters from a shape; the rest of a statement is written as SQL.

/** Types of PostgreSQL; columns of SQLite have the same names, and take numbers and texts alike. */
type ColumnType = 'integer' | 'bigint' | 'boolean' | 'text';
/** The value of one column. */
export type Cell = string | number | null;
/** The columns of a row, in order. */
export type Row = readonly unknown[];

interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** Stores a value in one column or several. */
export interface Field<Value> {
  readonly columns: readonly Column[];
  /** Appends a cell for each column. */
  write(value: Value, cells: Cell[]): void;
}

type Fields<Value> = { readonly [Name in keyof Value]-?: Field<Value[Name]> };

/** Stores undefined as null. */
function column<Value extends Cell | undefined>(name: string, type: ColumnType): Field<Value> {
  return { columns: [{ name, type }], write: (value, cells) => cells.push(value ?? null) };
}

export function integer<Value extends number | null>(name: string): Field<Value> {
  return column(name, 'integer');
}

export function bigint<Value extends number | null | undefined>(name: string): Field<Value> {
  return column(name, 'bigint');
}

export function text<Value extends string | null | undefined>(name: string): Field<Value> {
  return column(name, 'text');
}

/** Columns of an object, in the order in which its fields are given. */
export class RowShape<Value extends object> implements Field<Value> {
  readonly columns: readonly Column[];
  readonly fields: Fields<Value>;
  /** `name, name, …` */
  readonly names: string;
  /** `$1, $2, …`: one parameter for each column. */
  readonly parameters: string;
  readonly #fields: readonly (readonly [keyof Value, Field<Value[keyof Value]>])[];

  constructor(fields: Fields<Value>) {
    this.fields = fields;
    this.#fields = Object.entries(fields) as [keyof Value, Field<Value[keyof Value]>][];
    this.columns = this.#fields.flatMap(([, { columns }]) => columns);
    this.names = this.columns.map(({ name }) => name).join(', ');
    this.parameters = this.columns.map((_, index) => `$${index + 1}`).join(', ');
  }

  /** Returns the shape of these fields, in this order. */
  pick<Name extends keyof Value>(...names: readonly Name[]): RowShape<Pick<Value, Name>> {
    const fields = Object.fromEntries(names.map((name) => [name, this.fields[name]]));
    return new RowShape(fields as Fields<Pick<Value, Name>>);
  }

  /** `table.name, table.name, …` */
  namesIn(table: string): string {
    return this.columns.map(({ name }) => `${table}.${name}`).join(', ');
  }

  write(value: Value, cells: Cell[]): void {
    for (const [name, field] of this.#fields) field.write(value[name], cells);
  }

  /** Returns the values of a row, in the order of the columns. */
  cells(value: Value): Cell[] {
    const cells: Cell[] = [];
    this.write(value, cells);
    return cells;
  }

  /** Returns the values of a position in the order of the columns; null: the position before every row. */
  cellsAfter(position: Value | null): Cell[] {
    return position === null
      ? this.columns.map(({ type }) => (type === 'text' ? '' : 0))
      : this.cells(position);
  }

  /**
   * Returns the clauses for a page of the rows after a position, in the order of the columns. Their
   * parameters are `cellsAfter` and the limit.
   */
  pageAfter(): string {
    const limit = `$${this.columns.length + 1}`;
    return `where (${this.names}) > (${this.parameters}) order by ${this.names} limit ${limit}`;
  }
}

/** Describes the column of a field; its result stands for the field's value. */
interface ColumnReader {
  integer<Value extends number | null>(name: string): Value;
  bigint<Value extends number | null>(name: string): Value;
  text<Value extends string | null>(name: string): Value;
  /** An object as JSON. */
  json<Value extends object>(name: string): Value;
  /** An object whose columns are null together if there is none. */
  nullable<Value extends object>(describe: () => Value): Value | null;
}

type Describe<Value> = (column: ColumnReader) => Value;

/**
 * A shape whose rows can be read. Its description runs once to collect the columns, and then for each row: an object
 * literal is built ten times faster than an object to which a loop adds one property after the other.
 */
export class Entity<Value extends object> extends RowShape<Value> {
  /** Also describes these columns as part of another entity. */
  readonly describe: Describe<Value>;

  constructor(describe: Describe<Value>) {
    super(describedFields(describe(COLLECTOR)));
    this.describe = describe;
  }

  /** Reads the columns of a row from `index` on. */
  read(row: Row, index = 0): Value {
    return this.describe(CURSOR.at(row, index));
  }

  readOrNull(row: Row | undefined): Value | null {
    return row === undefined ? null : this.read(row);
  }

  readAll(rows: readonly Row[]): Value[] {
    return rows.map((row) => this.read(row));
  }
}

/** Collects the fields of a description: each value in its result is the field. */
const COLLECTOR = {
  integer,
  bigint,
  text,
  json: (name: string): Field<object> => ({
    columns: [{ name, type: 'text' }],
    write: (value, cells) => cells.push(JSON.stringify(value)),
  }),
  nullable: <Value extends object>(describe: () => Value): Field<Value | null> => {
    const shape = new RowShape(describedFields(describe()));
    return {
      columns: shape.columns,
      write: (value, cells) => {
        if (value === null) cells.push(...shape.columns.map(() => null));
        else shape.write(value, cells);
      },
    };
  },
} as unknown as ColumnReader;

/** `described` is the result of a description that ran with `COLLECTOR`. */
function describedFields<Value extends object>(described: Value): Fields<Value> {
  const fields = Object.entries(described as Record<string, Field<unknown> | object>).map(([name, field]) => [
    name,
    'columns' in field ? field : new RowShape(describedFields(field)),
  ]);
  return Object.fromEntries(fields) as Fields<Value>;
}

/** Reads the columns of one row after the other: a description asks for them in their order. */
class Cursor implements ColumnReader {
  #row: Row = [];
  #index = 0;

  at(row: Row, index: number): this {
    this.#row = row;
    this.#index = index;
    return this;
  }

  integer<Value>(): Value {
    return this.#row[this.#index++] as Value;
  }

  bigint<Value>(): Value {
    return this.#row[this.#index++] as Value;
  }

  text<Value>(): Value {
    return this.#row[this.#index++] as Value;
  }

  json<Value>(): Value {
    return JSON.parse(this.text());
  }

  nullable<Value>(describe: () => Value): Value | null {
    const isNull = this.#row[this.#index] === null;
    const value = describe();
    return isNull ? null : value;
  }
}

const CURSOR = new Cursor();
