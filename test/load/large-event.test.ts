// Replacing the values of many large user groups at the same time: the event of each has what it replaced.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { median } from '../../bench/median.ts';
import { type Monitored, whileMonitored } from '../../reliability/support/event-loop.ts';
import type { Session } from '../../src/store/postgres/client/session.ts';
import { recordAtCommit } from '../../src/store/postgres/event/record.ts';
import type { Recording } from '../../src/store/steps.ts';
import { block } from '../support/block.ts';
import { postgres } from '../support/database.ts';
import { mapConcurrently } from '../support/http.ts';
import { served } from '../support/process.ts';

const GROUPS = 200;
const ROUNDS = 3;
const LARGE = `{"a":[${'1,'.repeat(32_000)}1]}`;
/** Goal for a turn of the event loop, in milliseconds of processor time. */
const TURN_MS = 50;
/** Duration of each turn of a busy event loop. */
const BUSY_TURN_MS = 20;

describe('Concurrent changes of large user groups (PostgreSQL)', () => {
  it('are compared in several turns of the event loop', async (test) => {
    const measure = async ({ service, loop, token }: Monitored) => {
      const ids = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
      const put = (id: string, properties: string) => {
        const body = `{"name":"Large","properties":${properties}}`;
        return served(() => service.call(token, 'PUT', `/v1/user-groups/${id}`, body));
      };
      const measured: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        await mapConcurrently(ids, (id) => put(id, LARGE));
        const [responses, { longestTurnCpuMs }] = await loop.turnsDuring(() =>
          Promise.all(ids.map((id) => put(id, `{"a":[${round}]}`))),
        );
        for (const { status } of responses) assert.equal(status, 200);
        measured.push(longestTurnCpuMs);
      }
      return measured;
    };
    const turns = await whileMonitored(postgres, measure, { UGS_THREADS: '1' });
    test.diagnostic(`${turns} ms`);
    assert.ok(median(turns) <= TURN_MS, `the longest turns took ${turns} ms`);
  });

  it('do not wait for a busy event loop for most of the time of their transaction', async () => {
    const changes = { compare: () => 8 * LARGE.length };
    const recordings = Array.from({ length: GROUPS }, () => ({ event: {}, changes }));
    const session = { isDistributed: false, atCommit: () => {} };
    let turns = 0;
    const busy = (): void => {
      turns++;
      block(BUSY_TURN_MS);
      next = setImmediate(busy);
    };
    let next = setImmediate(busy);
    await recordAtCommit(session as unknown as Session, recordings as unknown as Recording[]);
    clearImmediate(next);
    assert.ok(turns > 0 && turns < GROUPS / 2, `${turns} turns`);
  });
});
