// Contract: PATCH /v1/user-groups/{user_group_id} merges (RFC 7396) into the stored group, exactly and
// atomically.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { executeSql, runSql, SqlConnection } from '../support/sql.ts';

const KIB = 1024;
/** Shorter than the lock timeout. */
const HELD_MS = 500;
const PARALLEL = 50;

describeOnEachDatabase('PATCH /v1/user-groups/{user_group_id}', (database) => {
  const service = TestService.of(database);

  function patch(
    id: string,
    body: unknown,
    more: Pick<TestRequest, 'token' | 'headers'> = {},
  ): Promise<TestResponse> {
    return service.call('PATCH', `/v1/user-groups/${id}`, body, more);
  }

  /** Creates a group with these fields, given as JSON text. */
  async function create(
    id: string,
    fields: { mapping?: string; properties?: string } = {},
  ): Promise<TestResponse> {
    const { mapping = 'null', properties = 'null' } = fields;
    const response = await service.get(
      `{"user_group_id":"${id}","name":"Acme","mapping":${mapping},"properties":${properties}}`,
    );
    assert.equal(response.json.new_user_group, true, response.text);
    return response;
  }

  /** Returns the JSON texts of mapping and properties in a response. */
  function textsIn({ text }: TestResponse): { mapping: string; properties: string } {
    const [, mapping = '', properties = ''] =
      /"mapping":(.*),"properties":(.*),"api_environment_tag"/s.exec(text) ?? [];
    return { mapping, properties };
  }

  it('returns the same bytes and ETag as the read', async () => {
    await create('response', { mapping: '{"40":"213"}', properties: '{"a":1.10}' });
    const response = await patch('response', { name: 'Umbrella', properties: { b: null, c: true } });
    const read = await service.call('GET', '/v1/user-groups/response');
    assert.equal(response.status, 200);
    assert.equal(response.text, read.text);
    assert.equal(response.headers.etag, read.headers.etag);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual([response.json.user_group.name, response.json.user_group.version], ['Umbrella', 2]);
    assert.deepEqual(textsIn(response), { mapping: '{"40":"213"}', properties: '{"a":1.10,"c":true}' });
  });

  describe('merges', () => {
    const merges: Record<string, [stored: string, patch: string, result: string]> = {
      'an existing member in place': ['{"b":1,"a":2}', '{"b":3}', '{"b":3,"a":2}'],
      'a new member after the others': ['{"b":1,"1":2}', '{"0":3}', '{"b":1,"1":2,"0":3}'],
      'null by removing the member': ['{"a":1,"b":2,"c":null}', '{"a":null}', '{"b":2,"c":null}'],
      'an object into an object': [
        '{"a":{"b":{"c":1,"d":2}},"e":3}',
        '{"a":{"b":{"c":null}}}',
        '{"a":{"b":{"d":2}},"e":3}',
      ],
      'an array by replacing it': ['{"a":[1,2,{"b":1}]}', '{"a":[{"b":null}]}', '{"a":[{"b":null}]}'],
      'into null': ['null', '{"a":{"b":null,"c":1}}', '{"a":{"c":1}}'],
      'null by clearing the field': ['{"a":1}', 'null', 'null'],
      'numbers without changing the digits of others': [
        '{"n":9007199254740993,"x":1e400,"y":1.10}',
        '{"z":-0.0}',
        '{"n":9007199254740993,"x":1e400,"y":1.10,"z":-0.0}',
      ],
      'keys whether escaped or not': [
        String.raw`{"é":1,"a\"b":2,"\u0000":3}`,
        String.raw`{"\u00e9":null,"\u0061\"b":4}`,
        String.raw`{"a\"b":4,"\u0000":3}`,
      ],
      'strings without changing others': [
        '{"s":"\\u0000\\n😀/","t":1}',
        '{"t":"\\ud83d\\ude00"}',
        '{"s":"\\u0000\\n😀/","t":"😀"}',
      ],
    };
    for (const [index, [what, [stored, sent, result]]] of Object.entries(merges).entries()) {
      it(what, async () => {
        await create(`merge-${index}`, { properties: stored });
        const response = await patch(`merge-${index}`, `{"properties":${sent}}`);
        assert.equal(response.status, 200, response.text);
        assert.equal(textsIn(response).properties, result);
      });
    }

    it('mapping in the same way as properties', async () => {
      await create('mapping', { mapping: '{"40":"213","7":9007199254740991,"x":"y"}' });
      const response = await patch('mapping', { mapping: { 7: null, 40: 214, new: 'z' } });
      assert.equal(textsIn(response).mapping, '{"40":214,"x":"y","new":"z"}');
      assert.equal(textsIn(await patch('mapping', { mapping: null })).mapping, 'null');
    });
  });

  it('keeps the fields that it does not name, and the token', async () => {
    const { token } = (await create('rest', { mapping: '{"1":2}', properties: '{"a":1}' })).json.user_group;
    const { user_group: group } = (await patch('rest', { name: 'New' })).json;
    assert.deepEqual([group.token, group.mapping, group.properties], [token, { 1: 2 }, { a: 1 }]);
    assert.equal((await service.resolve(token)).json.user_group.name, 'New');
  });

  it('keeps the version if it changes nothing', async () => {
    const { headers } = await create('same', { mapping: '{"1":2}', properties: '{"a":1,"b":{"c":2}}' });
    for (const body of [
      {},
      { name: 'Acme' },
      { properties: {}, mapping: {} },
      { properties: { a: 1 } },
      { properties: { b: { c: 2, d: null } }, mapping: { 1: 2, 3: null } },
    ]) {
      const response = await patch('same', body);
      assert.deepEqual([response.status, response.headers.etag], [200, headers.etag], JSON.stringify(body));
    }
  });

  it('changes nothing if the token, which the response has, cannot be decrypted', async () => {
    await create('unreadable');
    const setKey = (keyId: string) =>
      executeSql(
        service.database,
        `update user_groups set token_key_id = '${keyId}' where provided_id = 'unreadable'`,
      );
    await setKey('00000000');
    assertProblem(await patch('unreadable', { name: 'Changed' }), 'database_unavailable');
    await setKey(service.app.context.keyRing.activeKeyId);
    assert.equal((await patch('unreadable', {})).json.user_group.name, 'Acme');
  });

  it('accepts application/merge-patch+json, application/json and a missing media type', async () => {
    await create('media');
    for (const type of [
      'application/merge-patch+json',
      'Application/Merge-Patch+JSON; charset=utf-8',
      'application/json',
      undefined,
    ]) {
      const response = await patch(
        'media',
        { properties: { type: String(type) } },
        { headers: { 'content-type': type } },
      );
      assert.equal(response.json.user_group?.properties.type, String(type), response.text);
    }
    assertProblem(
      await patch('media', [], { headers: { 'content-type': 'application/json-patch+json' } }),
      'unsupported_media_type',
    );
  });

  it('is rejected if it is not an object, removes the name or has a field that cannot be patched', async () => {
    const { headers } = await create('refused');
    for (const body of ['null', '[]', '"name"', '1', 'true']) {
      assertProblem(await patch('refused', body), 'invalid_request');
    }
    for (const body of [
      { name: null },
      { name: ' ' },
      { properties: 1 },
      { mapping: { a: true } },
      { mapping: [] },
    ]) {
      const response = await patch('refused', body);
      assertProblem(response, 'invalid_request');
      assert.match(response.json.errors[0].pointer, new RegExp(`^/${Object.keys(body)[0]}`));
    }
    for (const field of ['user_group_id', 'token', 'version', 'team_id', 'names']) {
      assertProblem(await patch('refused', { [field]: null }), 'unknown_field');
    }
    assert.equal((await service.get({ user_group_id: 'refused' })).headers.etag, headers.etag);
  });

  it('returns 404 if the group does not exist, and creates none', async () => {
    for (let time = 0; time < 2; time++) {
      assertProblem(await patch('missing', { name: 'Missing' }), 'user_group_not_found');
    }
    const { token } = await service.apiToken({ environment: 'Testing' });
    await create('ours');
    assertProblem(await patch('ours', { name: 'Theirs' }, { token }), 'user_group_not_found');
  });

  describe('applies the limits to the result, and changes nothing if the result exceeds them', () => {
    const entries = (from: number, to: number, text: string) =>
      `{${Array.from({ length: to - from }, (_, index) => `"k${from + index}":${text}`).join(',')}}`;

    for (const field of ['mapping', 'properties'] as const) {
      it(`100 entries of ${field}`, async () => {
        const id = `entries-${field}`;
        await create(id, { [field]: entries(0, 60, '1') });
        assert.equal((await patch(id, `{"${field}":${entries(60, 100, '1')}}`)).status, 200);
        const before = await service.call('GET', `/v1/user-groups/${id}`);
        const response = await patch(id, `{"${field}":${entries(100, 101, '1')}}`);
        assertProblem(response, 'invalid_request');
        assert.deepEqual(response.json.errors, [
          { pointer: `/${field}`, detail: 'must have at most 100 entries and would have 101' },
        ]);
        assert.equal((await service.call('GET', `/v1/user-groups/${id}`)).text, before.text);
        const swapped = await patch(id, `{"${field}":{"k0":null,"k100":1}}`);
        assert.equal(Object.keys(swapped.json.user_group[field]).length, 100);
      });
    }

    it('64 KiB of properties', async () => {
      const half = (key: string, bytes: number) =>
        `{"${key}":"${'x'.repeat(bytes - `{"${key}":""}`.length)}"}`;
      await create('bytes', { properties: half('a', 32 * KIB) });
      // Merging two objects removes one brace of each and adds a comma.
      const fits = await patch('bytes', `{"properties":${half('b', 32 * KIB + 1)}}`);
      assert.equal(textsIn(fits).properties.length, 64 * KIB);
      const response = await patch('bytes', `{"properties":${half('c', 10)}}`);
      assertProblem(response, 'invalid_request');
      assert.equal(response.json.errors[0].pointer, '/properties');
      assert.equal((await patch('bytes', '{"properties":{"a":null,"c":1}}')).status, 200);
    });

    it('16 levels', async () => {
      const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
      await create('levels', { properties: nested(16) });
      assertProblem(await patch('levels', `{"properties":{"b":${nested(16)}}}`), 'invalid_json');
      const response = await patch('levels', `{"properties":${nested(15).replace('1', '{"b":2}')}}`);
      assert.equal(textsIn(response).properties, nested(15).replace('1', '{"a":1,"b":2}'));
    });
  });

  it('accepts one of many parallel patches of a version, and not even an empty one of an older version', async () => {
    const { headers } = await create('one');
    const ifMatch = { headers: { 'if-match': headers.etag! } };
    const responses = await Promise.all(
      Array.from({ length: PARALLEL }, (_, index) =>
        patch('one', { properties: { [`k${index}`]: 1 } }, ifMatch),
      ),
    );
    assert.equal(responses.filter(({ status }) => status === 200).length, 1);
    assert.equal(responses.filter(({ status }) => status === 412).length, PARALLEL - 1);
    assertProblem(await patch('one', {}, ifMatch), 'version_mismatch');
    const { properties } = (await service.call('GET', '/v1/user-groups/one')).json.user_group;
    assert.equal(Object.keys(properties).length, 1);
  });

  it('loses none of many parallel patches, updates and rotations', async () => {
    const { token } = (await create('lost')).json.user_group;
    const calls = [
      ...Array.from(
        { length: PARALLEL },
        (_, index) => () => patch('lost', { properties: { [`k${index}`]: index } }),
      ),
      () => service.post({ current_token: token }),
      () => service.put({ user_group_id: 'lost', name: 'Updated' }),
      ...Array.from({ length: 10 }, (_, index) => () => patch('lost', { mapping: { [index]: index } })),
    ];
    // On a busy machine, some take too long. Repeated, each of these calls has the effect of one.
    const responses = await Promise.all(calls.map(served));
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    const { user_group: group } = (await service.call('GET', '/v1/user-groups/lost')).json;
    assert.equal(Object.keys(group.properties).length, PARALLEL);
    assert.equal(Object.keys(group.mapping).length, 10);
    assert.equal(group.name, 'Updated');
    assert.equal(group.version, 1 + responses.length);
  });
});

