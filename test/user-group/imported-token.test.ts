// An imported token behaves like a token that this service issued, and never belongs to two groups.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const CREATED = { result: 'created' };
const DAY_SECONDS = 86_400;

/** Returns 64 characters, the token format of the service that the API originates from. */
function newToken(): string {
  return randomBytes(32).toString('hex');
}

function assertRefused(result: object, code: string): void {
  assert.deepEqual({ ...result, errors: [] }, { result: 'refused', code, errors: [] });
}

function assertTokenNotFound({ status, json }: TestResponse): void {
  assert.deepEqual([status, json.code], [404, 'user_group_token_not_found']);
}

describeOnEachDatabase('an imported token', (database) => {
  const service = TestService.of(database);
  let groups = 0;

  /** Imports a group with the token and returns its id. */
  async function importGroup(token: string): Promise<string> {
    const id = `imported-${++groups}`;
    assert.deepEqual(await service.importGroup({ user_group_id: id, name: id, token }), CREATED);
    return id;
  }

  async function rotate(token: string, graceSeconds = 0): Promise<TestResponse> {
    return service.post({ current_token: token, grace_period_seconds: graceSeconds });
  }

  async function isFree(token: string): Promise<boolean> {
    const result = await service.importGroup({ user_group_id: `free-${++groups}`, name: 'F', token });
    return result.result === 'created';
  }

  const texts: Record<string, string> = {
    '16 characters': newToken().slice(0, 16),
    '200 characters': `${newToken()}${newToken()}${newToken()}`.padEnd(200, 'x'),
    'all visible characters': Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join(
      '',
    ),
    'quotes and backslashes': `"\\"${newToken()}\\u0000\\`,
  };
  for (const [what, token] of Object.entries(texts)) {
    it(`is returned unchanged by every call: ${what}`, async () => {
      const id = await importGroup(token);
      const body = { user_group_id: id };
      const read = `/v1/user-groups/${id}`;
      const responses = [
        await service.get(body),
        await service.call('POST', '/v1/user-groups', body),
        await service.put({ ...body, properties: { a: 1 } }),
        await service.call('GET', read),
        await service.call('PATCH', read, { properties: { a: 2 } }),
      ];
      for (const { text, json } of responses) assert.equal(json.user_group.token, token, text);
      const { json } = await service.resolve(token);
      assert.equal(json.user_group.provided_id, id);
      assert.deepEqual(json.user_group.properties, { a: 2 });
      assert.deepEqual(json.token, { status: 'current', expires_at: null });
    });
  }

  it('is hidden from read-only API tokens and from lists', async () => {
    const token = newToken();
    const id = await importGroup(token);
    const reader = { token: (await service.apiToken({ permission: 'read-only' })).token };
    assert.equal(
      (await service.call('GET', `/v1/user-groups/${id}`, undefined, reader)).json.user_group.token,
      undefined,
    );
    const list = await service.call('GET', `/v1/user-groups?search=${id}`);
    assert.equal(list.json.user_groups[0].provided_id, id);
    assert.equal(list.text.includes(token), false);
  });

  it('is replaced by an issued token on rotation, and is invalid immediately', async () => {
    const token = newToken();
    const id = await importGroup(token);
    const { status, json } = await rotate(token);
    assert.equal(status, 200);
    assert.match(json.user_group.token, /^ugt_[0-9A-Za-z]{52}$/);
    assertTokenNotFound(await service.resolve(token));
    assert.equal((await service.resolve(json.user_group.token)).json.user_group.provided_id, id);
  });

  it('rotates to the same new token if the rotation is repeated', async () => {
    const token = newToken();
    await importGroup(token);
    const [first, second] = [await rotate(token), await rotate(token)];
    assert.equal(second.text, first.text);
    assert.equal(second.headers.etag, first.headers.etag);
  });

  it('is rotated once by 20 parallel calls', async () => {
    const token = newToken();
    await importGroup(token);
    const responses = await Promise.all(Array.from({ length: 20 }, () => rotate(token)));
    assert.deepEqual(new Set(responses.map(({ text }) => text)).size, 1);
  });

  it('resolves until the end of its grace period', async () => {
    const token = newToken();
    const id = await importGroup(token);
    await rotate(token, DAY_SECONDS);
    const { json } = await service.resolve(token);
    assert.equal(json.user_group.provided_id, id);
    assert.equal(json.token.status, 'retiring');
    service.clockAheadMs += DAY_SECONDS * 1_000;
    assertTokenNotFound(await service.resolve(token));
  });

  it('is invalid after a second rotation, and can be imported again', async () => {
    const token = newToken();
    await importGroup(token);
    const next = (await rotate(token, DAY_SECONDS)).json.user_group.token;
    assert.equal(await isFree(token), false);
    await rotate(next, DAY_SECONDS);
    assertTokenNotFound(await service.resolve(token));
    assertTokenNotFound(await rotate(token));
    assert.equal(await isFree(token), true);
  });

  it('is invalid after its group is deleted, and can be imported again', async () => {
    for (const isRotated of [false, true]) {
      const token = newToken();
      const id = await importGroup(token);
      if (isRotated) await rotate(token, DAY_SECONDS);
      assert.equal((await service.call('DELETE', `/v1/user-groups/${id}`)).status, 204);
      assertTokenNotFound(await service.resolve(token));
      assert.equal(await isFree(token), true);
    }
  });

  it('is not accepted in another workspace or environment', async () => {
    const token = newToken();
    await importGroup(token);
    for (const fields of [{ workspaceName: 'other' }, { environment: 'Testing' } as const]) {
      const caller = { token: (await service.apiToken(fields)).token };
      assertTokenNotFound(await service.resolve(token, caller));
      assertTokenNotFound(await service.post({ current_token: token }, caller));
    }
    assert.equal((await service.resolve(token)).status, 200);
  });

  it('is not stored in plain text', async () => {
    const token = newToken();
    await importGroup(token);
    for (const table of ['user_groups', 'imported_tokens']) {
      const rows = JSON.stringify(await runSql(service.database, `select * from ${table}`));
      assert.ok(rows.length > 100);
      assert.equal(rows.includes(token), false);
    }
  });

  describe('is rejected', () => {
    it('if another group in any workspace and environment has it', async () => {
      const token = newToken();
      const id = await importGroup(token);
      const group = { user_group_id: 'second', name: 'S', token };
      for (const place of [{}, { workspace: 'other' }, { environment: 'Testing' } as const])
        assertRefused(await service.importGroup(group, place), 'token_taken');
      assert.equal((await service.resolve(token)).json.user_group.provided_id, id);
      assert.equal((await service.get({ user_group_id: 'second' })).status, 404);
    });

    it('if another group had it until its last rotation', async () => {
      const token = newToken();
      await importGroup(token);
      await rotate(token);
      assert.equal(await isFree(token), false);
    });

    it('if this service issued it to another group that has it or had it until its last rotation', async () => {
      const { json } = await service.get({ user_group_id: 'issued', name: 'I' });
      const { token } = json.user_group;
      assert.equal(await isFree(token), false);
      await rotate(token);
      assert.equal(await isFree(token), false);
      assertTokenNotFound(await service.resolve(token));
    });

    it('if its group has another token', async () => {
      const id = await importGroup(newToken());
      assertRefused(
        await service.importGroup({ user_group_id: id, name: id, token: newToken() }),
        'token_differs',
      );
    });

    const invalid: Record<string, unknown> = {
      'too short': 'x'.repeat(15),
      'too long': 'x'.repeat(201),
      'with a space': `${'x'.repeat(16)} `,
      'with a line break': `${'x'.repeat(16)}\n`,
      'with a non-ASCII character': `${'x'.repeat(16)}é`,
      'not a string': 1,
      null: null,
    };
    for (const [what, token] of Object.entries(invalid)) {
      it(`if it is malformed: ${what}`, async () => {
        const result = await service.importGroup({ user_group_id: 'useless', name: 'U', token });
        assertRefused(result, 'invalid_request');
      });
    }

    it('if it is an API token or a mistyped token of this service', async () => {
      const { token } = (await service.get({ user_group_id: 'mistyped', name: 'M' })).json.user_group;
      const mistyped = `${token.slice(0, -1)}${token.at(-1) === '0' ? '1' : '0'}`;
      for (const text of [service.token, mistyped]) {
        const result = await service.importGroup({ user_group_id: 'useless', name: 'U', token: text });
        assertRefused(result, 'invalid_request');
        assert.equal(JSON.stringify(result).includes(text), false);
      }
    });
  });

  describe('that this service issued', () => {
    it('can be imported for a group with another id, workspace or environment after its own group is deleted', async () => {
      const { json } = await service.get({ user_group_id: 'moved', name: 'M' });
      const { token } = json.user_group;
      await service.call('DELETE', '/v1/user-groups/moved');
      const id = await importGroup(token);
      assert.equal((await service.resolve(token)).json.user_group.provided_id, id);
      const rotated = await rotate(token, DAY_SECONDS);
      assert.equal((await service.resolve(token)).json.token.status, 'retiring');
      assert.equal((await rotate(rotated.json.user_group.token)).status, 200);
      assertTokenNotFound(await service.resolve(token));
      assert.equal(await isFree(token), true);
    });

    it('can be imported for its own deleted group', async () => {
      const group = { user_group_id: 'back', name: 'B' };
      const { token } = (await service.get(group)).json.user_group;
      await service.call('DELETE', '/v1/user-groups/back');
      assert.deepEqual(await service.importGroup({ ...group, token }), CREATED);
      assert.equal((await service.get(group)).json.user_group.token, token);
      assert.equal((await service.resolve(token)).json.user_group.provided_id, 'back');
      assert.equal(await isFree(token), false);
    });
  });

  it('belongs to one group if it is imported concurrently', async () => {
    const places = ['default', 'other', 'third', 'fourth'].flatMap((workspace) =>
      (['Customer', 'Testing'] as const).map((environment) => ({ workspace, environment })),
    );
    const { token } = (await service.get({ user_group_id: 'met', name: 'M' })).json.user_group;
    await service.call('DELETE', '/v1/user-groups/met');
    // The second token was issued in one of these places.
    for (const each of [newToken(), token]) {
      const group = { user_group_id: 'met', name: 'M', token: each };
      const results = await Promise.all(places.map((place) => service.importGroup(group, place)));
      assert.deepEqual(results.map(({ result }) => result).sort(), [
        'created',
        ...Array(places.length - 1).fill('refused'),
      ]);
      for (const [index, { workspace, environment }] of places.entries()) {
        const caller = { token: (await service.apiToken({ workspaceName: workspace, environment })).token };
        const isHolder = results[index]!.result === 'created';
        assert.equal((await service.resolve(each, caller)).status, isHolder ? 200 : 404);
        if (isHolder) await service.call('DELETE', '/v1/user-groups/met', undefined, caller);
      }
    }
  });

  it('leaves no row that no group needs', async () => {
    const groups = await runSql(
      service.database,
      'select bucket, token_digest, previous_token_digest from user_groups',
    );
    const needed = groups.flatMap(({ bucket, token_digest, previous_token_digest }) =>
      [token_digest, previous_token_digest]
        .filter((digest) => String(digest).startsWith('~'))
        .map((digest) => `${digest} ${bucket}`),
    );
    const rows = await runSql(service.database, 'select token_digest, bucket from imported_tokens');
    assert.ok(rows.length > 10);
    assert.deepEqual(
      rows.map(({ token_digest, bucket }) => `${token_digest} ${bucket}`).sort(),
      needed.sort(),
    );
  });
});

describeOnEachDatabase('the table of imported tokens', (database) => {
  it('is not queried by calls with a token that this service issued', async (t) => {
    const service = await TestService.start(database);
    t.after(() => service.end());
    const imported = newToken();
    await service.importGroup({ user_group_id: 'imported', name: 'I', token: imported });
    await runSql(service.database, 'alter table imported_tokens rename to out_of_reach');
    const { token } = (await service.get({ user_group_id: 'issued', name: 'I' })).json.user_group;
    assert.equal((await service.resolve(token)).json.token.status, 'current');
    const rotated = await service.post({ current_token: token, grace_period_seconds: DAY_SECONDS });
    assert.equal((await service.resolve(token)).json.token.status, 'retiring');
    assert.equal((await service.post({ current_token: rotated.json.user_group.token })).status, 200);
    assert.equal((await service.call('DELETE', '/v1/user-groups/issued')).status, 204);
    assert.ok((await service.resolve(imported)).status >= 500, 'an imported token needs the table');
  });
});
