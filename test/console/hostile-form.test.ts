// Forms that no console page sends: anyone can submit them, with or without a session.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Form, MAX_FORM_BYTES, MAX_FORM_CHARACTERS } from '../../src/console/form/form.ts';
import { MAX_KEPT_CHARACTERS } from '../../src/console/request/interrupted-form.ts';
import { groupOfText } from '../../src/console/user-group/merge.ts';
import { propertyFields, readProperties } from '../../src/console/user-group/properties.ts';
import { limits } from '../../src/domain/field.ts';
import { CpuQueue } from '../../src/operations/machinery/cpu-queue.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { ConsoleBrowser, newWorkspace } from '../support/console.ts';
import { csrfOf, textOf } from '../support/console-page.ts';
import { sqlite } from '../support/database.ts';
import { send } from '../support/http.ts';
import { admitted, eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const MEBIBYTE = 1_048_576;
const MAX_FIELDS = 16_384;
/** Limit on concurrent forms of a mebibyte without a session. */
const LARGE_FORMS = 16;
const PATH = '/console/user-groups/a/review';
const OPTIONS = 100;
const INPUTS = 100;
/** Turns in which so many inputs are shown at least. */
const MIN_TURNS = 20;
/** Takes a few milliseconds if each lookup is constant; searching all fields would take seconds. */
const MAX_MS = 500;

describe('A form of the console', () => {
  // Threads divide the limit on large forms.
  const service = TestService.of(sqlite, { env: { UGS_THREADS: '1' } });

  function headers(cookie?: string) {
    return {
      origin: service.url,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
      ...(cookie !== undefined && { cookie }),
    };
  }

  it('is refused if it has more fields than any page', async () => {
    const { cookie } = await ConsoleBrowser.signIn(service);
    for (const [most, each] of [
      [MAX_FIELDS, cookie],
      [MAX_FIELDS / 2, undefined],
    ] as const) {
      const post = (body: string) =>
        admitted(() => send(service.url, { method: 'POST', path: PATH, body, headers: headers(each) }));
      const refused = await post('a&'.repeat(most));
      assert.equal(refused.status, 400);
      assert.match(textOf(refused), new RegExp(`must have at most ${most} parameters`));
      assert.notEqual((await post('a&'.repeat(most - 1))).status, 400);
    }
  });

  it('is refused if its decoded text is too long to be shown again, or kept without a session', async () => {
    const { cookie } = await ConsoleBrowser.signIn(service);
    for (const [most, each] of [
      [MAX_FORM_CHARACTERS, cookie],
      [MAX_KEPT_CHARACTERS, undefined],
    ] as const) {
      const post = (characters: number, text = 'x') =>
        admitted(() =>
          send(service.url, {
            method: 'POST',
            path: PATH,
            body: `a=${text.repeat(characters - 1)}`,
            headers: headers(each),
          }),
        );
      assert.notEqual((await post(most)).status, 413);
      assert.equal((await post(most + 1)).status, 413);
      // Escaped before they are encrypted, quotes are twice as long.
      assert.equal((await post(most, '"')).status === 413, each === undefined);
    }
  });

  it('is refused if it is not percent-encoded', async () => {
    const refused = await send(service.url, {
      method: 'POST',
      path: PATH,
      body: 'a=%ff',
      headers: headers(),
    });
    assert.equal(refused.status, 400);
    assert.match(textOf(refused), /A form must be percent-encoded UTF-8/);
  });

  it('is refused if it is too large, even if it does not announce its length', async () => {
    const { cookie } = await ConsoleBrowser.signIn(service);
    const body = 'x'.repeat(MAX_FORM_BYTES + 1);
    for (const more of [{}, { 'transfer-encoding': 'chunked', 'content-length': undefined }]) {
      const refused = await send(service.url, {
        method: 'POST',
        path: PATH,
        body,
        headers: { ...headers(cookie), ...more },
      });
      assert.equal(refused.status, 413);
    }
  });

  it('finds a field in constant time', () => {
    const names = Array.from({ length: MAX_FIELDS }, (_, index) => `property-${index}-key`);
    const form = new Form(names.map((name) => [name, name]));
    const startedAt = performance.now();
    for (const name of names)
      assert.deepEqual([form.has(name), form.text(name), form.texts(name)], [true, name, [name]]);
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < MAX_MS, `${tookMs} ms`);
  });

  it('is shown again in several turns of the event loop', async () => {
    const inputs = Array.from({ length: MAX_FIELDS / 3 }, (_, index) => [
      [`property-${index}-key`, `key ${index}`],
      [`property-${index}`, 'x'],
    ]);
    const typed = readProperties(new Form(inputs.flat() as [string, string][]), null);
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    const rendering = propertyFields(CpuQueue.create(), typed, undefined);
    const { markup } = await rendering.finally(() => clearImmediate(next));
    assert.equal(markup.split('-kind"').length - 1, inputs.length);
    assert.ok(turns >= MIN_TURNS, `${turns} turns`);
  });

  it('is refused for a body that is too large for the API', async () => {
    const { browser, call } = await newWorkspace(service);
    assert.equal((await call('PUT', '/v1/user-groups/a', { name: 'A' })).status, 201);
    const long = 'x'.repeat(limits.bodyBytes);
    for (const fields of [{ name: long + long }, { properties: `{"long":"${long}"}` }]) {
      const refused = await browser.submit('/console/user-groups/a/edit?as=json', PATH, fields);
      assert.equal(refused.status, 413);
      assert.match(textOf(refused), /Nothing was done: what you typed exceeds \d+ bytes/);
    }
  });

  it('is not merged with a stored version if it has more fields or members than any', async () => {
    const { browser, call } = await newWorkspace(service);
    const path = '/console/catalogue/property-schema';
    assert.equal((await call('PUT', '/v1/property-schema', { schema: {}, mode: 'off' })).status, 201);
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field-${index}`, '']));
    const refused = await browser.submit(path, path, { ...fields, version: '1-1', schema: '{}' });
    assert.equal(refused.status, 400);
    assert.match(textOf(refused), /must have at most 1000 fields/);
    const groupWith = (members: number) => {
      const names = Array.from({ length: members }, (_, index) => [`key ${index}`, 1]);
      return JSON.stringify({ name: 'A', properties: Object.fromEntries(names) });
    };
    assert.notEqual(groupOfText(groupWith(limits.mapEntries)), null);
    assert.equal(groupOfText(groupWith(limits.mapEntries + 1)), null);
  });

  it('gets a page without the same choices again and again', async () => {
    const { browser, call } = await newWorkspace(service);
    const values = Array.from({ length: OPTIONS }, (_, index) => `value ${index}`);
    const schema = { properties: { plan: { enum: values } } };
    assert.equal((await call('PUT', '/v1/property-schema', { schema, mode: 'off' })).status, 201);
    assert.equal((await call('PUT', '/v1/user-groups/a', { name: 'A' })).status, 201);
    const review = (name: string, inputs: number, fields: Record<string, string>) => {
      const repeated = Array.from({ length: inputs }, (_, index) =>
        Object.entries(fields).map(([field, text]) => [`${name}-${index}${field}`, text]),
      );
      const form = { ...Object.fromEntries(repeated.flat()), name: '' };
      return browser.submit('/console/user-groups/a/edit', PATH, form);
    };
    const choices = await review('property', INPUTS, { '': '', '-key': 'plan', '-kind': 'choice' });
    const options = choices.text.split('<option').length;
    // Each further input has only the choice that nothing is set.
    assert.ok(options > OPTIONS && options <= OPTIONS + INPUTS + 1, String(options));
    assert.match(textOf(await review('mapping', 2, { '': '', '-schema': '40' })), /is also the schema/);
    const rows = await browser.submit('/console/user-groups/a/edit', PATH, {
      'property-rows': '1',
      ...Object.fromEntries(values.map((key, index) => [`property-${index}-key`, key])),
      name: '',
    });
    assert.ok(rows.text.split('<textarea').length < OPTIONS);
  });

  it('is refused if a hidden field is not what the page has', async () => {
    const { browser } = await newWorkspace(service);
    const refused = await browser.post('/console/user-groups/-/new', {
      csrf: csrfOf(await browser.get('/console/user-groups')),
      user_group_id: 'a',
      'mapping-0-schema': '40',
      'mapping-0-stored': '{',
      'mapping-0-searched': '1',
      'mapping-0': 'x',
    });
    assert.equal(refused.status, 400, refused.text);
  });

  it('for signing in is accepted while others send as many large forms as they may', async () => {
    const lines = Object.entries(headers()).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST ${PATH} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n${lines.join('')}`;
    const connections: RawConnection[] = [];
    const text = 'x'.repeat(MEBIBYTE / 2);
    await eventually('large forms to be refused', async () => {
      // Opened again in each round: a connection may have been refused in favour of the form below.
      const opening = Array.from({ length: LARGE_FORMS }, () => RawConnection.open(service.url));
      for (const connection of await Promise.all(opening)) {
        connections.push(connection);
        connection.write(`${head}Content-Length: ${MEBIBYTE}\r\n\r\n${text}`);
      }
      const { status } = await send(service.url, {
        method: 'POST',
        path: PATH,
        body: text,
        headers: headers(),
      });
      return status === 503;
    });
    const signedIn = await send(service.url, {
      method: 'POST',
      path: '/console/sign-in',
      body: `api_token=${service.token}`,
      headers: headers(),
    });
    assert.equal(signedIn.status, 303);
    for (const connection of connections) connection.leave();
  });
});
