// Contract: GET /v1/user-groups/{user_group_id} is a pure read of the complete group.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { oddTexts } from '../support/bad-input/odd-value.ts';
import { exchangeOne } from '../support/connection/raw-connection.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { codePoint } from '../support/domain/code-point.ts';
import { mapConcurrently, send } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { admitted } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const RFC_3339_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const pathOf = (id: string): string => `/v1/user-groups/${encodeURIComponent(id)}`;

describeOnEachDatabase('GET /v1/user-groups/{user_group_id}', (database) => {
  const service = TestService.of(database);

  it('returns exactly the specified fields in the specified order', async () => {
    const body =
      '{"user_group_id":"bytes","name":"B \\u00e9","mapping":{"40":213},"properties":{"b":1.10,"a":[]}}';
    const { team_id, token } = (await service.get(body)).json.user_group;
    const response = await service.call('GET', pathOf('bytes'));
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    const { created_at, updated_at } = response.json.user_group;
    assert.equal(
      response.text,
      `{"success":1,"user_group":{"team_id":${team_id},"token":"${token}","name":"B é","provided_id":"bytes",` +
        '"mapping":{"40":213},"properties":{"b":1.10,"a":[]},"api_environment_tag":"Customer","version":1,' +
        `"created_at":"${created_at}","updated_at":"${updated_at}","suspended":false,"last_seen_at":null}}`,
    );
  });

  it('returns null for absent fields', async () => {
    await service.get({ user_group_id: 'bare', name: 'Bare' });
    const { mapping, properties } = (await service.call('GET', pathOf('bare'))).json.user_group;
    assert.deepEqual([mapping, properties], [null, null]);
  });

  it('returns the token to read-write and admin API tokens only', async () => {
    const { token } = await service.apiToken({ permission: 'read-only' });
    const admin = await service.apiToken({ permission: 'admin' });
    await service.get({ user_group_id: 'masked', name: 'Masked' });
    const full = await service.call('GET', pathOf('masked'));
    const byAdmin = await service.call('GET', pathOf('masked'), undefined, { token: admin.token });
    assert.equal(byAdmin.text, full.text);
    const masked = await service.call('GET', pathOf('masked'), undefined, { token });
    assert.equal(masked.status, 200);
    assert.equal(masked.text, full.text.replace(/"token":"ugt_\w+",/, ''));
    assert.notEqual(masked.text, full.text);
  });

  it('returns the times of creation and last change, and the version number', async () => {
    const create = await service.get({ user_group_id: 'times', name: 'Times' });
    const read = async () => (await service.call('GET', pathOf('times'))).json.user_group;
    const first = await read();
    assert.match(first.created_at, RFC_3339_UTC);
    assert.ok(Math.abs(Date.parse(first.created_at) - Date.now()) < 60_000);
    assert.deepEqual([first.version, first.updated_at], [1, first.created_at]);
    service.clockAheadMs += 1_000;
    await service.put({ user_group_id: 'times', name: 'New' });
    const second = await read();
    assert.deepEqual([second.version, second.created_at], [2, first.created_at]);
    assert.ok(Date.parse(second.updated_at) - Date.parse(first.updated_at) >= 1_000);
    service.clockAheadMs += 1_000;
    await service.post({ current_token: create.json.user_group.token });
    const third = await read();
    assert.deepEqual([third.version, third.created_at], [3, first.created_at]);
    assert.ok(Date.parse(third.updated_at) - Date.parse(second.updated_at) >= 1_000);
    service.clockAheadMs += 1_000;
    await service.put({ user_group_id: 'times', name: 'New' });
    await service.post({ current_token: create.json.user_group.token });
    assert.deepEqual(await read(), third);
  });

  it('returns the same ETag as the other calls, and an update with it succeeds', async () => {
    const created = await service.get({ user_group_id: 'tag', name: 'Tag' });
    const { headers } = await service.call('GET', pathOf('tag'));
    assert.equal(headers.etag, created.headers.etag);
    const body = { user_group_id: 'tag', name: 'New' };
    assert.equal((await service.put(body, { headers: { 'if-match': headers.etag! } })).status, 200);
  });

  it('changes nothing and creates nothing', async () => {
    await service.get({ user_group_id: 'pure', name: 'Pure' });
    const first = await service.call('GET', pathOf('pure'));
    assert.equal((await service.call('GET', pathOf('pure'))).text, first.text);
    for (let time = 0; time < 2; time++) {
      assertProblem(await service.call('GET', pathOf('missing')), 'user_group_not_found');
    }
  });

  it('returns 405 for other methods, with the supported ones in Allow', async () => {
    const response = await service.call('POST', pathOf('x'), {});
    assertProblem(response, 'method_not_allowed');
    assert.equal(response.headers.allow, 'GET, PUT, PATCH, DELETE');
    assert.equal((await service.call('HEAD', pathOf('x'))).status, 405);
  });

  describe('with an id in the path that is odd', () => {
    /** Deletes a group. The repetition of a deletion that was late, and applied, finds no group. */
    async function statusOfDelete(id: string): Promise<number> {
      let times = 0;
      const { status } = await admitted(() => {
        times++;
        return send(service.url, { method: 'DELETE', path: pathOf(id), token: service.token });
      });
      return times > 1 && status === 404 ? 204 : status;
    }

    /** Creates, patches, reads and deletes a group by its id in the path; returns the errors. */
    async function errorsOf(id: string): Promise<string[]> {
      const created = await service.call('POST', '/v1/user-groups', { user_group_id: id, name: 'N' });
      const expected = { ...created.json.user_group, name: 'Patched' };
      const patched = await service.call('PATCH', pathOf(id), { name: 'Patched' });
      const read = await service.call('GET', pathOf(id));
      const deleted = await statusOfDelete(id);
      const gone = await service.call('GET', pathOf(id));
      const { team_id, token, name, provided_id } = read.json.user_group ?? {};
      const errors = [
        [created.status, patched.status, read.status, deleted, gone.status].join() !== '201,200,200,204,404',
        JSON.stringify({ team_id, token, name, provided_id }) !== JSON.stringify(expected),
        patched.text !== read.text,
      ];
      return errors.includes(true) ? [`${id}: ${errors} ${created.text} ${patched.text}`] : [];
    }

    // Clients that follow the URL Standard resolve these two before sending, even if they are encoded.
    const dots = ['.', '..'];

    it('round-trips with slashes, dots, spaces, %, quotes, emoji and every script', async (t) => {
      const ids = oddTexts.filter((id) => !dots.includes(id));
      t.diagnostic(`${ids.length} ids`);
      assert.deepEqual((await mapConcurrently(ids, errorsOf)).flat(), []);
    });

    it('round-trips if it is random', async () => {
      const id = fc
        .string({ unit: codePoint, minLength: 1, maxLength: 40 })
        .filter((text) => /^(?!\s)\P{Cc}*(?<!\s)$/u.test(text) && !dots.includes(text));
      const ids = new Set(fc.sample(id, 100));
      assert.deepEqual((await mapConcurrently(ids, errorsOf)).flat(), []);
    });

    for (const id of dots) {
      it(`can be ${id}, plain and percent-encoded, without path resolution`, async () => {
        await service.get({ user_group_id: id, name: `Dots ${id}` });
        for (const text of [id, id.replaceAll('.', '%2E'), id.replaceAll('.', '%2e')]) {
          const head = `GET /v1/user-groups/${text} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n`;
          const response = await exchangeOne(service, `${head}Connection: close\r\n\r\n`);
          assert.equal(response.json.user_group?.name, `Dots ${id}`, text);
        }
      });
    }

    it('is percent-decoded exactly once, whichever characters are encoded', async () => {
      await service.get({ user_group_id: 'a/b', name: 'Slash' });
      await service.get({ user_group_id: 'a%2Fb', name: 'Percent' });
      const nameAt = async (path: string) =>
        (await service.call('GET', `/v1/user-groups/${path}`)).json.user_group?.name;
      for (const path of ['a%2Fb', 'a%2fb', '%61%2F%62']) assert.equal(await nameAt(path), 'Slash');
      for (const path of ['a%252Fb', '%61%25%32Fb']) assert.equal(await nameAt(path), 'Percent');
    });

    it('has one segment: returns 404 for more', async () => {
      await service.get({ user_group_id: 'a/b', name: 'Slash' });
      for (const path of ['a/b', 'a/b/', 'a/']) {
        assertProblem(await service.call('GET', `/v1/user-groups/${path}`), 'not_found');
      }
    });

    it('gets 400 if it is too long, at any length, and only after authentication', async () => {
      for (const length of [256, 3_060, 3_061, 15_000]) {
        const path = pathOf('a'.repeat(length));
        const response = await service.call('GET', path);
        assertProblem(response, 'invalid_request');
        assert.match(response.json.detail, /at most 255 characters/);
        assertProblem(await service.call('GET', path, undefined, { token: null }), 'unauthenticated');
      }
    });

    it('is rejected with a fragment', async () => {
      await service.get({ user_group_id: 'a', name: 'A' });
      const head = `GET /v1/user-groups/a#b HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n`;
      assertProblem(await exchangeOne(service, `${head}Connection: close\r\n\r\n`), 'invalid_request');
    });
  });
});
