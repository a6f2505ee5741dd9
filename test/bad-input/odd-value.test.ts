// Contract: values round-trip unchanged. Every operation accepts unusual but valid values, and no response
// changes a digit, a key or a code point of them.

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { redact } from '../../src/domain/secret.ts';
import {
  extremeProperties,
  jsonForms,
  oddDataSources,
  oddKeys,
  oddNames,
  oddNumbers,
  oddTexts,
} from '../support/bad-input/odd-value.ts';
import { type Members, nameOf, objectText, operationsOn, requestOf } from '../support/bad-input/operation.ts';
import { words } from '../support/bad-input/value.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { mapConcurrently, send, type TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('An unusual value', (database) => {
  const service = TestService.of(database);

  it('can be an id, with a separate group for each id and environment', async (t) => {
    const testing = (await service.apiToken({ environment: 'Testing' })).token;
    const ids = oddTexts;
    t.diagnostic(`${ids.length} ids`);
    const create = (id: string) =>
      Promise.all([
        service.get({ user_group_id: id, name: 'N' }),
        service.call('POST', '/v1/user-groups', { user_group_id: id, name: 'N' }, { token: testing }),
      ]);
    const created = (await mapConcurrently(ids, create)).flat();
    const found = (await mapConcurrently(ids, create)).flat();
    assert.ok(created.every(({ json }) => json.new_user_group === true));
    assert.ok(found.every(({ json }) => json.new_user_group === false));
    const providedIds = created.map(({ json }) => json.user_group.provided_id);
    assert.deepEqual(
      providedIds,
      ids.flatMap((id) => [id, id]),
    );
    assert.equal(new Set(created.map(({ json }) => json.user_group.team_id)).size, 2 * ids.length);
    assert.deepEqual(
      found.map(({ json }) => json.user_group),
      created.map(({ json }) => json.user_group),
    );
  });

  it('can be a name', (t) =>
    assertRoundTrips(
      t,
      service,
      'name',
      oddNames.map((name) => ({ name: JSON.stringify(name) })),
    ));

  it('can be a key and a value of mapping and properties', (t) => {
    const withKey = (key: string): Members => {
      const text = JSON.stringify(key);
      // The key is also the data source, which needs at least one character, as keys do.
      return { mapping: `{${text}:${text}}`, properties: `{${text}:${text},"in":[{${text}:[${text}]}]}` };
    };
    return assertRoundTrips(t, service, 'key', oddKeys.map(withKey));
  });

  it('can be a data source', (t) =>
    assertRoundTrips(
      t,
      service,
      'source',
      oddDataSources.map((text) => ({ mapping: `{"40":${text}}` })),
    ));

  it('can be a number, which keeps all its digits', (t) =>
    assertRoundTrips(
      t,
      service,
      'number',
      oddNumbers.map((text) => ({ properties: `{"a":${text},"b":[[{"c":${text}}]]}` })),
    ));

  it('can be an object with 16 levels, 64 KiB, 100 keys, or any kind of key', (t) =>
    assertRoundTrips(
      t,
      service,
      'extreme',
      Object.values(extremeProperties).map((properties) => ({ properties })),
    ));

  it('is returned in its shortest JSON form', async () => {
    for (const [index, [sent, returned]] of jsonForms.entries()) {
      const id = `form ${index}`;
      assert.deepEqual(await changesOf(service, id, { properties: sent }, { properties: returned }), []);
    }
  });

  it('can be a body of 256 KiB that is mostly white space', async () => {
    await assertAccepted(service, (body) => body.padEnd(256 * 1024));
    await assertAccepted(service, (body) => body.replaceAll(':', `:${'\t\r\n '.repeat(10_000)}`));
  });

  it('can be a body with escaped field names', async () => {
    await assertAccepted(service, (body) =>
      body.replaceAll('"user_', String.raw`"\u0075ser\u005F`).replace('token"', String.raw`\u0074oken"`),
    );
  });

  it('can be an unusual but valid form of a header', async () => {
    const { token } = service;
    const valid: Record<string, string | undefined>[] = [
      ...words('token TOKEN tOkEn').map((scheme) => ({ authorization: `${scheme} ${token}` })),
      ...['Token  ', 'Token \t ', '  Token '].map((before) => ({ authorization: before + token })),
      { authorization: `Token ${token} \t` },
      ...words(
        'APPLICATION/JSON application/json;charset=utf-8 application/json;charset="UTF-8" application/json;',
      ).map((type) => ({ 'content-type': type })),
      { 'content-type': ' application/json ; charset=utf-8 ' },
      { 'content-type': undefined },
      { 'content-encoding': 'identity' },
      { origin: service.url },
      { expect: '200-ok' },
      {
        ['__proto__']: 'x',
        constructor: 'x',
        'x-http-method-override': 'DELETE',
        'accept-charset': 'utf-16',
      },
      { accept: 'text/html', 'accept-encoding': 'gzip', range: 'bytes=0-1', cookie: 'a=b', te: 'trailers' },
    ];
    for (const headers of valid) await assertAccepted(service, (body) => body, headers);
  });
});

