// In whatever order calls come, and through whichever process, each answer is the one that is due, byte for byte.
// `npm run rig:model -- --sequences 2000` is the long run.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { PromiseBroken } from '../../rig/ledger.ts';
import { Random } from '../../rig/random.ts';
import { callInAnyOrder, callServices } from '../../rig/sequence.ts';
import { describeOnEachDatabase, sqlite } from '../database.ts';
import { TestService } from '../service.ts';
import { type Lie, LyingProxy } from './lying-proxy.ts';

const SEQUENCES = 40;

describeOnEachDatabase('Calls in any order', (kind) => {
  it(`are answered as the model says, in ${SEQUENCES} sequences`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    const processes = kind.name === 'SQLite' ? 1 : 3;
    await callInAnyOrder({ kind, processes, sequences: SEQUENCES, seed, onSequence: () => {} });
  });
});

describe('The model finds', () => {
  // What is found need not be made shorter.
  before(() => fc.configureGlobal({ endOnFailure: true }));
  after(() => fc.resetConfigureGlobal());

  const changing = (change: (text: string) => string): Lie => ({
    told: (answer) => ({ ...answer, text: change(answer.text) }),
  });
  const lies: Record<string, Lie> = {
    'a field in another place': changing((text) =>
      text.replace(/("name":"[^"]*"),("provided_id":"[^"]*")/, '$2,$1'),
    ),
    'digits that are lost': changing((text) => text.replace('9007199254740993', '9007199254740992')),
    'a change that is dropped': {
      asked: (request) => (request.method === 'PATCH' ? { ...request, body: Buffer.from('{}') } : request),
    },
    'a version that is not looked at': {
      asked: ({ headers, ...request }) => ({ ...request, headers: { ...headers, 'if-match': undefined } }),
    },
    'an instant that is not that of the change': changing((text) =>
      text.replace(/"updated_at":"\d{4}/, '"updated_at":"2001'),
    ),
    'a grace period of another length': {
      asked: (request) => ({
        ...request,
        body: request.body && Buffer.from(String(request.body).replace(':3600', ':3700')),
      }),
    },
    'a group that a list leaves out': changing((text) =>
      text.replace(/("user_groups":\[)\{[^{}]*\{[^{}]*\}[^{}]*\},/, '$1'),
    ),
  };
  for (const [what, lie] of Object.entries(lies)) {
    it(what, async (test) => {
      const service = await TestService.start(sqlite);
      test.after(() => service.end());
      await using liar = await LyingProxy.start(service.url, lie);
      await assert.rejects(
        callServices([service.url, liar.url], service.token, {
          sequences: 200,
          seed: 1,
          onSequence: () => {},
        }),
        PromiseBroken,
      );
    });
  }
});
