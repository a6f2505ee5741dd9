// Contract: preconditions (RFC 9110 §13) are honoured or rejected, never ignored. See version.test.ts for
// ETag.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

const PARALLEL = 30;
const USER_GROUPS = '/v1/user-groups';

interface Group {
  id: string;
  token: string;
  etag: string;
}

type Headers = Record<string, string>;
type Change = (service: TestService, group: Group, headers: Headers, index?: number) => Promise<TestResponse>;

/** Every call that can change an existing group, as a request that changes it, to another value for each index. */
const changes: Record<string, Change> = {
  'PUT /api/user': (service, { id }, headers, index = 0) =>
    service.put({ user_group_id: id, name: `New ${index}` }, { headers }),
  'POST /api/user': (service, { token }, headers) => service.post({ current_token: token }, { headers }),
  'PATCH /v1/user-groups/{user_group_id}': (service, { id }, headers, index = 0) =>
    service.call('PATCH', `${USER_GROUPS}/${id}`, { name: `New ${index}` }, { headers }),
  'PUT /v1/user-groups/{user_group_id}': (service, { id }, headers, index = 0) =>
    service.call('PUT', `${USER_GROUPS}/${id}`, { name: `New ${index}` }, { headers }),
  'POST /v1/user-groups/{user_group_id}/rotate': (service, { id }, headers) =>
    service.call('POST', `${USER_GROUPS}/${id}/rotate`, undefined, { headers }),
  'POST /v1/user-groups/{user_group_id}/suspend': (service, { id }, headers) =>
    service.call('POST', `${USER_GROUPS}/${id}/suspend`, undefined, { headers }),
  'DELETE /v1/user-groups/{user_group_id}': (service, { id }, headers) =>
    service.call('DELETE', `${USER_GROUPS}/${id}`, undefined, { headers }),
};

/** Endpoints of get-or-create. */
const creations: Record<
  string,
  (service: TestService, body: object, headers: Headers) => Promise<TestResponse>
> = {
  'GET /api/user': (service, body, headers) => service.get(body, { headers }),
  'POST /v1/user-groups': (service, body, headers) => service.call('POST', USER_GROUPS, body, { headers }),
};

let groups = 0;

async function createGroup(service: TestService): Promise<Group> {
  const id = `group-${++groups}`;
  const { json, headers } = await service.get({ user_group_id: id, name: 'Acme', properties: { a: 1 } });
  return { id, token: json.user_group.token, etag: headers.etag! };
}

/** Returns the complete state of the group, or the error code if it does not exist. */
async function stateOf(service: TestService, id: string): Promise<unknown> {
  const { json } = await service.call('GET', `${USER_GROUPS}/${id}`);
  return json.user_group ?? json.code;
}

function statusesOf(responses: readonly TestResponse[]): number[] {
  return responses.map(({ status }) => status).sort();
}

const ONE_SUCCESS = [200, ...Array.from({ length: PARALLEL - 1 }, () => 412)];