describe('many parallel patches of one group (PostgreSQL)', () => {
  it('are each written once', async (t) => {
    // One thread: patches that meet in different threads are tried again, as in different processes.
    const service = await TestService.start(postgres, { env: { UGS_THREADS: '1' } });
    t.after(() => service.end());
    // Fires once per statement, even if the statement changes no row.
    await runSql(
      service.database,
      `create sequence writes;
      create function count_write() returns trigger language plpgsql as $$
        begin perform nextval('writes'); return null; end $$;
      create trigger count_writes after update on user_groups for each statement execute function count_write()`,
    );
    // On a busy machine, some patches take too long, and may have been written too.
    await eventually('patches that all succeed', async () => {
      await service.get({ user_group_id: 'once', name: 'Once' });
      await runSql(service.database, 'alter sequence writes restart');
      // The first patch waits for this lock, and the others for the first. Without the lock, a patch that
      // arrives while another ends may have read the group too early, and would be written twice.
      const holder = await SqlConnection.open(service.database.url);
      await holder.query('begin');
      await holder.query("select 1 from user_groups where provided_id = 'once' for update");
      const calls = Array.from({ length: PARALLEL }, (_, index) =>
        service.call('PATCH', '/v1/user-groups/once', { properties: { [`k${index}`]: index } }),
      );
      await sleep(HELD_MS);
      await holder.query('commit');
      await holder.end();
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      const written = await runSql(service.database, 'select last_value::integer as writes from writes');
      await service.call('DELETE', '/v1/user-groups/once');
      if (statuses.includes(503)) return false;
      assert.deepEqual(new Set(statuses), new Set([200]));
      assert.deepEqual(written, [{ writes: PARALLEL }]);
      return true;
    });
  });
});

// Only one process can serve SQLite.
describe('two services that patch one group (PostgreSQL)', () => {
  const [first, second] = TestService.pairOf(postgres);

  it('lose no patch of each other', async () => {
    await first.get({ user_group_id: 'both', name: 'Both' });
    const responses = await Promise.all(
      Array.from({ length: PARALLEL }, (_, index) =>
        // On a busy machine, a lasting conflict is a 503, after which the same patch may be sent again.
        served(() =>
          (index % 2 === 0 ? first : second).call('PATCH', '/v1/user-groups/both', {
            properties: { [`k${index}`]: 1 },
          }),
        ),
      ),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    const { properties } = (await first.call('GET', '/v1/user-groups/both')).json.user_group;
    assert.equal(Object.keys(properties).length, PARALLEL);
  });
});
