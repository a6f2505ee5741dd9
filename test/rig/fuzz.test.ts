// The service answers as it describes itself, whatever it is sent. `npm run rig:fuzz -- --cases 100000` is the long run.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { accountOf, fuzz, fuzzService } from '../../rig/fuzz.ts';
import type { Account } from '../../rig/fuzz-check.ts';
import { jsonText } from '../../rig/fuzz-json.ts';
import { valuesOf, violationsOf } from '../../rig/fuzz-schema.ts';
import { PromiseBroken } from '../../rig/ledger.ts';
import { Random } from '../../rig/random.ts';
import { openApi } from '../../src/http/openapi/document.ts';
import type { Schema } from '../../src/http/openapi/schema.ts';
import { operations } from '../../src/http/routes.ts';
import { describeOnEachDatabase, sqlite } from '../database.ts';
import { send } from '../http.ts';
import { TestService } from '../service.ts';
import { type Lie, LyingProxy } from './lying-proxy.ts';

const CASES = 600;

describeOnEachDatabase('requests made from the description', (kind) => {
  it(`are answered as it says, right and wrong ones, in ${CASES} cases`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    await fuzz({ kind, cases: CASES, seed, callers: 4, onCase: () => {} });
  });
});

describe('The fuzzer finds', () => {
  // What is found need not be made smaller.
  before(() => fc.configureGlobal({ endOnFailure: true }));
  after(() => fc.resetConfigureGlobal());

  let service: TestService;
  let account: Account;
  before(async () => {
    service = await TestService.start(sqlite);
  });
  after(() => service.end());

  /** A new one for each lie: what one has left would be in the way of the next. */
  const accountFor = (workspace: string): Promise<Account> =>
    accountOf(
      service.url,
      {
        create: (workspaceName, environment) => service.apiToken({ workspaceName, environment }),
        revoke: (id) => service.revokeApiToken(id),
      },
      workspace,
    );
  const asOwner = () => [`Token ${account.token}`];
  const lies: Record<string, [finding: RegExp, lie: Lie]> = {
    'a server error': [
      /500 version_mismatch/,
      { told: (answer) => (answer.status === 412 ? { ...answer, status: 500 } : answer) },
    ],
    'a status that is not described': [
      /deleteUserGroup is not said to answer 202/,
      { told: (answer) => (answer.status === 204 ? { ...answer, status: 202 } : answer) },
    ],
    'a field that is not described': [
      /must NOT have additional properties/,
      { told: (answer) => ({ ...answer, text: answer.text.replace('"name"', '"more":1,"name"') }) },
    ],
    'a header that is missing': [
      /no etag/,
      { told: ({ headers: { etag: _, ...headers }, ...answer }) => ({ ...answer, headers }) },
    ],
    'good data that is refused': [
      /positive data acceptance.*415/,
      {
        asked: ({ headers, ...request }) => ({
          ...request,
          headers: request.method === 'PUT' ? { ...headers, 'content-type': 'text/plain' } : headers,
        }),
      },
    ],
    'bad data that is taken': [
      /negative data rejection.*where 415 is due/,
      { asked: ({ headers, ...request }) => ({ ...request, headers: without(headers, 'content-encoding') }) },
    ],
    'a refused request that has done something': [
      /has (left|changed) something/,
      {
        asked: async ({ headers, ...request }) => {
          const accepted = without(headers, 'content-encoding');
          if (accepted !== headers) await send(service.url, { ...request, headers: accepted });
          return { ...request, headers };
        },
      },
    ],
    'a credential that is not asked for': [
      /ignored auth/,
      {
        asked: ({ headers, ...request }) => ({
          ...request,
          headers: { authorization: asOwner(), ...headers },
        }),
      },
    ],
    'a method that is not described': [
      /unsupported method/,
      {
        asked: (request) =>
          ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'].includes(request.method)
            ? request
            : { ...request, method: 'GET' },
      },
    ],
    'a group that is there when it was deleted': [
      /use after free|there was a group already/,
      {
        asked: (request) => (isDeletion(request) ? { ...request, method: 'GET' } : request),
        told: (answer, request) =>
          isDeletion(request) && answer.status === 200
            ? { status: 204, headers: without(without(answer.headers, 'content-type'), 'etag'), text: '' }
            : answer,
      },
    ],
    'a group that others see': [
      /namespace/,
      {
        asked: ({ headers, ...request }) => ({
          ...request,
          headers: isOther(headers) ? { ...headers, authorization: asOwner() } : headers,
        }),
      },
    ],
  };
  const isDeletion = ({ method, headers }: { method: string; headers: object }): boolean =>
    method === 'DELETE' && !('if-match' in headers);
  const isOther = (headers: object & { authorization?: unknown }): boolean =>
    Object.values(account.others).some((token) => String(headers.authorization).includes(token));

  for (const [what, [finding, lie]] of Object.entries(lies)) {
    it(what, async () => {
      account = await accountFor(what);
      await using liar = await LyingProxy.start(service.url, lie);
      await assert.rejects(
        fuzzService(liar.url, [account], { cases: 2_000, seed: 1, onCase: () => {} }),
        (error) => {
          assert.ok(error instanceof PromiseBroken);
          assert.match(error.message, finding);
          return true;
        },
      );
    });
  }
});

function without<Headers extends object>(headers: Headers, name: string): Headers {
  const rest = Object.entries(headers).filter(([each]) => each !== name);
  return rest.length === Object.keys(headers).length ? headers : (Object.fromEntries(rest) as Headers);
}

describe('Values that are made from a schema', () => {
  const { schemas } = openApi(operations).components;
  const requests = Object.entries(schemas).filter(([, schema]) => schema?.additionalProperties === false);
  const ajv = new Ajv({ strict: false, allowUnionTypes: true });
  ajv.addKeyword({
    keyword: 'x-max-bytes',
    validate: (most: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= most,
  });
  ajv.addKeyword({
    keyword: 'x-max-levels',
    validate: (most: number, value: unknown) => levelsOf(value) <= most,
  });

  for (const [name, schema] of requests as [string, Schema][]) {
    const isValid = ajv.compile(schema);
    it(`are as the schema allows: ${name}`, () => {
      fc.assert(fc.property(valuesOf(schema), (value) => assert.ok(isValid(JSON.parse(jsonText(value))))));
    });
    it(`break the schema where they are to: ${name}`, () => {
      fc.assert(
        fc.property(violationsOf(schema), ({ value }) => assert.ok(!isValid(JSON.parse(jsonText(value))))),
      );
    });
    it(`are the same JSON however they are written: ${name}`, () => {
      fc.assert(
        fc.property(valuesOf(schema), fc.nat(), (value, seed) => {
          const spelt = jsonText(value, { spelling: new Random(seed) });
          assert.deepEqual(JSON.parse(spelt), JSON.parse(jsonText(value)));
        }),
      );
    });
  }

  it('are not made where the schema has a keyword that nobody tries', () => {
    assert.throws(() => valuesOf({ type: 'string', format: 'email' }), /format/);
    assert.throws(() => valuesOf({ type: 'array' }), /array/);
  });
});

function levelsOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf));
}
