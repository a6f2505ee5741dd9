// After a clean stop under load, `GET /v1/usage` is equal to a journal of the uses. A kill loses at most the
// uses since the last write.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseKind, describeOnEachDatabase } from '../support/database.ts';
import { eventually, ServedDatabase, type Service, serve, served } from '../support/process.ts';

const GROUPS = 40;
const CALLERS = 8;
/** Number of answered uses after which a load ends, at least. */
const USES = 300;
/** The service writes usage one minute after the first use. */
const WRITE_LIMIT_MS = 90_000;
const WRITE_POLL_MS = 2_000;

type Counts = Record<string, number>;

/** Groups of a service, with counts of their uses. */
class Journal implements AsyncDisposable {
  readonly #site: ServedDatabase;
  readonly #tokens: Map<string, string>;
  #service: Service;
  /** Counts of uses that were answered. */
  answered: Counts = {};
  /** Counts of uses that a kill left without a response. */
  unanswered: Counts = {};

  static async start(database: DatabaseKind): Promise<Journal> {
    // Without the stack, the process of a failed test would never end.
    await using stack = new AsyncDisposableStack();
    const site = stack.use(await ServedDatabase.start(database));
    const tokens = new Map<string, string>();
    for (let number = 0; number < GROUPS; number++) {
      const id = `group-${number}`;
      const body = { user_group_id: id, name: 'G' };
      const { json } = await served(() => site.service.call(site.token, 'GET', '/api/user', body));
      tokens.set(id, json.user_group.token);
    }
    stack.move();
    return new Journal(site, tokens);
  }

  private constructor(site: ServedDatabase, tokens: Map<string, string>) {
    this.#site = site;
    this.#service = site.service;
    this.#tokens = tokens;
  }

  /** Resolves tokens, then calls `end`, which may stop the service. */
  async load(end: (service: Service) => Promise<void>): Promise<void> {
    let isRunning = true;
    let answered = 0;
    const call = async () => {
      for (let uses = 0; isRunning; uses++) {
        const [id, token] = [...this.#tokens][(uses * uses) % GROUPS]!;
        try {
          const { status } = await this.#service.call(this.#site.token, 'POST', '/v1/resolve', { token });
          if (status !== 200) {
            assert.equal(status, 503);
            continue;
          }
          increment(this.answered, id);
          answered++;
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          increment(this.unanswered, id);
          return;
        }
      }
    };
    const calls = Promise.all(Array.from({ length: CALLERS }, call));
    await Promise.race([calls, eventually('uses', () => answered >= USES)]);
    await end(this.#service);
    isRunning = false;
    await calls;
  }

  async restart(): Promise<void> {
    this.#service = await serve(this.#site.folder, { env: this.#site.database.env });
  }

  async listed(): Promise<Counts> {
    const path = '/v1/usage?limit=1000&group_by=month';
    const { status, json, text } = await this.#service.call(this.#site.token, 'GET', path);
    assert.equal(status, 200, text);
    const counts: Counts = {};
    for (const { user_group_id: id, resolves } of json.usage) increment(counts, id, resolves);
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.kill();
    await this.#site[Symbol.asyncDispose]();
  }
}

function increment(counts: Counts, id: string, by = 1): void {
  counts[id] = (counts[id] ?? 0) + by;
}

function sorted(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).sort());
}

function isEqual(a: Counts, b: Counts): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

describe('Usage', { concurrency: true }, () => {
  describeOnEachDatabase('in a process', (database) => {
    it('loses by a kill at most what followed the last write, and nothing by a clean stop under load', async () => {
      await using journal = await Journal.start(database);
      await journal.load(async () => {});
      await eventually(
        'the write of all uses',
        async () => {
          await sleep(WRITE_POLL_MS);
          return isEqual(await journal.listed(), journal.answered);
        },
        WRITE_LIMIT_MS,
      );
      const written = { ...journal.answered };
      await journal.load(async (service) => void (await service.kill()));
      assert.notDeepEqual(journal.answered, written);
      await journal.restart();
      assert.deepEqual(sorted(await journal.listed()), sorted(written));

      journal.answered = written;
      journal.unanswered = {};
      await journal.load(async (service) => {
        service.signal('SIGTERM');
        assert.equal((await service.exit()).code, 0);
      });
      await journal.restart();
      const listed = await journal.listed();
      assert.deepEqual(Object.keys(listed).sort(), Object.keys(journal.answered).sort());
      for (const [id, answered] of Object.entries(journal.answered)) {
        const most = answered + (journal.unanswered[id] ?? 0);
        assert.ok(listed[id]! >= answered && listed[id]! <= most, `${id}: ${listed[id]} of ${answered}`);
      }
    });
  });
});
