// Everything that callers were told, asked for again: each group with all its facts, the token that serves it, and
// replaced tokens, which serve nobody.

import type { Conversation } from './conversation.ts';
import type { Random } from './random.ts';

const AT_ONE_TIME = 16;

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
  await conversation.insist(id, { kind: 'read' });
  // After the read, which tells a token whose own answer was lost.
  for (const token of someTokens(conversation.ledger.tokensOf(id), replacedTokens + 1, random))
    await conversation.insist(id, { kind: 'resolve', token });
}

function someTokens(tokens: readonly string[], count: number, random: Random): readonly string[] {
  if (tokens.length <= count) return tokens;
  const newest = Math.ceil(count / 2);
  const older = Array.from({ length: count - newest }, () => random.pick(tokens.slice(0, -newest)));
  return [...tokens.slice(-newest), ...older];
}
