// Generates load: each caller picks a group that no other caller is using and sends it regular operations and
// unusual ones: concurrent operations, repeated operations, tokens that were replaced long ago.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation, State } from './model.ts';
import type { Random } from './random.ts';
import type { Workload } from './workload.ts';

interface LoadOptions {
  workload: Workload;
  random: Random;
  /** Number of groups: with fewer groups, operations meet the effects of earlier ones more often. */
  groups: number;
  callers: number;
  /** Share of large properties, which fill the write-ahead log and so trigger checkpoints. */
  largeShare?: number;
}

/** Numbers of operations in a round: more would have too many possible orders to check. */
const ROUND_SIZES = [1, 1, 1, 2, 3];
const WEIGHTS_IF_ABSENT = { create: 16, update: 1, delete: 1, resolve: 2, read: 1, rotate: 1 } as const;
const WEIGHTS_IF_PRESENT = { create: 2, update: 6, delete: 1, resolve: 3, read: 2, rotate: 6 } as const;
const BYTES = [10, 10, 10, 10, 300, 5_000];
const LARGE_BYTES = 60_000;
/** Pause after a round without a response, which avoids a busy loop while no process is listening. */
const PAUSE_MS = 5;

export class Load {
  readonly #options: LoadOptions;
  readonly #free: string[];
  #values = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    // Ids may contain any character, and they appear in paths.
    this.#free = Array.from({ length: options.groups }, (_, index) => `customer/${index} é`);
  }

  /** Runs until the condition is false and operations in flight have finished. Throws `PromiseBroken`. */
  async run(shouldContinue: () => boolean): Promise<void> {
    const { callers } = this.#options;
    const call = async (): Promise<void> => {
      while (shouldContinue()) if ((await this.#round()) === 0) await sleep(PAUSE_MS);
    };
    await Promise.all(Array.from({ length: callers }, call));
  }

  async #round(): Promise<number> {
    const { workload, random } = this.#options;
    const [id] = this.#free.splice(random.below(this.#free.length), 1) as [string];
    try {
      return await workload.round(id, this.#chooseRound(id));
    } finally {
      this.#free.push(id);
    }
  }

  #chooseRound(id: string): Operation[] {
    const { workload, random } = this.#options;
    const states = workload.ledger.statesOf(id);
    // Consecutive lost responses would multiply the possible states.
    if (states.length > 4) return [{ kind: 'read' }];
    const tokens = workload.ledger.tokensOf(id);
    return Array.from({ length: random.pick(ROUND_SIZES) }, () => this.#choose(states, tokens));
  }

  #choose(states: readonly State[], tokens: readonly string[]): Operation {
    const { random } = this.#options;
    const kind = random.weighted(
      states.every((state) => state === null) ? WEIGHTS_IF_ABSENT : WEIGHTS_IF_PRESENT,
    );
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

  /** Returns mostly the newest token, often the one before it, and sometimes a much older one. */
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
