// Splits a byte stream into lines in constant memory: a line that exceeds the limit is discarded as it arrives.

export interface Line {
  /** Line number, from 1. */
  number: number;
  /** Content without the line terminator; null if the line is too long. */
  bytes: Buffer | null;
  /** Offset of the end of the line in the input. */
  end: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Start of UTF-8 that Windows programs write. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

export interface BatchLimits {
  lineBytes: number;
  maxLines: number;
  maxBytes: number;
}

/** Yields the non-empty lines, in batches of at most `maxLines` lines and about `maxBytes` bytes. */
export function ndjsonBatches(input: AsyncIterable<Buffer>, limits: BatchLimits): AsyncGenerator<Line[]> {
  return lineBatches(split(input, limits), limits);
}

export async function* lineBatches(
  lines: AsyncIterable<Line>,
  { maxLines, maxBytes }: BatchLimits,
): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  let startsAt = 0;
  for await (const line of lines) {
    batch.push(line);
    if (batch.length < maxLines && line.end - startsAt < maxBytes) continue;
    yield batch;
    batch = [];
    startsAt = line.end;
  }
  if (batch.length > 0) yield batch;
}

async function* split(input: AsyncIterable<Buffer>, { lineBytes }: BatchLimits): AsyncGenerator<Line> {
  const splitter = new LineSplitter(lineBytes);
  for await (const chunk of input) yield* splitter.split(chunk);
  yield* splitter.end();
}

class LineSplitter {
  readonly #maxBytes: number;
  #number = 0;
  #end = 0;
  /** The start of an incomplete line, in pieces; at most `maxBytes` of it. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Yields the lines that end in the chunk. */
  *split(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      this.#append(chunk.subarray(start, end));
      this.#end++;
      yield* this.#line();
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  /** Yields the last line if it has no terminator. */
  *end(): Generator<Line> {
    if (this.#length > 0) yield* this.#line();
  }

  #append(piece: Buffer): void {
    this.#end += piece.length;
    this.#length += piece.length;
    if (this.#length <= this.#maxBytes) this.#pieces.push(piece);
  }

  *#line(): Generator<Line> {
    this.#number++;
    const isTooLong = this.#length > this.#maxBytes;
    const line = withoutReturn(this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces));
    const bytes = this.#number === 1 ? withoutMark(line) : line;
    this.#pieces = [];
    this.#length = 0;
    if (isTooLong || bytes.length > 0)
      yield { number: this.#number, bytes: isTooLong ? null : bytes, end: this.#end };
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

function withoutMark(line: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return line.subarray(0, length).equals(BYTE_ORDER_MARK) ? line.subarray(length) : line;
}

/** Whether an import reads a file of this name as CSV instead, unless --format is set. */
export function isCsvName(file: string): boolean {
  return file.toLowerCase().endsWith('.csv');
}
