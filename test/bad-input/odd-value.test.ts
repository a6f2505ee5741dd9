// Contract: what comes in goes out the same. Values that look wrong and break no rule are accepted by every
// operation, and no answer changes a digit, a key or a code point of them.

import assert from 'node:assert/strict';
import { after, before, it, type TestContext } from 'node:test';
import { redact } from '../../src/domain/secret.ts';
import { describeOnEachDatabase } from '../database.ts';
import { inLanes, send, type TestAnswer } from '../http.ts';
import { TestService } from '../service.ts';
import {
  extremeProperties,
  oddDataSources,
  oddKeys,
  oddNames,
  oddNumbers,
  oddTexts,
  spellings,
} from './odd-value.ts';
import { type Members, nameOf, objectText, operationsOn, requestOf } from './operation.ts';
import { words } from './value.ts';

describeOnEachDatabase('An odd value', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  it('makes a user group of its own of every id, in each environment', async (t) => {
    const testing = (await service.apiToken({ environment: 'Testing' })).token;
    const ids = oddTexts;
    t.diagnostic(`${ids.length} ids`);
    const create = (id: string) =>
      Promise.all([
        service.get({ user_group_id: id, name: 'N' }),
        service.call('POST', '/v1/user-groups', { user_group_id: id, name: 'N' }, { token: testing }),
      ]);
    const created = (await inLanes(ids, create)).flat();
    const found = (await inLanes(ids, create)).flat();
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

  it('is a name', (t) =>
    keepsAll(
      t,
      service,
      'name',
      oddNames.map((name) => ({ name: JSON.stringify(name) })),
    ));

  it('is a key and a value of mapping and properties', (t) => {
    const withKey = (key: string): Members => {
      const text = JSON.stringify(key);
      // A data source has at least one character, as every key has.
      return { mapping: `{${text}:${text}}`, properties: `{${text}:${text},"in":[{${text}:[${text}]}]}` };
    };
    return keepsAll(t, service, 'key', oddKeys.map(withKey));
  });

  it('is a data source', (t) =>
    keepsAll(
      t,
      service,
      'source',
      oddDataSources.map((text) => ({ mapping: `{"40":${text}}` })),
    ));

  it('is a number with all its digits', (t) =>
    keepsAll(
      t,
      service,
      'number',
      oddNumbers.map((text) => ({ properties: `{"a":${text},"b":[[{"c":${text}}]]}` })),
    ));

  it('is an object of 16 levels, of 64 KiB, of 100 keys, and of every kind of key', (t) =>
    keepsAll(
      t,
      service,
      'extreme',
      Object.values(extremeProperties).map((properties) => ({ properties })),
    ));

  it('comes back in its shortest spelling, however it was spelt', async () => {
    for (const [index, [sent, returned]] of spellings.entries()) {
      const id = `spelling ${index}`;
      assert.deepEqual(await changesOf(service, id, { properties: sent }, { properties: returned }), []);
    }
  });

  it('is a body of 256 KiB that is white space for the most part', async () => {
    await eachAccepts(service, (body) => body.padEnd(256 * 1024));
    await eachAccepts(service, (body) => body.replaceAll(':', `:${'\t\r\n '.repeat(10_000)}`));
  });

  it('is a body with its field names spelt in escapes', async () => {
    await eachAccepts(service, (body) =>
      body.replaceAll('"user_', String.raw`"\u0075ser\u005F`).replace('token"', String.raw`\u0074oken"`),
    );
  });

  it('is a header that says the usual thing in an unusual way', async () => {
    const { token } = service;
    const usual: Record<string, string | undefined>[] = [
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
    for (const headers of usual) await eachAccepts(service, (body) => body, headers);
  });
});

/** Sends each set of members through the life of a group of its own. */
async function keepsAll(
  t: TestContext,
  service: TestService,
  what: string,
  values: readonly Members[],
): Promise<void> {
  t.diagnostic(`${values.length} values`);
  const changes = await inLanes(values, (members, index) => changesOf(service, `${what} ${index}`, members));
  assert.deepEqual(changes.flat().slice(0, MAX_CHANGES_SHOWN), []);
}

const MAX_CHANGES_SHOWN = 20;

/** Creates, gets, updates, rotates and resolves a group of these members; returns the answers that do not hold them. */
async function changesOf(
  service: TestService,
  id: string,
  members: Members,
  returned = members,
): Promise<string[]> {
  const plain = { name: '"Present"', user_group_id: JSON.stringify(id), properties: 'null' };
  const body = objectText({ ...plain, ...members });
  const created = await service.call('POST', '/v1/user-groups', body);
  if (created.status !== 201) return [`${id}: ${body.slice(0, 200)} gives ${created.text}`];
  const found = await service.get(body);
  const updated = await service.put(body);
  const rotated = await service.post({ current_token: created.json.user_group.token });
  const resolved = await service.resolve(rotated.json.user_group.token);
  const { name, user_group_id, properties, mapping = 'null' } = { ...plain, ...returned } as Members;
  const identity = `"name":${name},"provided_id":${user_group_id}`;
  return [
    ...changeOf(created, `${identity},"properties":${properties}}}`),
    ...changeOf(found, `"new_user_group":false,`),
    ...changeOf(found, `${identity},"properties":${properties}}}`),
    ...changeOf(updated, `${identity},"properties":${properties},"api_environment_tag"`),
    ...changeOf(rotated, `${identity},"api_environment_tag"`),
    ...changeOf(resolved, `"name":${name},"properties":${properties},"mapping":${mapping},`),
    ...(updated.headers.etag === created.headers.etag ? [] : ['the same again is a change']),
    ...(found.headers['user-group-drift'] === undefined ? [] : ['the same again differs']),
  ].map((change) => `${id}: ${change}`);
}

function changeOf({ text }: TestAnswer, part: string): string[] {
  return text.includes(part) ? [] : [`expected ${part.slice(0, 200)} in ${redact(text.slice(0, 400))}`];
}

/** Sends a body to each operation that it accepts in its usual spelling. */
async function eachAccepts(
  service: TestService,
  spelt: (body: string) => string,
  headers: Record<string, string | undefined> = {},
): Promise<void> {
  const created = await service.get({ user_group_id: 'plain', name: 'Present', properties: null });
  const operations = operationsOn({ id: 'plain', token: created.json.user_group.token });
  // A token is resolved before it is rotated.
  for (const operation of operations.toReversed()) {
    const answer = await send(service.url, {
      token: service.token,
      ...requestOf(operation, { body: spelt(objectText(operation.members)), headers }),
    });
    assert.equal(answer.json.success, 1, `${nameOf(operation)} ${Object.keys(headers)}: ${answer.text}`);
    assert.equal(answer.json.user_group.provided_id, 'plain');
  }
}
