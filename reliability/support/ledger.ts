// Tracks every response to callers across all runs of the service, and the states that the responses leave
// possible, however the service was stopped.

import { redact } from '../../src/domain/secret.ts';
import { digestToken } from '../../src/domain/token.ts';
import { type Exchange, type State, statesAfter } from './model.ts';

/** Character with which the load pads properties. */
const FILLER = /x{9,}/g;
const TOKEN = /ug[ta]_[0-9A-Za-z]{49,52}/g;

/** The service returned an impossible response, or lost acknowledged data. */
export class PromiseBroken extends Error {
  override readonly name = 'PromiseBroken';

  constructor(message: string) {
    // Replaces tokens by their digests, which are not secret.
    super(
      redact(
        message.replace(TOKEN, (token) => `token-${digestToken(token).slice(0, 6)}`).replace(FILLER, 'x…'),
      ),
    );
  }
}

/** Concurrent operations on one group, each with its response or without one. */
export interface Round {
  id: string;
  exchanges: readonly Exchange[];
}

const ABSENT: readonly State[] = [null];

export class Ledger {
  readonly #states = new Map<string, readonly State[]>();
  readonly #tokens = new Map<string, string[]>();
  readonly #teamIdByToken = new Map<string, number>();
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

  /** Every token returned for the id, ordered from oldest to newest, including those of deleted groups. */
  tokensOf(id: string): readonly string[] {
    return this.#tokens.get(id) ?? [];
  }

  /** Throws `PromiseBroken` if a response contradicts all possible states. */
  record({ id, exchanges }: Round): void {
    const before = this.statesOf(id);
    const after = statesAfter(before, exchanges, (fact, value) =>
      fact === 'token' ? this.#teamIdByToken.has(value as string) : this.#idByTeam.has(value as number),
    );
    if (after.length === 0) {
      const [responses, states] = [exchanges, before].map((each) => JSON.stringify(each));
      throw new PromiseBroken(
        `${id}: the responses ${responses} match none of its possible states ${states}`,
      );
    }
    this.#states.set(id, after);
    for (const { response } of exchanges) {
      if (response === null) this.lost++;
      else this.answered++;
      this.#recordIds(id, response?.facts.teamId, response?.facts.token);
    }
  }

  /** No two groups may share a team_id or a token, including deleted groups. */
  #recordIds(id: string, teamId: number | null | undefined, token: string | null | undefined): void {
    if (teamId == null) return;
    if ((this.#idByTeam.get(teamId) ?? id) !== id)
      throw new PromiseBroken(`${id} has the team_id ${teamId} of ${this.#idByTeam.get(teamId)}`);
    this.#idByTeam.set(teamId, id);
    if (token == null) return;
    const owner = this.#teamIdByToken.get(token);
    if (owner !== undefined && owner !== teamId)
      throw new PromiseBroken(`${id}: one token belongs to the team_ids ${owner} and ${teamId}`);
    if (owner === undefined) this.#tokens.set(id, [...this.tokensOf(id), token]);
    this.#teamIdByToken.set(token, teamId);
  }
}