describeOnEachDatabase('preconditions', (database) => {
  const service = TestService.of(database);

  async function assertRejected(group: Group, change: Change, headers: Headers): Promise<void> {
    const before = await stateOf(service, group.id);
    assertProblem(await change(service, group, headers), 'version_mismatch');
    assert.deepEqual(await stateOf(service, group.id), before, JSON.stringify(headers));
  }

  for (const [name, change] of Object.entries(changes)) {
    describe(`on ${name}`, () => {
      it('If-Match accepts only the current version, also in a list with empty elements', async () => {
        const group = await createGroup(service);
        const { etag } = group;
        const before = await stateOf(service, group.id);
        const { etag: other } = await createGroup(service);
        const outdated = etag.replace(/\d+"$/, '999"');
        const longer = `${etag.slice(0, -1)}0"`;
        for (const tag of ['"x"', other, outdated, longer, `W/${etag}`, `"x", W/${etag}, ${other}`]) {
          await assertRejected(group, change, { 'if-match': tag });
        }
        const { status } = await change(service, group, { 'if-match': `,"x",,${etag} ,` });
        assert.ok(status === 200 || status === 204);
        assert.notDeepEqual(await stateOf(service, group.id), before);
      });

      it('If-None-Match rejects each named version, even as a weak tag, and every version with *', async () => {
        const group = await createGroup(service);
        for (const tag of ['*', group.etag, `W/${group.etag}`, `"x", ${group.etag}`]) {
          await assertRejected(group, change, { 'if-none-match': tag });
        }
        const { status } = await change(service, group, { 'if-none-match': '"x", "1-999"' });
        assert.ok(status === 200 || status === 204);
      });

      it('one of many parallel calls with the same If-Match succeeds', async () => {
        const group = await createGroup(service);
        const ifMatch = { 'if-match': group.etag };
        const responses = await Promise.all(
          Array.from({ length: PARALLEL }, (_, index) => change(service, group, ifMatch, index)),
        );
        if (name.startsWith('DELETE')) {
          assert.equal(responses.filter(({ status }) => status === 204).length, 1);
          assert.ok(responses.every(({ status }) => [204, 404, 412].includes(status)));
        } else {
          assert.deepEqual(statusesOf(responses), ONE_SUCCESS);
          const winner = responses.find(({ status }) => status === 200)?.json.user_group;
          const stored = (await stateOf(service, group.id)) as typeof winner;
          assert.deepEqual([stored.name, stored.token, stored.version], [winner.name, winner.token, 2]);
        }
      });
    });
  }

  describe('on an update', () => {
    const change = changes['PUT /api/user']!;

    it('If-Match treats a comma inside a tag as part of the tag', async () => {
      const group = await createGroup(service);
      const text = group.etag.slice(1, -1);
      for (const tag of [`"x,${text}"`, `"${text},x"`, `"${text},${text}"`, `",${text},"`]) {
        await assertRejected(group, change, { 'if-match': tag });
        const { id } = await createGroup(service);
        assert.notEqual(id, group.id);
      }
      const excluded = { 'if-none-match': `"x,${text}", "${text},x"` };
      assert.notEqual((await change(service, group, excluded)).status, 412);
    });

    it('If-Match: * accepts any version', async () => {
      const { status } = await change(service, await createGroup(service), { 'if-match': '*' });
      assert.ok(status === 200 || status === 204);
    });

    it('both must hold if both are sent', async () => {
      const group = await createGroup(service);
      const { etag } = group;
      for (const [ifMatch, ifNoneMatch] of [
        [etag, etag],
        ['*', '*'],
        ['*', etag],
        [etag, '*'],
        ['"x"', '"y"'],
      ]) {
        await assertRejected(group, change, { 'if-match': ifMatch!, 'if-none-match': ifNoneMatch! });
      }
      const { status } = await change(service, group, { 'if-match': etag, 'if-none-match': '"x"' });
      assert.ok(status === 200 || status === 204);
    });
  });

  describe('on a rotation', () => {
    it('are not evaluated if no group has the token: returns 404', async () => {
      for (const headers of [{ 'if-match': '"x"' }, { 'if-none-match': '*' }] as Headers[]) {
        assertProblem(
          await service.post({ current_token: 'unknown' }, { headers }),
          'user_group_token_not_found',
        );
      }
    });

    it('are also evaluated for a repeated rotation, which finds a newer version', async () => {
      const { token, etag } = await createGroup(service);
      const headers = { 'if-match': etag };
      const rotated = await service.post({ current_token: token }, { headers });
      assert.equal(rotated.status, 200);
      assertProblem(await service.post({ current_token: token }, { headers }), 'version_mismatch');
      const current = { 'if-match': rotated.headers.etag! };
      for (const more of [{}, { headers: current }]) {
        const repeated = await service.post({ current_token: token }, more);
        assert.equal(repeated.text, rotated.text);
      }
    });

    it('hold during concurrent updates: no update is lost, and an outdated rotation is rejected', async () => {
      for (let round = 0; round < 10; round++) {
        const group = await createGroup(service);
        const [rotated, ...updates] = await Promise.all([
          service.post({ current_token: group.token }, { headers: { 'if-match': group.etag } }),
          ...Array.from({ length: 5 }, (_, index) =>
            service.put({ user_group_id: group.id, name: `${index}` }),
          ),
        ]);
        const { token } = (await stateOf(service, group.id)) as { token: string };
        if (rotated!.status === 200) {
          assert.equal(token, rotated!.json.user_group.token);
          assert.equal(rotated!.headers.etag, group.etag.replace(/1"$/, '2"'));
        } else {
          assertProblem(rotated!, 'version_mismatch');
          assert.equal(token, group.token);
        }
        assert.ok(updates.every(({ status }) => status === 200));
      }
    });
  });

  for (const [name, create] of Object.entries(creations)) {
    describe(`on ${name}`, () => {
      it('If-None-Match: * creates the group, and rejects an existing one', async () => {
        const body = { user_group_id: `only created by ${name}`, name: 'Acme' };
        const headers = { 'if-none-match': '*' };
        const created = await create(service, body, headers);
        assert.equal(created.json.new_user_group, true);
        assertProblem(await create(service, body, headers), 'version_mismatch');
        const { user_group_id } = body;
        assertProblem(await create(service, { user_group_id }, headers), 'version_mismatch');
      });

      it('If-None-Match: * lets one of many parallel calls create the group', async () => {
        for (let round = 0; round < 3; round++) {
          const body = { user_group_id: `one of many by ${name} ${round}`, name: 'Acme' };
          const responses = await Promise.all(
            Array.from({ length: PARALLEL }, () => create(service, body, { 'if-none-match': '*' })),
          );
          assert.equal(responses.filter(({ json }) => json.new_user_group).length, 1);
          assert.equal(responses.filter(({ status }) => status === 412).length, PARALLEL - 1);
        }
      });

      it('If-None-Match rejects each named version with 412, because the call is not a pure read', async () => {
        const { id, etag } = await createGroup(service);
        for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
          assertProblem(
            await create(service, { user_group_id: id }, { 'if-none-match': tag }),
            'version_mismatch',
          );
        }
        const other = await create(service, { user_group_id: id }, { 'if-none-match': '"x"' });
        assert.deepEqual([other.status, other.headers.etag], [200, etag]);
      });

      it('If-Match returns only the named version', async () => {
        const { id, etag } = await createGroup(service);
        for (const tag of ['"x"', `W/${etag}`]) {
          assertProblem(
            await create(service, { user_group_id: id }, { 'if-match': tag }),
            'version_mismatch',
          );
        }
        for (const tag of ['*', etag]) {
          assert.equal((await create(service, { user_group_id: id }, { 'if-match': tag })).status, 200);
        }
      });

      it('If-Match creates nothing', async () => {
        const { etag } = await createGroup(service);
        const id = `never created by ${name}`;
        for (const tag of ['*', etag, '"x"']) {
          const headers = { 'if-match': tag };
          assertProblem(await create(service, { user_group_id: id, name: 'N' }, headers), 'version_mismatch');
          assertProblem(await create(service, { user_group_id: id }, headers), 'user_group_not_found');
        }
        assert.equal(await stateOf(service, encodeURIComponent(id)), 'user_group_not_found');
      });

      it('the permission to create is checked before the precondition', async () => {
        const { token } = await service.apiToken({ permission: 'read-only' });
        const path = name.split(' ') as [string, string];
        const body = { user_group_id: `not permitted by ${name}`, name: 'N' };
        const more = { token, headers: { 'if-match': '*' } };
        assertProblem(await service.call(...path, body, more), 'permission_denied');
      });
    });
  }

  describe('on the read of a user group', () => {
    const read = (id: string, headers: Headers) =>
      service.call('GET', `${USER_GROUPS}/${id}`, undefined, { headers });

    it('If-None-Match returns 304 without a body if the version matches, with the headers of a 200', async () => {
      const { id, etag } = await createGroup(service);
      for (const tag of ['*', etag, `W/${etag}`, `"x", ${etag}`]) {
        const response = await read(id, { 'if-none-match': tag });
        assert.deepEqual([response.status, response.text], [304, '']);
        assert.deepEqual([response.headers.etag, response.headers['cache-control']], [etag, 'no-store']);
        assert.match(String(response.headers['x-request-id']), /./);
        assert.equal(response.headers['content-type'], undefined);
      }
      await service.put({ user_group_id: id, name: 'New' });
      const changed = await read(id, { 'if-none-match': etag });
      assert.deepEqual([changed.status, changed.json.user_group.name], [200, 'New']);
    });

    it('If-Match returns 412 for another version', async () => {
      const { id, etag } = await createGroup(service);
      for (const tag of ['"x"', `W/${etag}`]) {
        assertProblem(await read(id, { 'if-match': tag, 'if-none-match': etag }), 'version_mismatch');
      }
      assert.equal((await read(id, { 'if-match': etag })).status, 200);
      assert.equal((await read(id, { 'if-match': etag, 'if-none-match': etag })).status, 304);
    });

    it('are not evaluated if the group does not exist: returns 404', async () => {
      for (const headers of [{ 'if-match': '*' }, { 'if-none-match': '*' }] as Headers[]) {
        assertProblem(await read('missing', headers), 'user_group_not_found');
      }
    });
  });

  describe('that cannot be honoured', () => {
    const date = 'Tue, 03 Mar 2026 09:15:00 GMT';
    const dates = [
      ['If-Modified-Since', date],
      ['If-Unmodified-Since', date],
      ['If-Range', '"1-1"'],
    ] as const;
    const conditional: Record<string, Change> = { ...changes };
    for (const [name, create] of Object.entries(creations))
      conditional[name] = (service, { id }, headers) => create(service, { user_group_id: id }, headers);
    conditional['GET /v1/user-groups/{user_group_id}'] = (service, { id }, headers) =>
      service.call('GET', `${USER_GROUPS}/${id}`, undefined, { headers });

    it('get 400 on endpoints without versions', async () => {
      const paths = ['/healthz', '/readyz', '/openapi.json', '/docs', '/errors', USER_GROUPS];
      for (const endpoint of [...paths.map((path) => `GET ${path}`), 'POST /v1/resolve']) {
        const [method, path] = endpoint.split(' ') as [string, string];
        const body = method === 'POST' ? { token: 'unknown' } : undefined;
        for (const [header, value] of [['If-Match', '"1-1"'], ['If-None-Match', '*'], ...dates] as const) {
          const response = await service.call(method, path, body, { headers: { [header]: value } });
          assertProblem(response, 'invalid_request');
          assert.ok(response.json.detail.startsWith(`${header} `), endpoint);
        }
      }
    });

    it('get 400 and change nothing if they have a date or a range', async () => {
      const group = await createGroup(service);
      const before = await stateOf(service, group.id);
      for (const [name, call] of Object.entries(conditional)) {
        for (const [header, value] of dates) {
          const response = await call(service, group, { [header]: value });
          assertProblem(response, 'invalid_request');
          assert.match(response.json.detail, new RegExp(`^${header} .*If-Match`), name);
        }
        assert.deepEqual(await stateOf(service, group.id), before, name);
      }
    });

    it('get 400 with the name of the header, and change nothing, if they are malformed', async () => {
      const group = await createGroup(service);
      const before = await stateOf(service, group.id);
      for (const [name, call] of Object.entries(conditional)) {
        for (const header of ['If-Match', 'If-None-Match'])
          for (const value of ['**', '', 'x', '"1-1', '"1-1" "1-2"', '"1-1", *', 'w/"1-1"', '"1\t1"']) {
            const response = await call(service, group, { [header]: value });
            assertProblem(response, 'invalid_request');
            assert.ok(response.json.detail.includes(header), name);
          }
        assert.deepEqual(await stateOf(service, group.id), before, name);
      }
    });
  });
});
