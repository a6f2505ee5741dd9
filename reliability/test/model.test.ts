// For calls in any order, through any process, each response matches the model byte for byte.
// `npm run rig:model -- --sequences 2000` is the long run.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { describeOnEachDatabase, sqlite } from '../../test/support/database.ts';
import { TestService } from '../../test/support/service.ts';
import { callersOf, callServices, runSequences } from '../sequence.ts';
import { PromiseBroken } from '../support/ledger.ts';
import { Random } from '../support/random.ts';
import { type Tampering, TamperingProxy } from './tampering-proxy.ts';

const SEQUENCES = 40;

describeOnEachDatabase('Calls in random order', (kind) => {
  it(`get the responses that the model predicts, in ${SEQUENCES} sequences`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    const processes = kind.name === 'SQLite' ? 1 : 3;
    await runSequences({ kind, processes, sequences: SEQUENCES, seed, onSequence: () => {} });
  });
});

describe('The model detects', () => {
  // Skips shrinking of counterexamples.
  before(() => fc.configureGlobal({ endOnFailure: true }));
  after(() => fc.resetConfigureGlobal());

  /** The API token of the first caller. */
  let owner: string;
  const changing = (change: (text: string) => string): Tampering => ({
    changeResponse: (response) => ({ ...response, text: change(response.text) }),
  });
  const tamperings: Record<string, Tampering> = {
    'fields in a different order': changing((text) =>
      text.replace(/("name":"[^"]*"),("provided_id":"[^"]*")/, '$2,$1'),
    ),
    'lost digits': changing((text) => text.replace('9007199254740993', '9007199254740992')),
    'a dropped change': {
      changeRequest: (request) =>
        request.method === 'PATCH' ? { ...request, body: Buffer.from('{}') } : request,
    },
    'an ignored version': {
      changeRequest: ({ headers, ...request }) => ({
        ...request,
        headers: { ...headers, 'if-match': undefined },
      }),
    },
    'a timestamp that differs from that of the change': changing((text) =>
      text.replace(/"updated_at":"\d{4}/, '"updated_at":"2001'),
    ),
    'a wrong grace period': {
      changeRequest: (request) => ({
        ...request,
        body: request.body && Buffer.from(String(request.body).replace(':3600', ':3700')),
      }),
    },
    'a search by name that returns groups of other callers': {
      changeRequest: ({ headers, ...request }) => ({
        ...request,
        headers: /search=.*Acme/.test(request.path)
          ? { ...headers, authorization: [`Token ${owner}`] }
          : headers,
      }),
    },
    'a token accepted for other callers': {
      changeRequest: ({ headers, ...request }) => ({
        ...request,
        headers: request.path === '/v1/resolve' ? { ...headers, authorization: [`Token ${owner}`] } : headers,
      }),
    },
    'a group missing from a list': changing((text) =>
      text.replace(/("user_groups":\[)\{[^{}]*\{[^{}]*\}[^{}]*\},/, '$1'),
    ),
  };
  /** Seeds for what is rare: with others, it takes hundreds of sequences. */
  const seeds: Record<string, number> = { 'a wrong grace period': 14 };
  for (const [what, tampering] of Object.entries(tamperings)) {
    it(what, async (test) => {
      const service = await TestService.start(sqlite);
      test.after(() => service.end());
      const callers = await callersOf({
        create: (workspaceName, environment) => service.apiToken({ workspaceName, environment }),
      });
      owner = callers[0]!.token;
      await using proxy = await TamperingProxy.start(service.url, tampering);
      await assert.rejects(
        callServices([service.url, proxy.url], callers, {
          sequences: 200,
          seed: seeds[what] ?? 1,
          onSequence: () => {},
        }),
        PromiseBroken,
      );
    });
  }
});
