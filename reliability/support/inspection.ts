// Reads everything that callers know again: each group with all its facts, its current token, and replaced
// tokens, which must no longer be accepted.

import type { Random } from './random.ts';
import type { Workload } from './workload.ts';

const CONCURRENCY = 16;

interface InspectionOptions {
  workload: Workload;
  random: Random;
  /** Number of replaced tokens tried per group: the newest, and a random sample of the others. */
  replacedTokens: number;
}

/** Returns the number of existing groups. Throws `PromiseBroken`. */
export async function inspect(options: InspectionOptions): Promise<number> {
  const { ledger } = options.workload;
  const ids = ledger.ids;
  const inspector = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await inspectGroup(id, options);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, inspector));
  return ledger.ids.filter((id) => ledger.statesOf(id)[0] !== null).length;
}

async function inspectGroup(id: string, { workload, random, replacedTokens }: InspectionOptions) {
  await workload.sendUntilAnswered(id, { kind: 'read' });
  // Resolves after the read, because it returns a token whose original response was lost.
  for (const token of someTokens(workload.ledger.tokensOf(id), replacedTokens + 1, random))
    await workload.sendUntilAnswered(id, { kind: 'resolve', token });
}

function someTokens(tokens: readonly string[], count: number, random: Random): readonly string[] {
  if (tokens.length <= count) return tokens;
  const newest = Math.ceil(count / 2);
  const older = Array.from({ length: count - newest }, () => random.pick(tokens.slice(0, -newest)));
  return [...tokens.slice(-newest), ...older];
}
