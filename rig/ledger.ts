// All that callers have been told, over every life of the service, and what it leaves possible. It knows nothing
// of how the service died.

import { redact } from '../src/domain/secret.ts';
import { digestOf } from '../src/domain/token.ts';
import { type State, statesAfter, type Told } from './model.ts';

/** What the load fills properties with. */
const FILLER = /x{9,}/g;
const TOKEN = /ug[ta]_[0-9A-Za-z]{49,52}/g;

/** The service has said something that cannot be true, or has lost what it had said. */
export class PromiseBroken extends Error {
  override readonly name = 'PromiseBroken';

  constructor(message: string) {
    // Told apart by their digests, which are no secret.
    super(
      redact(message.replace(TOKEN, (token) => `token-${digestOf(token).slice(0, 6)}`).replace(FILLER, 'x…')),
    );
  }
}

/** Operations on one group that were under way at one time, each answered or lost. */
export interface Round {
  id: string;
  told: readonly Told[];
}

const ABSENT: readonly State[] = [null];

export class Ledger {
  readonly #states = new Map<string, readonly State[]>();
  readonly #tokens = new Map<string, string[]>();
  /** The life of a group that a token was told for. */
  readonly #lifeByToken = new Map<string, number>();
  readonly #idByTeam = new Map<number, string>();
  answered = 0;
  lost = 0;

  static from(rounds: Iterable<Round>): Ledger {
    const ledger = new Ledger();
    for (const round of rounds) ledger.record(round);
    return ledger;
  }

  get ids(): string[] {
    return [...this.#states.keys()];
  }

  statesOf(id: string): readonly State[] {
    return this.#states.get(id) ?? ABSENT;
  }

  /** Every token that was told for the id, the newest last, in whatever life of it. */
  tokensOf(id: string): readonly string[] {
    return this.#tokens.get(id) ?? [];
  }

  /** Throws `PromiseBroken` where an answer fits nothing that was told before. */
  record({ id, told }: Round): void {
    const before = this.statesOf(id);
    const after = statesAfter(before, told, (fact, value) =>
      fact === 'token' ? this.#lifeByToken.has(value as string) : this.#idByTeam.has(value as number),
    );
    if (after.length === 0) {
      const [answers, states] = [told, before].map((each) => JSON.stringify(each));
      throw new PromiseBroken(`${id}: the answers ${answers} fit none of its possible states ${states}`);
    }
    this.#states.set(id, after);
    for (const { answer } of told) {
      if (answer === null) this.lost++;
      else this.answered++;
      this.#learn(id, answer?.facts.teamId, answer?.facts.token);
    }
  }

  /** No two groups share a team_id, and no two lives of groups a token. */
  #learn(id: string, teamId: number | null | undefined, token: string | null | undefined): void {
    if (teamId == null) return;
    if ((this.#idByTeam.get(teamId) ?? id) !== id)
      throw new PromiseBroken(`${id} has the team_id ${teamId} of ${this.#idByTeam.get(teamId)}`);
    this.#idByTeam.set(teamId, id);
    if (token == null) return;
    const life = this.#lifeByToken.get(token);
    if (life !== undefined && life !== teamId)
      throw new PromiseBroken(`${id}: one token serves the team_ids ${life} and ${teamId}`);
    if (life === undefined) this.#tokens.set(id, [...this.tokensOf(id), token]);
    this.#lifeByToken.set(token, teamId);
  }
}
