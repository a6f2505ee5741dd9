// Splits a byte stream into lines in constant memory: a line that exceeds the limit is discarded as it arrives.

export interface Line {
  /** From 1. */
  number: number;
  /** Without the line terminator; null if the line is too long. */
  bytes: Buffer | null;
  /** Offset of the end of the line in the input. */
  end: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Yields the non-empty lines, in batches of at most `maxLines` lines and about `maxBytes` bytes. */
export async function* linesOf(
  input: AsyncIterable<Buffer>,
  limits: { lineBytes: number; maxLines: number; maxBytes: number },
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(limits.lineBytes);
  let lines: Line[] = [];
  let startsAt = 0;
  for await (const chunk of withEnd(input)) {
    for (const line of splitter.split(chunk)) {
      lines.push(line);
      if (lines.length < limits.maxLines && line.end - startsAt < limits.maxBytes) continue;
      yield lines;
      lines = [];
      startsAt = line.end;
    }
  }
  if (lines.length > 0) yield lines;
}

/** Yields the chunks, then null as end marker. */
async function* withEnd(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  yield* input;
  yield null;
}

class LineSplitter {
  readonly #maxBytes: number;
  #number = 0;
  #end = 0;
  /** The start of an incomplete line, in pieces. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Yields the lines that end in the chunk; for null, the last line if it has no terminator. */
  *split(chunk: Buffer | null): Generator<Line> {
    if (chunk === null) {
      if (this.#length > 0) yield* this.#line();
      return;
    }
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

  #append(piece: Buffer): void {
    this.#end += piece.length;
    this.#length += piece.length;
    if (this.#length <= this.#maxBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  *#line(): Generator<Line> {
    this.#number++;
    const isTooLong = this.#length > this.#maxBytes;
    const bytes = withoutReturn(this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#length = 0;
    if (isTooLong || bytes.length > 0)
      yield { number: this.#number, bytes: isTooLong ? null : bytes, end: this.#end };
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}
