// Prints the report of `npm test`: a line per file, or one progress line on a terminal, the first difference
// of each failure, and the slowest files. TEST_REPORT=full selects the report of Node's runner. Both redact
// tokens, which tests compare.

import { isAbsolute, relative, resolve } from 'node:path';
import { compose } from 'node:stream';
import type { EventData } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { stripVTControlCharacters } from 'node:util';
import { redact } from '../../src/domain/secret.ts';
import { explainFailure } from './failure.ts';
import { filesTakenBy, isQueueEntry } from './file-queue.ts';

const CLEAR_LINE = '\r\x1b[2K';
const SLOWEST = 10;
/**
 * Diagnostic of an error after the end of its test, which fails the process and is reported only in this way.
 */
const LATE_ERROR = /asynchronous activity after the test ended/;

// biome-ignore lint/style/noDefaultExport: the runner asks for it.
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const isFull = process.env.TEST_REPORT === 'full';
  const texts = isFull ? compose(events, new spec()) : new Report(process.stdout.isTTY).texts(events);
  for await (const text of texts) yield withoutSecrets(String(text));
}

/**
 * Redacts tokens. Differences are coloured per character, which would split a token, so lines with a token
 * lose their colours.
 */
function withoutSecrets(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const plain = stripVTControlCharacters(line);
      const redacted = redact(plain);
      return redacted === plain ? line : redacted;
    })
    .join('\n');
}

