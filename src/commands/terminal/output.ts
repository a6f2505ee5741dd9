// Output of the commands: JSON for scripts, aligned columns for people. Lists are printed page by page, in constant memory.

import type { JsonText } from '../../domain/json/strict-json.ts';
import { escapeControls, singleLine } from './terminal-text.ts';

/** A value to serialize, or JSON whose digits and order are printed unchanged. */
type Printable = object | JsonText;

/** Prints one JSON document on one line. */
export function printJson(value: Printable): void {
  console.log(printableText(value));
}

/** Prints what a command has done: JSON for scripts, or the text for people. */
export function printResult({ json = false }: { json?: boolean }, value: Printable, text: string): void {
  console.log(json ? printableText(value) : escapeControls(text));
}

let isSecretPrinted = false;

/** Prints a secret that no command prints again: a reader must not have closed the pipe. */
export function printSecret(...result: Parameters<typeof printResult>): void {
  isSecretPrinted = true;
  printResult(...result);
}

export function hasPrintedSecret(): boolean {
  return isSecretPrinted;
}

type Pages<Item> = AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>;

/** Columns of a table by heading: each shows a member of the JSON, or a text made from it. */
type Columns<Fields> = Readonly<Record<string, keyof Fields | ((fields: Fields) => string)>>;

/**
 * Prints a list page by page: JSON with all fields, or a table whose columns are aligned within a page and at least as
 * wide as on the previous pages. `toJson` is for fields that are JSON themselves.
 */
export async function printList<Item, Fields extends object>(
  { json = false }: { json?: boolean },
  pages: Pages<Item>,
  toFields: (item: Item) => Fields,
  columns: Columns<Fields>,
  toJson: (item: Item) => Printable = toFields,
): Promise<void> {
  if (json) return printJsonPages(pages, toJson);
  const toRow = (item: Item) => {
    const fields = toFields(item);
    return Object.values(columns).map((column) =>
      typeof column === 'function' ? column(fields) : String(fields[column] ?? '-'),
    );
  };
  const widths: number[] = [];
  let unprinted = [Object.keys(columns)];
  for await (const page of pages) {
    printAligned([...unprinted, ...page.map(toRow)], widths);
    unprinted = [];
  }
  if (unprinted.length > 0) printAligned(unprinted, widths);
}

/** Prints one JSON array on one line. */
async function printJsonPages<Item>(pages: Pages<Item>, toJson: (item: Item) => Printable): Promise<void> {
  let separator = '[';
  for await (const page of pages) {
    process.stdout.write(separator + page.map((item) => printableText(toJson(item))).join(','));
    separator = ',';
  }
  process.stdout.write(separator === '[' ? '[]\n' : ']\n');
}

function printableText(value: Printable): string {
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Prints rows below a heading in aligned columns. */
export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  printAligned([heading, ...rows], []);
}

/** Prints lines in columns. Increases `widths` to fit them. */
function printAligned(lines: readonly (readonly string[])[], widths: number[]): void {
  const texts = lines.map((line) => line.map(singleLine));
  for (const line of texts) {
    for (const [column, cell] of line.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const padded = texts.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)));
  console.log(padded.map((line) => line.join('  ').trimEnd()).join('\n'));
}

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
