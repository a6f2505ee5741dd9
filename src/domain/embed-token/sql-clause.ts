// The condition of a row-level security rule: `column = value`, or `column IN (…)` for a list, where the value is data of a
// user group. It is built here so that no caller has to quote SQL; a value that cannot be quoted safely is rejected.

import { JsonArray, parseTree, treeText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import { refused, type ValuePath } from './embed-token-type.ts';
import { isRounded } from './large-number.ts';
import { CONTROL, TEMPLATE_SYNTAX, type TextRule } from './plain-text.ts';

export const columnTypes = ['text', 'number'] as const;
/**
 * How a database escapes a quote in a literal: by doubling it (a backslash is literal), or by a backslash.
 */
export const stringEscapes = ['standard', 'backslash'] as const;

export interface ClauseColumn {
  column: string;
  type: (typeof columnTypes)[number];
  /** null: not known, so a value with a quote or a backslash is rejected. */
  escapes: (typeof stringEscapes)[number] | null;
}

/** Not quoted: databases differ in how they quote names. */
export const COLUMN_PATTERN = '^[A-Za-z_][A-Za-z0-9_]{0,62}(\\.[A-Za-z_][A-Za-z0-9_]{0,62})?$';

/**
 * The keywords that PostgreSQL does not accept as the name of a column, and those that it evaluates: unquoted, `user` is
 * the role of the session.
 */
const RESERVED = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation ' +
    'column concurrently constraint create cross current_catalog current_date current_role current_schema current_time ' +
    'current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze ' +
    'from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit ' +
    'localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references ' +
    'returning right select session_user similar some symmetric system_user table tablesample then to trailing true union ' +
    'unique user using variadic verbose when where window with'
  ).split(' '),
);

export function isReserved(column: string): boolean {
  return column.split('.').some((part) => RESERVED.has(part.toLowerCase()));
}

const NUMBER = /^-?\d{1,38}(?:\.\d{1,38})?$/;
/**
 * MySQL, MariaDB and SQL Server ignore spaces at the end of a text, and collations treat more characters as
 * spaces, so the value could select the rows of another value.
 */
const OUTER_SPACE: TextRule = { pattern: /^\s|\s$/u, detail: 'must not start or end with a space' };
/**
 * Databases and drivers treat control characters differently. Superset evaluates a clause as a Jinja template, and Spark
 * replaces `${x}` in the SQL by the value of a variable, or by nothing.
 */
const literalRules: readonly TextRule[] = [CONTROL, TEMPLATE_SYNTAX, OUTER_SPACE];

/** Throws `claim_invalid`, also for an empty list, which would have to select no row. */
export function sqlClause(column: ClauseColumn, value: JsonText, path: ValuePath): string {
  const tree = parseTree(value);
  if (!(tree instanceof JsonArray)) return `${column.column} = ${sqlLiteral(column, value, path)}`;
  if (tree.elements.length === 0) throw refused(path, 'must not be an empty list');
  const literals = tree.elements.map((element) => sqlLiteral(column, treeText(element), path));
  return `${column.column} IN (${literals.join(', ')})`;
}

function sqlLiteral({ type, escapes }: ClauseColumn, value: JsonText, path: ValuePath): string {
  const decoded: unknown = JSON.parse(value);
  if (typeof decoded !== 'string' && typeof decoded !== 'number')
    throw refused(path, 'must be a text, a number, or a list of these');
  // A number keeps its stored digits.
  const text = typeof decoded === 'string' ? decoded : value;
  return type === 'number' ? numberLiteral(text, path) : textLiteral(text, escapes, path);
}

function numberLiteral(text: string, path: ValuePath): string {
  if (!NUMBER.test(text))
    throw refused(path, 'must be a number without an exponent, for a column of the type number');
  // SQLite and BigQuery read a number with a decimal point as a double, which can equal an integer.
  if (text.includes('.') && isRounded(text))
    throw refused(path, 'must not have a fraction that a database could round to an integer');
  return text;
}

/**
 * Quotes a number too: MySQL compares a text column with a number by the digits that the text starts with. No quote is
 * safe in an unknown database: Spark joins `'a''b'` to `ab`, the value of another customer.
 */
function textLiteral(text: string, escapes: ClauseColumn['escapes'], path: ValuePath): string {
  const broken = literalRules.find(({ pattern }) => pattern.test(text));
  if (broken !== undefined) throw refused(path, broken.detail);
  if (escapes === 'backslash') return `'${text.replace(/['\\]/g, '\\$&')}'`;
  if (escapes === null && /['\\]/.test(text)) {
    throw refused(
      path,
      'has a quote or a backslash: say in settings.string_escapes how the database reads it',
    );
  }
  return `'${text.replaceAll("'", "''")}'`;
}