/** Round-trips each set of members through every operation on a new group. */
async function assertRoundTrips(
  t: TestContext,
  service: TestService,
  what: string,
  values: readonly Members[],
): Promise<void> {
  t.diagnostic(`${values.length} values`);
  const changes = await mapConcurrently(values, (members, index) =>
    changesOf(service, `${what} ${index}`, members),
  );
  assert.deepEqual(changes.flat().slice(0, MAX_CHANGES_SHOWN), []);
}

const MAX_CHANGES_SHOWN = 20;

/**
 * Creates, gets, updates, rotates and resolves a group with these members; returns how the responses differ
 * from `returned`.
 */
async function changesOf(
  service: TestService,
  id: string,
  members: Members,
  returned = members,
): Promise<string[]> {
  const plain = { name: '"Present"', user_group_id: JSON.stringify(id), properties: 'null' };
  const body = objectText({ ...plain, ...members });
  const created = await served(() => service.call('POST', '/v1/user-groups', body));
  if (created.status !== 201) return [`${id}: ${body.slice(0, 200)} returned ${created.text}`];
  const found = await served(() => service.get(body));
  const updated = await served(() => service.put(body));
  const rotated = await served(() => service.post({ current_token: created.json.user_group.token }));
  const resolved = await served(() => service.resolve(rotated.json.user_group.token));
  const { name, user_group_id, properties, mapping = 'null' } = { ...plain, ...returned } as Members;
  const identity = `"name":${name},"provided_id":${user_group_id}`;
  return [
    ...changeOf(created, `${identity},"properties":${properties}}}`),
    ...changeOf(found, `"new_user_group":false,`),
    ...changeOf(found, `${identity},"properties":${properties}}}`),
    ...changeOf(updated, `${identity},"properties":${properties},"api_environment_tag"`),
    ...changeOf(rotated, `${identity},"api_environment_tag"`),
    ...changeOf(resolved, `"name":${name},"properties":${properties},"mapping":${mapping},`),
    ...(updated.headers.etag === created.headers.etag ? [] : ['an identical update changes the version']),
    ...(found.headers['user-group-drift'] === undefined ? [] : ['identical fields are reported as drift']),
  ].map((change) => `${id}: ${change}`);
}

function changeOf({ text }: TestResponse, part: string): string[] {
  return text.includes(part) ? [] : [`expected ${part.slice(0, 200)} in ${redact(text.slice(0, 400))}`];
}

/** Asserts that every operation accepts the transformed body. */
async function assertAccepted(
  service: TestService,
  transform: (body: string) => string,
  headers: Record<string, string | undefined> = {},
): Promise<void> {
  const created = await service.get({ user_group_id: 'plain', name: 'Present', properties: null });
  const operations = operationsOn({ id: 'plain', token: created.json.user_group.token });
  // Reversed order: the token is resolved before it is rotated.
  for (const operation of operations.toReversed()) {
    const response = await send(service.url, {
      token: service.token,
      ...requestOf(operation, { body: transform(objectText(operation.members)), headers }),
    });
    assert.equal(response.json.success, 1, `${nameOf(operation)} ${Object.keys(headers)}: ${response.text}`);
    assert.equal(response.json.user_group.provided_id, 'plain');
  }
}
