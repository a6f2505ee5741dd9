// Contract: any number of processes serve one PostgreSQL database as one service. A change acknowledged by
// one process is visible to the next request of every other.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PATIENT_STATEMENTS, postgres, type TestDatabase } from '../support/database.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { createApiToken, Folder, run, type Service, serve, served } from '../support/process.ts';
import { suiteStack } from '../support/suite.ts';

const PROCESSES = 3;
/** Updates of each group by each process: a busy machine would refuse more at a time. */
const ROUNDS = 3;

describe('three processes on one PostgreSQL database', () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let database: TestDatabase;
  const services: Service[] = [];
  let token: string;

  before(async () => {
    database = stack.use(await postgres.createForService());
    const env = { ...PATIENT_STATEMENTS, ...database.env };
    for (let index = 0; index < PROCESSES; index++) services.push(stack.use(await serve(folder, { env })));
    ({ token } = await createApiToken(folder, [], { env }));
  });

  /**
   * Calls a process, and tries again while it is too busy: the parallel calls are its first, and other tests
   * share the machine.
   */
  const callOne = (service: Service, method: string, body: object): Promise<TestResponse> =>
    served(() => service.call(token, method, '/api/user', body));

  /** Sends the same calls to all processes in parallel, each `times` times. */
  const callAll = (method: string, bodies: readonly object[], times = 1): Promise<TestResponse[]> => {
    const calls = Array.from({ length: times }, () => bodies)
      .flat()
      .flatMap((body) => services.map((service) => callOne(service, method, body)));
    return Promise.all(calls);
  };

  it('create a group once, with one token, for 200 parallel first calls to all of them', async () => {
    const calls = Array.from({ length: 200 }, (_, index) =>
      callOne(services[index % PROCESSES]!, 'GET', { user_group_id: 'race', name: 'Race' }),
    );
    const responses = await Promise.all(calls);
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    assert.equal(responses.filter(({ json }) => json.new_user_group).length, 1);
    assert.equal(new Set(responses.map(({ json }) => json.user_group.token)).size, 1);
    assert.equal(new Set(responses.map(({ json }) => json.user_group.team_id)).size, 1);
  });

  it('create each of many groups once, in whatever order the calls arrive', async () => {
    const bodies = Array.from({ length: 100 }, (_, index) => ({ user_group_id: `many-${index}`, name: 'M' }));
    const responses = await Promise.all(
      services.flatMap((service, shift) =>
        [...bodies.slice(shift * 30), ...bodies.slice(0, shift * 30).reverse()].map((body) =>
          callOne(service, 'GET', body),
        ),
      ),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    assert.equal(responses.filter(({ json }) => json.new_user_group).length, bodies.length);
    assert.equal(new Set(responses.map(({ json }) => json.user_group.token)).size, bodies.length);
    assert.equal(new Set(responses.map(({ json }) => json.user_group.team_id)).size, bodies.length);
  });

  it('return a group that one of them has just created', async () => {
    for (const [index, service] of services.entries()) {
      const body = { user_group_id: `new-${index}`, name: 'New' };
      const created = await service.call(token, 'GET', '/api/user', body);
      assert.equal(created.json.new_user_group, true);
      for (const response of await callAll('GET', [body])) {
        assert.equal(response.json.new_user_group, false);
        assert.equal(response.json.user_group.token, created.json.user_group.token);
      }
    }
  });

  it('reject a token that one of them has just rotated, and resolve the new one', async () => {
    const created = await services[0]!.call(token, 'GET', '/api/user', { user_group_id: 'turn', name: 'T' });
    let current = created.json.user_group.token as string;
    for (let turn = 0; turn < 3 * PROCESSES; turn++) {
      const old = current;
      const rotated = await services[turn % PROCESSES]!.call(token, 'POST', '/api/user', {
        current_token: old,
      });
      current = rotated.json.user_group.token;
      for (const service of services) {
        const ofOld = await service.call(token, 'POST', '/v1/resolve', { token: old });
        assert.equal(ofOld.status, 404);
        const ofCurrent = await service.call(token, 'POST', '/v1/resolve', { token: current });
        assert.equal(ofCurrent.json.user_group.provided_id, 'turn');
      }
    }
  });

  it('rotate a token once for parallel calls to all of them, and return the new one to every caller', async () => {
    const created = await services[0]!.call(token, 'GET', '/api/user', { user_group_id: 'spin', name: 'S' });
    const { token: old } = created.json.user_group;
    const responses = await callAll('POST', [{ current_token: old }], 20);
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(responses.map(({ json }) => json.user_group.token)).size, 1);
    assert.notEqual(responses[0]?.json.user_group.token, old);
  });

  it('return 404 for a group that one of them has just deleted, and create it once again', async () => {
    const body = { user_group_id: 'deleted', name: 'D' };
    for (const service of services) {
      const { token: old } = (await service.call(token, 'GET', '/api/user', body)).json.user_group;
      const deleted = await served(() => service.call(token, 'DELETE', '/v1/user-groups/deleted'));
      assert.equal(deleted.status, 204);
      const resolve = (each: Service) => each.call(token, 'POST', '/v1/resolve', { token: old });
      assert.deepEqual((await Promise.all(services.map(resolve))).map(statusOf), [404, 404, 404]);
      const responses = await callAll('GET', [body]);
      assert.equal(responses.filter(({ json }) => json.new_user_group).length, 1);
    }
  });

  it('return an update that one of them has just made', async () => {
    await services[0]!.call(token, 'GET', '/api/user', { user_group_id: 'shown', name: 'First' });
    for (const [index, service] of services.entries()) {
      const name = `Name ${index}`;
      await service.call(token, 'PUT', '/api/user', { user_group_id: 'shown', name, properties: { index } });
      for (const response of await callAll('GET', [{ user_group_id: 'shown', properties: null }])) {
        assert.equal(response.json.user_group.name, name);
        assert.deepEqual(response.json.user_group.properties, { index });
      }
    }
  });

  it('lose no update if all of them update the same groups in parallel', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `busy-${index}`);
    await callAll(
      'GET',
      ids.map((id) => ({ user_group_id: id, name: 'Busy' })),
    );
    const calls = services.flatMap((service, index) =>
      Array.from({ length: ROUNDS }, (_, round) =>
        (index === 1 ? ids.toReversed() : ids).map((id) =>
          callOne(service, 'PUT', { user_group_id: id, name: `Busy ${index} ${round}` }),
        ),
      ).flat(),
    );
    const responses = await Promise.all(calls);
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    for (const id of ids) {
      const { headers } = await services[0]!.call(token, 'GET', '/api/user', { user_group_id: id });
      // Each update changed the name, and so created a version.
      assert.match(headers.etag!, new RegExp(`-${1 + ROUNDS * PROCESSES}"$`));
    }
  });

  /** Sends the calls to all processes in parallel, and returns the response of the only one that is accepted. */
  async function acceptedOf(
    headers: Record<string, string | undefined>,
    request: (index: number) => TestRequest,
  ): Promise<TestResponse> {
    const calls = Array.from({ length: 30 }, (_, index) =>
      services[index % PROCESSES]!.send({ ...request(index), token, headers }),
    );
    const responses = await Promise.all(calls);
    const statuses = responses.map(statusOf).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 29 }, () => 412)]);
    return responses.find(({ status }) => status === 200)!;
  }

  it('accept one of many parallel updates of the same version', async () => {
    const body = { user_group_id: 'once', name: 'Once' };
    const { headers } = await services[0]!.call(token, 'GET', '/api/user', body);
    await acceptedOf({ 'if-match': headers.etag }, (index) => ({
      method: 'PUT',
      body: { user_group_id: 'once', name: `Once ${index}` },
    }));
  });

  it('accept one of many parallel rotations of the same version', async () => {
    const body = { user_group_id: 'turned once', name: 'T' };
    let { headers, json } = await services[0]!.call(token, 'GET', '/api/user', body);
    for (let round = 0; round < ROUNDS; round++) {
      const { etag } = headers;
      const request = [
        { method: 'POST', body: { current_token: json.user_group.token } },
        { method: 'POST', path: '/v1/user-groups/turned%20once/rotate' },
      ];
      ({ headers, json } = await acceptedOf({ 'if-match': etag }, (index) => request[index % 2]!));
      const stored = await services[round]!.call(token, 'GET', '/api/user', body);
      assert.equal(stored.json.user_group.token, json.user_group.token);
    }
  });

  it('accept one of many parallel creations with If-None-Match: *', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const body = { user_group_id: `created once ${round}`, name: 'C' };
      const { json } = await acceptedOf({ 'if-none-match': '*' }, () => ({ body }));
      assert.equal(json.new_user_group, true);
    }
  });

  it('reject an API token that a command has just revoked', async () => {
    const { env } = database;
    const { id, token: revoked } = await createApiToken(folder, [], { env });
    const resolve = (service: Service) => service.call(revoked, 'POST', '/v1/resolve', { token: 'unknown' });
    assert.deepEqual((await Promise.all(services.map(resolve))).map(statusOf), [404, 404, 404]);
    const { code } = await run(folder, ['api-token', 'revoke', String(id)], { env });
    assert.equal(code, 0);
    assert.deepEqual((await Promise.all(services.map(resolve))).map(statusOf), [401, 401, 401]);
  });
});

function statusOf({ status }: TestResponse): number {
  return status;
}
