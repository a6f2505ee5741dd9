// The service responds to any request as its API description says. `npm run rig:fuzz -- --cases 100000` is
// the long run.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { openApi } from '../../scripts/openapi/document.ts';
import * as surface from '../../src/http/routes.ts';
import { ApiDescription } from '../../test/support/api-description/api-description.ts';
import { describeOnEachDatabase, sqlite } from '../../test/support/database.ts';
import { send } from '../../test/support/http.ts';
import { WITHOUT_FAILURE_LIMIT } from '../../test/support/process.ts';
import { TestService } from '../../test/support/service.ts';
import { bodySchemaOf, isGenerated } from '../fuzz/case.ts';
import type { Account } from '../fuzz/check.ts';
import { jsonText } from '../fuzz/json.ts';
import { valuesOf, violationsOf } from '../fuzz/schema.ts';
import { accountOf, fuzz, fuzzService } from '../fuzz.ts';
import { PromiseBroken } from '../support/ledger.ts';
import { Random } from '../support/random.ts';
import type { TokenIssuer } from '../support/token-issuer.ts';
import { type Tampering, TamperingProxy } from './tampering-proxy.ts';

const CASES = 600;

describeOnEachDatabase('Requests generated from the API description', (kind) => {
  it(`get the described responses, valid and invalid ones, in ${CASES} cases`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    await fuzz({ kind, cases: CASES, seed, callers: 4, onCase: () => {} });
  });
});

describeOnEachDatabase('The fuzzer', (kind) => {
  it('waits for an overloaded service and continues', async (test) => {
    const crowded = await TestService.start(kind, {
      env: { UGS_QUEUE_LIMIT: '1', ...WITHOUT_FAILURE_LIMIT },
    });
    test.after(() => crowded.end());
    const issuer = issuerOf(crowded);
    const accounts = [];
    while (accounts.length < 16) accounts.push(await accountOf(crowded.url, issuer, `w${accounts.length}`));
    await fuzzService(crowded.url, accounts, { cases: 160, seed: 1, onCase: () => {} });
    assert.ok(crowded.logLines.some((line) => JSON.parse(line).code === 'overloaded'));
  });
});

function issuerOf(service: TestService): TokenIssuer {
  return {
    create: (workspaceName, environment, permission = 'read-write') =>
      service.apiToken({ workspaceName, environment, permission }),
    revoke: async (id) => {
      await service.revokeApiToken(id);
    },
  };
}