/** Produces the output for each event of the runner. */
class Report {
  readonly #isTerminal: boolean;
  readonly #startedAt = performance.now();
  /** Places of tests and suites, by process and id. */
  readonly #places = new Map<string, Place>();
  readonly #counts = new Map<string, { tests: number; failed: number; isCancelled: boolean }>();
  readonly #failures: string[] = [];
  readonly #durations: { file: string; ms: number }[] = [];
  #files = 0;
  #filesDone = 0;
  #lastFile = '';

  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
  }

  async *texts(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
    for await (const event of events) {
      const text = this.#textOf(event);
      if (!this.#isTerminal) yield text;
      else if (text !== '' || event.type === 'test:complete') yield this.#aboveProgress(text);
    }
    if (this.#isTerminal) yield CLEAR_LINE;
  }

  #textOf({ type, data }: TestEvent): string {
    switch (type) {
      case 'test:enqueue':
        if (isFile(data)) this.#files++;
        this.#places.set(keyOf(data, data.testId), this.#placeOf(data));
        return '';
      case 'test:complete':
        if (isEntry(data)) return this.#entryCompleted(data);
        return isFile(data) ? this.#fileCompleted(data) : this.#testCompleted(data);
      case 'test:stdout':
      case 'test:stderr':
        return data.message;
      case 'test:plan':
        // The plan of the whole run comes right before its totals.
        return data.file === undefined ? this.#slowest() + this.#recap() : '';
      case 'test:diagnostic':
        if (data.file === undefined) return `ℹ ${data.message}\n`;
        return LATE_ERROR.test(data.message) ? `✖ ${data.message}\n` : '';
      default:
        return '';
    }
  }

  #testCompleted(data: EventData.TestComplete): string {
    const { passed, type, error } = data.details;
    const { file, title } = this.#placeOf(data);
    const counts = this.#countsOf(file);
    if (type !== 'suite') counts.tests++;
    if (passed || data.todo !== undefined || failureTypeOf(error) === 'subtestsFailed') return '';
    counts.failed++;
    const failure = `${file}: ${title}`;
    this.#failures.push(failure);
    // If a hook fails, every test of its suite is cancelled: one of them stands for all.
    const isRepeated = failureTypeOf(error) === 'cancelledByParent' && counts.isCancelled;
    counts.isCancelled ||= failureTypeOf(error) === 'cancelledByParent';
    return isRepeated ? '' : `✖ ${failure}\n${indented(explainFailure(error))}`;
  }

  #fileCompleted({ name, details: { passed, error, duration_ms } }: EventData.TestComplete): string {
    this.#filesDone++;
    const file = shownPath(name);
    this.#lastFile = file;
    this.#durations.push({ file, ms: duration_ms });
    const { tests, failed } = this.#countsOf(file);
    const result = passed ? `${tests} tests` : failed > 0 ? `${failed} failed` : fileEnd(error);
    if (!passed && failed === 0) this.#failures.push(`${file}: ${result}`);
    if (passed && this.#isTerminal) return '';
    return `${passed ? '✔' : '✖'} ${file} (${result}, ${seconds(duration_ms)}) ${this.#progress()}\n`;
  }

  /** Reports only files that the process could not report before it ended; the others were reported. */
  #entryCompleted({ name, details: { passed, error } }: EventData.TestComplete): string {
    if (passed || failureTypeOf(error) === 'subtestsFailed') return '';
    const unreported = filesTakenBy(name)
      .map(shownPath)
      .filter((path) => !this.#durations.some(({ file }) => file === path));
    const failure = `${unreported.join(', ') || 'after its files'}: ${fileEnd(error)}`;
    this.#failures.push(failure);
    return `✖ ${failure}\n`;
  }

  /** Returns an empty text if there are so few files that their own lines show their durations. */
  #slowest(): string {
    if (this.#durations.length <= SLOWEST) return '';
    const slowest = this.#durations.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST);
    const lines = slowest.map(({ file, ms }) => `  ${seconds(ms).padStart(8)} ${file}\n`);
    return `\nSlowest files:\n${lines.join('')}\n`;
  }

  #recap(): string {
    if (this.#failures.length === 0) return '';
    const lines = this.#failures.map((failure) => `✖ ${failure}\n`);
    return `\nFailures; --full shows all of each:\n${lines.join('')}\n`;
  }

  #aboveProgress(text: string): string {
    const lines = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    return `${CLEAR_LINE}${lines}${this.#progress()} ${this.#lastFile}`;
  }

  #progress(): string {
    // Files that share processes are reported only when they start, so their total comes from the
    // environment.
    const total = process.env.TEST_FILES ?? this.#files;
    return `[${this.#filesDone}/${total} files, ${seconds(performance.now() - this.#startedAt)}]`;
  }

  #countsOf(file: string): { tests: number; failed: number; isCancelled: boolean } {
    const counts = this.#counts.get(file) ?? { tests: 0, failed: 0, isCancelled: false };
    this.#counts.set(file, counts);
    return counts;
  }

  #placeOf(data: EventData.TestEnqueue | EventData.TestComplete): Place {
    const { name, file, entryFile = file } = data;
    if (isFile(data)) return { file: shownPath(name), title: '' };
    const parent = this.#places.get(keyOf(data, data.parentId));
    if (parent === undefined || parent.title === '')
      return { file: parent?.file ?? shownPath(entryFile ?? ''), title: name };
    return { file: parent.file, title: `${parent.title} › ${name}` };
  }
}

/** Place of a test or a suite; its title names the suites around it, outermost first. */
interface Place {
  file: string;
  title: string;
}

/** Whether the event is about a process, which the runner reports as a test that contains the others. */
function isProcess({ name, file, entryFile }: EventData.LocationInfo & { name: string }): boolean {
  return entryFile === undefined && resolve(name) === file;
}

function isEntry(data: EventData.LocationInfo & { name: string }): boolean {
  return isProcess(data) && isQueueEntry(data.name);
}

function isFile(data: EventData.LocationInfo & { name: string }): boolean {
  if (isProcess(data)) return !isEntry(data);
  return isAbsolute(data.name) && data.file === data.entryFile;
}

function keyOf({ entryFile }: EventData.LocationInfo, testId: number | undefined): string {
  return `${testId} ${entryFile}`;
}

function failureTypeOf(error: unknown): unknown {
  return (error as { failureType?: unknown } | undefined)?.failureType;
}

/** Returns why a file failed although none of its tests did. */
function fileEnd(error: unknown): string {
  const { exitCode, signal, cause } = error as { exitCode?: number; signal?: string; cause?: unknown };
  const end = signal ?? exitCode;
  return end === undefined ? String((cause as Error).message ?? cause) : `the process ended with ${end}`;
}

function shownPath(path: string): string {
  return relative(process.cwd(), path);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `    ${line}\n`).join('');
}
