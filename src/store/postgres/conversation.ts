// What is asked at one time on one connection travels together, in one exchange.

export interface Statement {
  /** Names the prepared statement: one text has it, and no other. */
  name: string;
  sql: string;
}

export interface Session {
  /** Whether an attempt before this one may have done the same, and its answer was lost. */
  readonly isRepetition: boolean;
  /** The rows, each an array of its columns. Throws `Failure`. */
  query(statement: Statement, values?: readonly unknown[]): Promise<unknown[][]>;
}

export interface Question {
  statement: Statement;
  values: readonly unknown[];
}

interface Asked extends Question {
  resolve: (rows: unknown[][]) => void;
  reject: (error: unknown) => void;
}

export class Conversation implements Session {
  readonly isRepetition: boolean;
  readonly #exchange: (questions: readonly Question[]) => Promise<unknown[][][]>;
  #asked: Asked[] = [];
  #isWaiting = false;
  #failure: { error: unknown } | null = null;

  /** `exchange` gives the rows of each question. */
  constructor(exchange: (questions: readonly Question[]) => Promise<unknown[][][]>, isRepetition: boolean) {
    this.#exchange = exchange;
    this.isRepetition = isRepetition;
  }

  query(statement: Statement, values: readonly unknown[] = []): Promise<unknown[][]> {
    // Whoever has heard of the failure has given the connection back: this would come between what others ask on it.
    if (this.#failure !== null) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      this.#asked.push({ statement, values, resolve, reject });
      if (this.#asked.length === 1 && !this.#isWaiting) queueMicrotask(() => this.#ask());
    });
  }

  async #ask(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    this.#isWaiting = true;
    try {
      const results = await this.#exchange(asked);
      for (const [place, { resolve }] of asked.entries()) resolve(results[place]!);
    } catch (error) {
      this.#failure = { error };
      for (const { reject } of asked.concat(this.#asked.splice(0))) reject(error);
    }
    this.#isWaiting = false;
    if (this.#asked.length > 0) void this.#ask();
  }
}