describe('The fuzzer detects', () => {
  // Skips shrinking of counterexamples.
  before(() => fc.configureGlobal({ endOnFailure: true }));
  after(() => fc.resetConfigureGlobal());

  const service = TestService.of(sqlite, { env: WITHOUT_FAILURE_LIMIT });
  let account: Account;

  /** Creates an account for each test, so that leftovers of one do not affect the next. */
  const accountFor = (workspace: string): Promise<Account> =>
    accountOf(service.url, issuerOf(service), workspace);
  const asOwner = () => [`Token ${account.token}`];
  /** Seeds for findings that are rare: with others, they take thousands of cases. */
  const tamperings: Record<string, [finding: RegExp, tampering: Tampering, seed?: number]> = {
    'a server error': [
      /500 version_mismatch/,
      { changeResponse: (response) => (response.status === 412 ? { ...response, status: 500 } : response) },
    ],
    'an undocumented status': [
      /deleteUserGroup does not describe status 202/,
      { changeResponse: (response) => (response.status === 204 ? { ...response, status: 202 } : response) },
    ],
    'an undocumented field': [
      /must NOT have additional properties/,
      {
        changeResponse: (response) => ({
          ...response,
          text: response.text.replace('"name"', '"more":1,"name"'),
        }),
      },
    ],
    'a missing header': [
      /no etag/,
      { changeResponse: ({ headers: { etag: _, ...headers }, ...response }) => ({ ...response, headers }) },
    ],
    'rejected valid data': [
      // Either check may report it first.
      /data (?:acceptance|rejection).*415/,
      {
        changeRequest: ({ headers, ...request }) => ({
          ...request,
          headers: request.method === 'PUT' ? { ...headers, 'content-type': 'text/plain' } : headers,
        }),
      },
    ],
    'accepted invalid data': [
      /negative data rejection.*expected 415/,
      {
        changeRequest: ({ headers, ...request }) => ({
          ...request,
          headers: without(headers, 'content-encoding'),
        }),
      },
    ],
    'a rejected request that has an effect': [
      /a rejected request (left a resource behind|changed the group)/,
      {
        changeRequest: async ({ headers, ...request }) => {
          const accepted = without(headers, 'content-encoding');
          if (accepted !== headers) await send(service.url, { ...request, headers: accepted });
          return { ...request, headers };
        },
      },
      14,
    ],
    'a missing credential check': [
      /ignored auth/,
      {
        changeRequest: ({ headers, ...request }) => ({
          ...request,
          headers: { authorization: asOwner(), ...headers },
        }),
      },
    ],
    'an undocumented method': [
      /unsupported method/,
      {
        changeRequest: (request) =>
          ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'].includes(request.method)
            ? request
            : { ...request, method: 'GET' },
      },
    ],
    'a deleted group that still exists': [
      /use after free|the group exists already/,
      {
        changeRequest: (request) => (isDeletion(request) ? { ...request, method: 'GET' } : request),
        changeResponse: (response, request) =>
          isDeletion(request) && response.status === 200
            ? { status: 204, headers: without(without(response.headers, 'content-type'), 'etag'), text: '' }
            : response,
      },
    ],
    'a group that other callers find by name': [
      /namespace of listUserGroups/,
      {
        changeRequest: ({ headers, ...request }) => ({
          ...request,
          headers:
            isOther(headers) && request.path.includes('search=')
              ? { ...headers, authorization: asOwner() }
              : headers,
        }),
      },
      12,
    ],
    'a group that other callers can read': [
      /namespace/,
      {
        changeRequest: ({ headers, ...request }) => ({
          ...request,
          headers: isOther(headers) ? { ...headers, authorization: asOwner() } : headers,
        }),
      },
    ],
  };
  const isDeletion = (request: { method: string; path: string; headers: object }): boolean =>
    request.method === 'DELETE' &&
    request.path.startsWith('/v1/user-groups/') &&
    !('if-match' in request.headers);
  const isOther = (headers: object & { authorization?: unknown }): boolean =>
    Object.values(account.others).some((token) => String(headers.authorization).includes(token));

  for (const [what, [finding, tampering, seed = 1]] of Object.entries(tamperings)) {
    it(what, async () => {
      account = await accountFor(what);
      await using proxy = await TamperingProxy.start(service.url, tampering);
      await assert.rejects(
        fuzzService(proxy.url, [account], { cases: 6_000, seed, onCase: () => {} }),
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

describe('Values generated from a schema', () => {
  const { operations, schemas } = new ApiDescription(openApi(surface));
  const bodies = operations.filter(isGenerated).map((operation) => bodySchemaOf(operation, schemas));
  const requests = Object.entries(schemas).filter(([, schema]) => bodies.includes(schema));
  const ajv = new Ajv({ strict: false, allowUnionTypes: true, validateFormats: false });
  ajv.addKeyword({
    keyword: 'x-max-bytes',
    validate: (limit: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= limit,
  });
  ajv.addKeyword({
    keyword: 'x-max-levels',
    validate: (limit: number, value: unknown) => levelsOf(value) <= limit,
  });

  for (const [name, schema] of requests) {
    const isValid = ajv.compile(schema);
    it(`are valid according to the schema: ${name}`, () => {
      fc.assert(fc.property(valuesOf(schema), (value) => assert.ok(isValid(JSON.parse(jsonText(value))))));
    });
    it(`violate the schema: ${name}`, () => {
      fc.assert(
        fc.property(violationsOf(schema), ({ value }) => assert.ok(!isValid(JSON.parse(jsonText(value))))),
      );
    });
    it(`are the same JSON in every formatting: ${name}`, () => {
      fc.assert(
        fc.property(valuesOf(schema), fc.nat(), (value, seed) => {
          const formatted = jsonText(value, { formatting: new Random(seed) });
          assert.deepEqual(JSON.parse(formatted), JSON.parse(jsonText(value)));
        }),
      );
    });
  }

  it('are not generated for a schema with an unsupported keyword', () => {
    assert.throws(() => valuesOf({ type: 'string', const: 'a' }), /const/);
    assert.throws(() => valuesOf({ type: 'array' }), /array/);
  });
});

function levelsOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf));
}
