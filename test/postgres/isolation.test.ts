// Contract: whatever isolation of transactions a server is set to, everything is as it is with that which PostgreSQL
// has by itself.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { postgres, type TestDatabase } from '../database.ts';
import type { TestAnswer } from '../http.ts';
import { TestService } from '../service.ts';
import { runSql } from '../sql.ts';

const PROCESSES = 4;
const ROUNDS = 20;
/** As it is, and behind a pooler that takes no settings of a session. */
const ways: Record<string, Record<string, string>> = {
  'a server': {},
  'a pooler': { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0', UGS_POSTGRES_PREPARED_STATEMENTS: 'off' },
};

for (const isolation of ['repeatable read', 'serializable']) {
  for (const [way, env] of Object.entries(ways)) {
    describe(`behind ${way} that isolates by ${isolation} where nothing is said`, () => {
      let database: TestDatabase;
      let services: TestService[];
      before(async () => {
        database = await postgres.create();
        const name = new URL(database.url).pathname.slice(1);
        await runSql(database, `alter database ${name} set default_transaction_isolation = '${isolation}'`);
        const starting = Array.from({ length: PROCESSES }, () =>
          TestService.start(postgres, { database, env }),
        );
        services = await Promise.all(starting);
      });
      after(async () => {
        for (const service of services) await service.stop();
        await database.drop();
      });

      /** One call through each process at one time. */
      function atOnce<Result>(
        call: (service: TestService, index: number) => Promise<Result>,
      ): Promise<Result[]> {
        return Promise.all(services.map(call));
      }

      it('one of those that create a group at once creates it, and all get it', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const body = { user_group_id: `new ${round}`, name: 'New' };
          const answers = await atOnce((service) => service.get(body));
          assertAllAnswered(answers);
          assert.equal(answers.filter(({ json }) => json.new_user_group).length, 1);
          assert.equal(new Set(answers.map(({ json }) => json.user_group.token)).size, 1);
        }
      });

      it('every update that comes with others is done', async () => {
        await services[0]!.get({ user_group_id: 'updated', name: 'Updated' });
        for (let round = 0; round < ROUNDS; round++) {
          const answers = await atOnce((service, index) =>
            service.put({ user_group_id: 'updated', name: `${round} ${index}` }),
          );
          assertAllAnswered(answers);
        }
        const { json } = await services[0]!.call('GET', '/v1/user-groups/updated');
        assert.equal(json.user_group.version, 1 + ROUNDS * PROCESSES);
      });

      it('one of those that rotate a token at once rotates it, and all get the new one', async () => {
        let { token } = (await services[0]!.get({ user_group_id: 'rotated', name: 'R' })).json.user_group;
        for (let round = 0; round < ROUNDS; round++) {
          const answers = await atOnce((service) => service.post({ current_token: token }));
          assertAllAnswered(answers);
          const tokens = new Set(answers.map(({ json }) => json.user_group.token));
          assert.equal(tokens.size, 1);
          [token] = tokens;
        }
      });

      it('a token that two imports bring at once goes to one group', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          // The group of this id is at home where the token names, and the others are not.
          const home = `home ${round}`;
          const { token } = (await services[0]!.get({ user_group_id: home, name: 'Home' })).json.user_group;
          await services[0]!.call('DELETE', `/v1/user-groups/${encodeURIComponent(home)}`);
          const results = await atOnce((service, index) => {
            return service.importGroup({
              user_group_id: index === 0 ? home : `${home}, ${index}`,
              name: 'I',
              token,
            });
          });
          assert.equal(results.filter(({ result }) => result === 'created').length, 1);
          const codes = results.flatMap((result) => (result.result === 'refused' ? [result.code] : []));
          assert.deepEqual(codes, new Array(PROCESSES - 1).fill('token_taken'));
        }
      });
    });
  }
}

function assertAllAnswered(answers: readonly TestAnswer[]): void {
  const failures = answers.filter(({ status }) => status !== 200);
  assert.deepEqual(
    failures.map(({ status, json }) => `${status} ${json.code}`),
    [],
  );
}
