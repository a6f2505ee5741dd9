// Everything that callers were told, asked for again: each group with all its facts, the token that serves it, and
// replaced tokens, which serve nobody.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation } from './conversation.ts';
import { PromiseBroken } from './ledger.ts';
import type { Random } from './random.ts';

const AT_ONE_TIME = 16;
/** A busy machine refuses what it cannot do in time. */
const MOST_TIMES = 10;
const PAUSE_MS = 200;

export interface InspectionOptions {
  conversation: Conversation;
  random: Random;
  /** How many replaced tokens of each group are tried: the newest and, beyond them, some by chance. */
  replacedTokens: number;
}

/** Returns the number of groups that are there. Throws `PromiseBroken`. */
export async function inspect(options: InspectionOptions): Promise<number> {
  const { ledger } = options.conversation;
  const ids = ledger.ids;
  const inspector = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await inspectGroup(id, options);
  };
  await Promise.all(Array.from({ length: AT_ONE_TIME }, inspector));
  return ledger.ids.filter((id) => ledger.statesOf(id)[0] !== null).length;
}

async function inspectGroup(id: string, { conversation, random, replacedTokens }: InspectionOptions) {
  await ask([{ kind: 'read' }]);
  // After the read, which tells a token whose own answer was lost.
  for (const token of someTokens(conversation.ledger.tokensOf(id), replacedTokens + 1, random))
    await ask([{ kind: 'resolve', token }]);

  async function ask(operations: Parameters<Conversation['round']>[1]): Promise<void> {
    for (let times = 1; (await conversation.round(id, operations)) === 0; times++) {
      if (times === MOST_TIMES) throw new PromiseBroken(`${id} cannot be asked for`);
      await sleep(PAUSE_MS);
    }
  }
}

function someTokens(tokens: readonly string[], count: number, random: Random): readonly string[] {
  if (tokens.length <= count) return tokens;
  const newest = Math.ceil(count / 2);
  const older = Array.from({ length: count - newest }, () => random.pick(tokens.slice(0, -newest)));
  return [...tokens.slice(-newest), ...older];
}
