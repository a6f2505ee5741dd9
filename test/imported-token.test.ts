// A token that an import has brought serves its group as one that was issued here, and never a second group.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase, postgres } from './database.ts';
import type { TestAnswer } from './http.ts';
import { TestService } from './service.ts';
import { runSql } from './sql.ts';

const CREATED = { result: 'created' };
const DAY_SECONDS = 86_400;

/** Sixty-four characters, as the origin of the API made them. */
function newToken(): string {
  return randomBytes(32).toString('hex');
}

function assertRefused(result: object, code: string): void {
  assert.deepEqual({ ...result, errors: [] }, { result: 'refused', code, errors: [] });
}

function assertTokenNotFound({ status, json }: TestAnswer): void {
  assert.deepEqual([status, json.code], [404, 'user_group_token_not_found']);
}

describeOnEachDatabase('a token that an import has brought', (database) => {
  let service: TestService;
  let groups = 0;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  /** The id of a new group that has the token. */
  async function importGroup(token: string): Promise<string> {
    const id = `imported-${++groups}`;
    assert.deepEqual(await service.importGroup({ user_group_id: id, name: id, token }), CREATED);
    return id;
  }

  async function rotate(token: string, graceSeconds = 0): Promise<TestAnswer> {
    return service.post({ current_token: token, grace_period_seconds: graceSeconds });
  }

  async function isFree(token: string): Promise<boolean> {
    const result = await service.importGroup({ user_group_id: `free-${++groups}`, name: 'F', token });
    return result.result === 'created';
  }

  const texts: Record<string, string> = {
    'of sixteen characters': newToken().slice(0, 16),
    'of two hundred characters': `${newToken()}${newToken()}${newToken()}`.padEnd(200, 'x'),
    'of all visible characters': Array.from({ length: 94 }, (_, index) =>
      String.fromCharCode(33 + index),
    ).join(''),
    'with quotes and backslashes': `"\\"${newToken()}\\u0000\\`,
  };
  for (const [what, token] of Object.entries(texts)) {
    it(`is answered as it is by every call: ${what}`, async () => {
      const id = await importGroup(token);
      const body = { user_group_id: id };
      const read = `/v1/user-groups/${id}`;
      const answers = [
        await service.get(body),
        await service.call('POST', '/v1/user-groups', body),
        await service.put({ ...body, properties: { a: 1 } }),
        await service.call('GET', read),
        await service.call('PATCH', read, { properties: { a: 2 } }),
      ];
      for (const { text, json } of answers) assert.equal(json.user_group.token, token, text);
      const { json } = await service.resolve(token);
      assert.equal(json.user_group.provided_id, id);
      assert.deepEqual(json.user_group.properties, { a: 2 });
      assert.deepEqual(json.token, { status: 'current', expires_at: null });
    });
  }

  it('is shown to no API token that may not see tokens, and stands in no list', async () => {
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

  it('is rotated to one that is issued here, and is dead at once', async () => {
    const token = newToken();
    const id = await importGroup(token);
    const { status, json } = await rotate(token);
    assert.equal(status, 200);
    assert.match(json.user_group.token, /^ugt_[0-9A-Za-z]{52}$/);
    assertTokenNotFound(await service.resolve(token));
    assert.equal((await service.resolve(json.user_group.token)).json.user_group.provided_id, id);
  });

  it('gives the same new token when the rotation is repeated', async () => {
    const token = newToken();
    await importGroup(token);
    const [first, second] = [await rotate(token), await rotate(token)];
    assert.equal(second.text, first.text);
    assert.equal(second.headers.etag, first.headers.etag);
  });

  it('is rotated once by twenty calls at one time', async () => {
    const token = newToken();
    await importGroup(token);
    const answers = await Promise.all(Array.from({ length: 20 }, () => rotate(token)));
    assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1);
  });

  it('resolves on for its grace period', async () => {
    const token = newToken();
    const id = await importGroup(token);
    await rotate(token, DAY_SECONDS);
    const { json } = await service.resolve(token);
    assert.equal(json.user_group.provided_id, id);
    assert.equal(json.token.status, 'retiring');
    service.clockAheadMs += DAY_SECONDS * 1_000;
    assertTokenNotFound(await service.resolve(token));
  });

  it('is dead after a second rotation, and then nobody has it any more', async () => {
    const token = newToken();
    await importGroup(token);
    const next = (await rotate(token, DAY_SECONDS)).json.user_group.token;
    assert.equal(await isFree(token), false);
    await rotate(next, DAY_SECONDS);
    assertTokenNotFound(await service.resolve(token));
    assertTokenNotFound(await rotate(token));
    assert.equal(await isFree(token), true);
  });

  it('is dead when its group is deleted, and then nobody has it any more', async () => {
    for (const isRotated of [false, true]) {
      const token = newToken();
      const id = await importGroup(token);
      if (isRotated) await rotate(token, DAY_SECONDS);
      assert.equal((await service.call('DELETE', `/v1/user-groups/${id}`)).status, 204);
      assertTokenNotFound(await service.resolve(token));
      assert.equal(await isFree(token), true);
    }
  });

  it('is of no use to another workspace or environment', async () => {
    const token = newToken();
    await importGroup(token);
    for (const fields of [{ workspaceName: 'other' }, { environment: 'Testing' } as const]) {
      const caller = { token: (await service.apiToken(fields)).token };
      assertTokenNotFound(await service.resolve(token, caller));
      assertTokenNotFound(await service.post({ current_token: token }, caller));
    }
    assert.equal((await service.resolve(token)).status, 200);
  });

  it('stands nowhere in the database', async () => {
    const token = newToken();
    await importGroup(token);
    for (const table of ['user_groups', 'imported_tokens']) {
      const rows = JSON.stringify(await runSql(service.database, `select * from ${table}`));
      assert.ok(rows.length > 100);
      assert.equal(rows.includes(token), false);
    }
  });

  describe('is refused', () => {
    it('where another group has it, of whichever workspace and environment', async () => {
      const token = newToken();
      const id = await importGroup(token);
      const group = { user_group_id: 'second', name: 'S', token };
      for (const place of [{}, { workspace: 'other' }, { environment: 'Testing' } as const])
        assertRefused(await service.importGroup(group, place), 'token_taken');
      assert.equal((await service.resolve(token)).json.user_group.provided_id, id);
      assert.equal((await service.get({ user_group_id: 'second' })).status, 404);
    });

    it('where another group has had it until its last rotation', async () => {
      const token = newToken();
      await importGroup(token);
      await rotate(token);
      assert.equal(await isFree(token), false);
    });

    it('where it was issued here, to another group, which has it or had it until its last rotation', async () => {
      const { json } = await service.get({ user_group_id: 'issued', name: 'I' });
      const { token } = json.user_group;
      assert.equal(await isFree(token), false);
      await rotate(token);
      assert.equal(await isFree(token), false);
      assertTokenNotFound(await service.resolve(token));
    });

    it('where its own group has another one', async () => {
      const id = await importGroup(newToken());
      assertRefused(
        await service.importGroup({ user_group_id: id, name: id, token: newToken() }),
        'token_differs',
      );
    });

    const useless: Record<string, unknown> = {
      'too short': 'x'.repeat(15),
      'too long': 'x'.repeat(201),
      'with a space': `${'x'.repeat(16)} `,
      'with a line break': `${'x'.repeat(16)}\n`,
      'with a character beyond ASCII': `${'x'.repeat(16)}é`,
      'no string': 1,
      null: null,
    };
    for (const [what, token] of Object.entries(useless)) {
      it(`where it can be none: ${what}`, async () => {
        const result = await service.importGroup({ user_group_id: 'useless', name: 'U', token });
        assertRefused(result, 'invalid_request');
      });
    }

    it('where it is an API token, or a mistyped token of this service', async () => {
      const { token } = (await service.get({ user_group_id: 'mistyped', name: 'M' })).json.user_group;
      const mistyped = `${token.slice(0, -1)}${token.at(-1) === '0' ? '1' : '0'}`;
      for (const text of [service.token, mistyped]) {
        const result = await service.importGroup({ user_group_id: 'useless', name: 'U', token: text });
        assertRefused(result, 'invalid_request');
        assert.equal(JSON.stringify(result).includes(text), false);
      }
    });
  });

  describe('that was issued here', () => {
    it('serves a group of another id, workspace or environment, once its own is gone', async () => {
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

    it('comes back to its own group, which was deleted', async () => {
      const group = { user_group_id: 'back', name: 'B' };
      const { token } = (await service.get(group)).json.user_group;
      await service.call('DELETE', '/v1/user-groups/back');
      assert.deepEqual(await service.importGroup({ ...group, token }), CREATED);
      assert.equal((await service.get(group)).json.user_group.token, token);
      assert.equal((await service.resolve(token)).json.user_group.provided_id, 'back');
      assert.equal(await isFree(token), false);
    });
  });

  it('serves one group where imports of it meet', async () => {
    const places = ['default', 'other', 'third', 'fourth'].flatMap((workspace) =>
      (['Customer', 'Testing'] as const).map((environment) => ({ workspace, environment })),
    );
    const { token } = (await service.get({ user_group_id: 'met', name: 'M' })).json.user_group;
    await service.call('DELETE', '/v1/user-groups/met');
    // The second of them is at home in one of the places, and in no other.
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

  it('has left no row behind that no group needs', async () => {
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

describeOnEachDatabase('the imported tokens', (database) => {
  it('are asked for by no call with a token that was issued here', async (t) => {
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
    assert.ok((await service.resolve(imported)).status >= 500, 'but with one that an import has brought');
  });
});

describe('two services on one PostgreSQL', () => {
  let first: TestService;
  let second: TestService;
  before(async () => {
    first = await TestService.start(postgres);
    second = await TestService.start(postgres, { database: first.database });
  });
  after(async () => {
    await second.stop();
    await first.end();
  });

  it('refuse an imported token at once when the other one has rotated it, or deleted its group', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const token = newToken();
      const id = `turn-${turn}`;
      await first.importGroup({ user_group_id: id, name: id, token });
      assert.equal((await second.resolve(token)).status, 200);
      if (turn % 2 === 0) await first.post({ current_token: token });
      else await first.call('DELETE', `/v1/user-groups/${id}`);
      assertTokenNotFound(await second.resolve(token));
    }
  });

  it('give a token to one group where both import it at once', async () => {
    for (let turn = 0; turn < 50; turn++) {
      const token = newToken();
      const results = await Promise.all(
        [first, second, first, second].map((service, index) =>
          service.importGroup({ user_group_id: `race-${turn}-${index}`, name: 'R', token }),
        ),
      );
      assert.equal(results.filter(({ result }) => result === 'created').length, 1);
    }
  });

  it('import the same groups in opposite orders and in large batches without a deadlock', async () => {
    const lines = Array.from({ length: 500 }, (_, index) => ({
      user_group_id: `batch-${index}`,
      name: 'B',
      token: newToken(),
    }));
    const both = [lines, lines.toReversed()].map((list, index) =>
      Promise.all(list.map((group) => [first, second][index]!.importGroup(group))),
    );
    const results = (await Promise.all(both)).flat().map(({ result }) => result);
    assert.equal(results.filter((result) => result === 'created').length, lines.length);
    assert.equal(results.filter((result) => result === 'unchanged').length, lines.length);
  });
});
