// Reports a failed test in a few lines: its message, the first difference between the values, and the stack.

import { cwd } from 'node:process';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { redact } from '../../src/domain/secret.ts';
import { firstDifference } from './first-difference.ts';

const MAX_LINES = 8;
const MAX_LINE_LENGTH = 300;
const MAX_FRAMES = 3;
const COMPARISONS = ['==', 'strictEqual', 'deepEqual', 'deepStrictEqual', 'partialDeepStrictEqual'];
interface Assertion {
  operator: string;
  actual: unknown;
  expected: unknown;
  generatedMessage: boolean;
}

/** Returns the lines of an error that the runner reports. */
export function explainFailure(error: unknown): string[] {
  const cause = (error as { cause?: unknown } | undefined)?.cause ?? error;
  if (isSuppressed(cause)) return [cause.suppressed, cause.error].flatMap(explainFailure);
  if (!(cause instanceof Error)) return firstLines(String((error as Error | undefined)?.message ?? error));
  return [...reasonOf(cause), ...framesOf(cause)];
}

/** Whether disposal failed after the test had. A SuppressedError loses its class on its way to the runner. */
function isSuppressed(error: unknown): error is SuppressedError {
  return error instanceof Error && 'suppressed' in error && 'error' in error;
}

function reasonOf(error: Error): string[] {
  const difference = isComparison(error) ? firstDifference(error.actual, error.expected) : null;
  if (difference === null) return [...firstLines(error.message), ...causeOf(error)];
  const { path, expected, actual } = difference;
  return [
    ...((error as Error & Assertion).generatedMessage ? [] : firstLines(ownMessageOf(error))),
    ...(path === '' ? [] : [`at ${path}`]),
    `expected ${expected}`,
    `actual   ${actual}`,
  ];
}

/** Removes the diff that Node appends to the message of an assertion. */
function ownMessageOf({ message }: Error): string {
  return message.split('\n\n')[0]!;
}

function isComparison(error: Error): error is Error & Assertion {
  const { operator, expected } = error as Error & Assertion;
  // `assert.ok` compares with true, which explains nothing.
  return COMPARISONS.includes(operator) && !(operator === '==' && expected === true);
}

function causeOf({ cause }: Error): string[] {
  return cause instanceof Error ? firstLines(`caused by ${cause.message}`) : [];
}

function firstLines(text: string): string[] {
  // Redacts before it cuts, because a part of a token is not recognized.
  const lines = redact(stripVTControlCharacters(text)).trimEnd().split('\n');
  const shown = lines.slice(0, MAX_LINES).map(cut);
  return lines.length > MAX_LINES ? [...shown, `… (${lines.length - MAX_LINES} more lines)`] : shown;
}

function cut(line: string): string {
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line;
}

/** Returns the stack frames in this checkout. */
function framesOf({ stack = '' }: Error): string[] {
  const root = `${pathToFileURL(cwd()).href}/`;
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && line.includes(root) && !line.includes('/node_modules/'))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim().replace(root, ''));
}
