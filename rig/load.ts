// Callers at work: each takes a group that nobody else is at, and does something to it that makes sense, or that
// makes none: several things at one time, the same thing again, a token that is long dead.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation } from './conversation.ts';
import type { Operation, State } from './model.ts';
import type { Random } from './random.ts';

export interface LoadOptions {
  conversation: Conversation;
  random: Random;
  /** Groups that are worked on: fewer meet the traces of earlier work more often. */
  groups: number;
  callers: number;
  /** How often properties are large: they fill the write-ahead log, and so bring on checkpoints. */
  largeShare?: number;
}

/** More than this many in one round would have too many orders to try. */
const AT_ONE_TIME = [1, 1, 1, 2, 3];
const WHERE_ABSENT = { create: 16, update: 1, delete: 1, resolve: 2, read: 1, rotate: 1 } as const;
const WHERE_PRESENT = { create: 2, update: 6, delete: 1, resolve: 3, read: 2, rotate: 6 } as const;
const BYTES = [10, 10, 10, 10, 300, 5_000];
const LARGE_BYTES = 60_000;
/** After a round without any answer: nobody is there to ask at full speed. */
const PAUSE_MS = 5;

export class Load {
  readonly #options: LoadOptions;
  readonly #free: string[];
  #values = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    // An id may hold anything, and stands in a path too.
    this.#free = Array.from({ length: options.groups }, (_, index) => `customer/${index} é`);
  }

  /** Every caller goes on while it may; what is under way is let end. Throws `PromiseBroken`. */
  async run(mayGoOn: () => boolean): Promise<void> {
    const { callers } = this.#options;
    const call = async (): Promise<void> => {
      while (mayGoOn()) if ((await this.#round()) === 0) await sleep(PAUSE_MS);
    };
    await Promise.all(Array.from({ length: callers }, call));
  }

  async #round(): Promise<number> {
    const { conversation, random } = this.#options;
    const [id] = this.#free.splice(random.below(this.#free.length), 1) as [string];
    try {
      return await conversation.round(id, this.#chooseRound(id));
    } finally {
      this.#free.push(id);
    }
  }

  #chooseRound(id: string): Operation[] {
    const { conversation, random } = this.#options;
    const states = conversation.ledger.statesOf(id);
    // Lost answers in a row would leave ever more possible states.
    if (states.length > 4) return [{ kind: 'read' }];
    const tokens = conversation.ledger.tokensOf(id);
    return Array.from({ length: random.pick(AT_ONE_TIME) }, () => this.#choose(states, tokens));
  }

  #choose(states: readonly State[], tokens: readonly string[]): Operation {
    const { random } = this.#options;
    const kind = random.weighted(states.every((state) => state === null) ? WHERE_ABSENT : WHERE_PRESENT);
    switch (kind) {
      case 'create':
        return { kind, name: this.#name(), mapping: this.#mapping(), properties: this.#properties() };
      case 'update':
        return { kind, fields: this.#someFields() };
      case 'rotate':
      case 'resolve': {
        const token = this.#pickToken(tokens);
        if (token === undefined) return { kind: 'read' };
        return kind === 'resolve' ? { kind, token } : { kind, token, isGraceful: random.chance(0.3) };
      }
      default:
        return { kind };
    }
  }

  /** Mostly the newest, often the one before it, and at times one from long ago. */
  #pickToken(tokens: readonly string[]): string | undefined {
    const { random } = this.#options;
    const back = random.pick([1, 1, 1, 1, 2, 2, 1 + random.below(tokens.length + 1)]);
    return tokens.at(-back) ?? tokens.at(-1);
  }

  #someFields(): (Operation & { kind: 'update' })['fields'] {
    const { random } = this.#options;
    const fields = { name: this.#name(), mapping: this.#mapping(), properties: this.#properties() };
    const sent = Object.entries(fields).filter(() => random.chance(0.5));
    return Object.fromEntries(sent);
  }

  #name(): string {
    return `Name ${++this.#values}`;
  }

  #mapping(): string | null {
    return this.#options.random.chance(0.3) ? null : `{"schema":${++this.#values}}`;
  }

  #properties(): string | null {
    const { random, largeShare = 0 } = this.#options;
    if (random.chance(largeShare)) return this.#text(LARGE_BYTES);
    return random.chance(0.3) ? null : this.#text(random.pick(BYTES));
  }

  #text(bytes: number): string {
    return `{"value":${++this.#values},"text":"${'x'.repeat(bytes)}"}`;
  }
}
