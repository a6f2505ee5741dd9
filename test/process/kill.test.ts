// A process that is killed loses nothing that it has answered. KILLS sets how often it dies here.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../database.ts';
import { createApiToken, eventually, Folder, type Service, serve } from '../process.ts';

const KILLS = Number(process.env.KILLS ?? 5);
const CONNECTIONS = 12;
const GROUPS_A_KILL = 80;

describeOnEachDatabase('kill -9 during creates under load', (kind) => {
  it(`loses no acknowledged group and makes none twice, in ${KILLS} kills`, async () => {
    using folder = new Folder();
    const database = await kind.create();
    const { env } = database;
    try {
      const { token } = await createApiToken(folder, [], { env });
      const ledger = new Ledger();
      for (let kill = 1; kill <= KILLS; kill++) {
        await using service = await serve(folder, { env });
        const load = ledger.createUntilKilled(service, token);
        await eventually('answers', () => ledger.acknowledged >= kill * GROUPS_A_KILL);
        await service.kill();
        await load;
      }
      assert.ok(ledger.unanswered.length > 0, 'a kill cuts off some call');
      assert.deepEqual(ledger.createdTwice, []);

      await using service = await serve(folder, { env });
      await ledger.assertAllThere(service, token);
    } finally {
      await database.drop();
    }
  });
});

/** What callers have been told, over all lives of the service. */
class Ledger {
  readonly #tokens = new Map<string, string>();
  readonly #createdCount = new Map<string, number>();
  readonly #idsByTeam = new Map<number, string>();
  /** The ids of calls that a kill has cut off: the group may be there or not. */
  unanswered: string[] = [];
  #next = 0;

  get acknowledged(): number {
    return this.#tokens.size;
  }

  get createdTwice(): string[] {
    return [...this.#createdCount].filter(([, count]) => count > 1).map(([id]) => id);
  }

  async createUntilKilled(service: Service, token: string): Promise<void> {
    const again = this.unanswered;
    this.unanswered = [];
    // Two connections ask for each id, and those that were cut off are asked for again.
    const nextId = () => again.shift() ?? `group-${Math.floor(this.#next++ / 2)}`;
    const connections = Array.from({ length: CONNECTIONS }, async () => {
      for (let id = nextId(); await this.#create(service, token, id); ) id = nextId();
    });
    await Promise.all(connections);
  }

  /** Every group has the token that was told, and none is new. */
  async assertAllThere(service: Service, token: string): Promise<void> {
    const checks = [...this.#tokens].map(async ([id, expected]) => {
      const { status, json } = await service.call(token, 'GET', '/api/user', { user_group_id: id });
      assert.equal(status, 200, `${id} was acknowledged`);
      assert.equal(json.user_group.token, expected, `${id} has the token that was told`);
    });
    await Promise.all(checks);
  }

  /** False where the process died first. */
  async #create(service: Service, token: string, id: string): Promise<boolean> {
    const body = { user_group_id: id, name: id };
    const answer = await service.call(token, 'GET', '/api/user', body).catch(() => null);
    if (answer === null) {
      this.unanswered.push(id);
      return false;
    }
    assert.equal(answer.status, 200);
    const { new_user_group: created, user_group: group } = answer.json;
    if (created) this.#createdCount.set(id, (this.#createdCount.get(id) ?? 0) + 1);
    assert.equal(group.token, this.#tokens.get(id) ?? group.token, `${id} keeps its token`);
    this.#tokens.set(id, group.token);
    assert.equal(this.#idsByTeam.get(group.team_id) ?? id, id, 'no two groups share a team_id');
    this.#idsByTeam.set(group.team_id, id);
    return true;
  }
}
