// The time of a response does not tell why a token does not resolve: whether it is unknown, or belonged to a
// group that is suspended, deleted or another caller's.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { median } from '../../bench/median.ts';
import { mintUserGroupToken } from '../../src/domain/token.ts';
import { userGroupKey } from '../../src/domain/user-group/user-group.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

const ROUNDS = 600;
/** Largest difference between two times. Each additional round trip to PostgreSQL takes at least 15 per cent. */
const TOLERANCE = 0.1;
/** Properties that make the row of a group slow to read. */
const LARGE = { text: 'x'.repeat(60_000) };

describeOnEachDatabase('The time of a response', (kind) => {
  const service = TestService.of(kind);
  const tokens: Record<string, string> = {};
  before(async () => {
    const other = await service.apiToken({ workspaceName: 'other' });
    const create = async (id: string, token = service.token): Promise<string> => {
      const { json } = await service.get({ user_group_id: id, name: id, properties: LARGE }, { token });
      return json.user_group.token;
    };
    const imported = (name: string) => `${name}-from-another-system-0123456789`;
    for (const id of ['suspended', 'deleted'])
      await service.importGroup({ user_group_id: `imported-${id}`, name: id, token: imported(id) });
    tokens.suspended = await create('suspended');
    tokens.deleted = await create('deleted');
    tokens.replaced = await create('replaced');
    tokens['of another workspace'] = await create('foreign', other.token);
    tokens.unknown = mintUserGroupToken(
      userGroupKey({ workspaceId: 1, environment: 'Customer' }, 'unknown').bucket,
    ).reveal();
    await service.post({ current_token: tokens.replaced });
    for (const id of ['suspended', 'imported-suspended'])
      await service.call('POST', `/v1/user-groups/${id}/suspend`);
    for (const id of ['deleted', 'imported-deleted']) await service.call('DELETE', `/v1/user-groups/${id}`);
    Object.assign(importedTokens, {
      suspended: imported('suspended'),
      deleted: imported('deleted'),
      unknown: imported('unknown'),
    });
  });
  const importedTokens: Record<string, string> = {};

  for (const [title, tested] of [
    ['an issued token', tokens],
    ['an imported token', importedTokens],
  ] as const)
    it(`does not tell why ${title} does not resolve`, async (test) => {
      const times = await relativeTimes(tested, async (token) => {
        assert.equal((await service.resolve(token)).status, 404);
      });
      test.diagnostic(JSON.stringify(times));
      assertSimilar(times);
    });

  it('does not tell whether a token that cannot be rotated is one of another workspace', async (test) => {
    const { unknown, 'of another workspace': foreign } = tokens;
    const times = await relativeTimes({ unknown: unknown!, foreign: foreign! }, async (token) => {
      assert.equal((await service.post({ current_token: token })).status, 404);
    });
    test.diagnostic(JSON.stringify(times));
    assertSimilar(times);
  });
});

function assertSimilar(times: Record<string, number>): void {
  const values = Object.values(times);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  assert.ok(most - least < TOLERANCE * least, JSON.stringify(times));
}

/**
 * Returns the time of each token relative to that of the unknown one: the median of the rounds. Rounds of a busy
 * machine differ more than the tokens do.
 */
async function relativeTimes(
  tokens: Record<string, string>,
  call: (token: string) => Promise<void>,
): Promise<Record<string, number>> {
  const names = Object.keys(tokens);
  const ratios = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    const times: Record<string, number> = {};
    // In both orders, because a call may depend on the one before.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const start = performance.now();
      await call(tokens[name]!);
      times[name] = performance.now() - start;
    }
    for (const name of names) ratios.get(name)!.push(times[name]! / times.unknown!);
  }
  return Object.fromEntries([...ratios].map(([name, values]) => [name, Number(median(values).toFixed(3))]));
}
