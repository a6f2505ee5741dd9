// Contract: the service behaves the same with every default isolation level of the server as with
// PostgreSQL's own default.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PATIENT_STATEMENTS, postgres } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const PROCESSES = 4;
const ROUNDS = 8;
/** Settings for a server, and for a pooler that does not support session settings. */
const connections: Record<string, Record<string, string>> = {
  'a server': PATIENT_STATEMENTS,
  'a pooler': { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0', UGS_POSTGRES_PREPARED_STATEMENTS: 'off' },
};

for (const isolation of ['read committed', 'repeatable read', 'serializable']) {
  for (const [way, env] of Object.entries(connections)) {
    describe(`connected to ${way} with the default isolation level ${isolation}`, () => {
      const stack = suiteStack();
      const services: TestService[] = [];
      before(async () => {
        const database = stack.use(await postgres.createForService());
        const name = new URL(database.url).pathname.slice(1);
        await runSql(database, `alter database ${name} set default_transaction_isolation = '${isolation}'`);
        for (let index = 0; index < PROCESSES; index++) {
          const service = await TestService.start(postgres, { database, env, returnsOverloaded: true });
          stack.defer(() => service.stop());
          services.push(service);
        }
      });

      /** Makes one concurrent call through each process. */
      function concurrently<Result>(
        call: (service: TestService, index: number) => Promise<Result>,
      ): Promise<Result[]> {
        return Promise.all(services.map(call));
      }

      it('one of several concurrent creates creates the group, and all return it', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const body = { user_group_id: `new ${round}`, name: 'New' };
          const responses = await concurrently((service) => service.get(body));
          assertAllAnswered(responses);
          assert.equal(responses.filter(({ json }) => json.new_user_group).length, 1);
          assert.equal(new Set(responses.map(({ json }) => json.user_group.token)).size, 1);
        }
      });

      it('every concurrent update is applied', async () => {
        await services[0]!.get({ user_group_id: 'updated', name: 'Updated' });
        for (let round = 0; round < ROUNDS; round++) {
          const responses = await concurrently((service, index) =>
            service.put({ user_group_id: 'updated', name: `${round} ${index}` }),
          );
          assertAllAnswered(responses);
        }
        const { json } = await services[0]!.call('GET', '/v1/user-groups/updated');
        assert.equal(json.user_group.version, 1 + ROUNDS * PROCESSES);
      });

      it('one of several concurrent rotations rotates the token, and all return the new one', async () => {
        let { token } = (await services[0]!.get({ user_group_id: 'rotated', name: 'R' })).json.user_group;
        for (let round = 0; round < ROUNDS; round++) {
          const responses = await concurrently((service) => service.post({ current_token: token }));
          assertAllAnswered(responses);
          const tokens = new Set(responses.map(({ json }) => json.user_group.token));
          assert.equal(tokens.size, 1);
          [token] = tokens;
        }
      });

      it('a token in several concurrent imports is assigned to one group', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          // The token contains the bucket of the group with this id; the other groups are in other buckets.
          const home = `home ${round}`;
          const { token } = (await services[0]!.get({ user_group_id: home, name: 'Home' })).json.user_group;
          await services[0]!.call('DELETE', `/v1/user-groups/${encodeURIComponent(home)}`);
          const results = await concurrently((service, index) => {
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

      it('a token in concurrent imports into several workspaces is assigned to one group', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const home = `shared ${round}`;
          const { token } = (await services[0]!.get({ user_group_id: home, name: 'Home' })).json.user_group;
          await services[0]!.call('DELETE', `/v1/user-groups/${encodeURIComponent(home)}`);
          const results = await concurrently((service, index) => {
            // Imports into one workspace lock it, and would not run concurrently.
            const workspace = index === 0 ? 'default' : `workspace ${index}`;
            return service.importGroup({ user_group_id: home, name: 'I', token }, { workspace });
          });
          assert.equal(results.filter(({ result }) => result === 'created').length, 1);
        }
      });
    });
  }
}

function assertAllAnswered(responses: readonly TestResponse[]): void {
  const failures = responses.filter(({ status }) => status !== 200);
  assert.deepEqual(
    failures.map(({ status, json }) => `${status} ${json.code}`),
    [],
  );
}
