// The ledger of the rigs detects broken promises; if it accepted impossible responses, the rigs would prove
// nothing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ledger, PromiseBroken } from '../support/ledger.ts';
import type { Exchange, Group, Operation, Response } from '../support/model.ts';

const FIELDS = { name: 'Acme', mapping: null, properties: null };
const CREATE: Operation = { kind: 'create', ...FIELDS };
const READ: Operation = { kind: 'read' };

/** Returns the facts that the service returns about a group at its first version. */
function group(facts: Partial<Group> = {}): Response['facts'] {
  return { teamId: 1, token: 'first', version: 1, ...FIELDS, ...facts };
}

function answered(
  operation: Operation,
  verdict: Response['verdict'],
  facts: Response['facts'] = {},
): Exchange {
  return { operation, response: { verdict, facts } };
}

function lost(operation: Operation): Exchange {
  return { operation, response: null };
}

const created = answered(CREATE, 'created', group());
const rotation: Operation = { kind: 'rotate', token: 'first', isGraceful: false };
const rotated = answered(rotation, 'present', group({ token: 'second', version: 2 }));

/** Builds rounds on one group, with one operation each unless they are listed together. */
function ledgerAfter(...rounds: (Exchange | Exchange[])[]): Ledger {
  return Ledger.from(rounds.map((round) => ({ id: 'one', exchanges: [round].flat() })));
}

function assertBroken(...rounds: (Exchange | Exchange[])[]): void {
  ledgerAfter(...rounds.slice(0, -1));
  assert.throws(() => ledgerAfter(...rounds), PromiseBroken);
}

describe('The ledger of the rigs', () => {
  it('treats an operation whose response was lost as applied or not applied until a response decides', () => {
    assert.equal(ledgerAfter(lost(CREATE)).statesOf('one').length, 2);
    assert.deepEqual(ledgerAfter(lost(CREATE), answered(READ, 'absent')).statesOf('one'), [null]);
    const [found] = ledgerAfter(lost(CREATE), answered(READ, 'present', group())).statesOf('one');
    assert.equal(found?.token, 'first');
  });

  it('accepts concurrent operations in any order', () => {
    const again = answered(rotation, 'present', group({ token: 'second', version: 2 }));
    const renamed = answered(
      { kind: 'update', fields: { name: 'New' } },
      'present',
      group({ name: 'New', version: 2 }),
    );
    const after = answered(rotation, 'present', group({ token: 'second', name: 'New', version: 3 }));
    ledgerAfter(created, [rotated, again]);
    ledgerAfter(created, [after, renamed]);
    assertBroken(created, [rotated, renamed]);
  });

  it('detects a lost acknowledged change', () => {
    assertBroken(created, answered(READ, 'absent'));
    assertBroken(created, rotated, answered(READ, 'present', group()));
    assertBroken(created, answered({ kind: 'delete' }, 'deleted'), answered(READ, 'present', group()));
  });

  it('detects a partially applied change', () => {
    assertBroken(created, lost(rotation), answered(READ, 'present', group({ token: 'second' })));
    assertBroken(created, lost(rotation), answered(READ, 'present', group({ version: 2 })));
  });

  it('detects a change that was not requested', () => {
    assertBroken(created, answered(READ, 'present', group({ name: 'Other' })));
    assertBroken(created, answered(READ, 'present', group({ version: 2 })));
  });

  it('detects a group that is created twice', () => {
    assertBroken(created, created);
    assertBroken([created, created]);
  });

  it('detects a replaced token that still resolves, and one that expires too early', () => {
    const resolve: Operation = { kind: 'resolve', token: 'first' };
    assertBroken(created, rotated, answered(resolve, 'present', group()));
    const graceful = { ...rotated, operation: { ...rotation, isGraceful: true } as Operation };
    ledgerAfter(created, graceful, answered(resolve, 'retiring', { teamId: 1 }));
    assertBroken(created, graceful, answered(resolve, 'absent'));
  });

  it('detects a token or team_id that is reused by another group or after a deletion', () => {
    const deleted = answered({ kind: 'delete' }, 'deleted');
    assertBroken(created, deleted, created);
    assertBroken(created, deleted, answered(CREATE, 'created', group({ teamId: 2 })));
    ledgerAfter(created, deleted, answered(CREATE, 'created', group({ teamId: 2, token: 'second' })));
    const ledger = ledgerAfter(created);
    for (const facts of [group(), group({ teamId: 2 }), group({ token: 'second' })])
      assert.throws(
        () => ledger.record({ id: 'two', exchanges: [answered(CREATE, 'created', facts)] }),
        PromiseBroken,
      );
  });

  it('shows no token in its error messages', () => {
    const token = `ugt_${'x'.repeat(52)}`;
    const first = answered(CREATE, 'created', group({ token }));
    assert.throws(
      () => ledgerAfter(first, answered(READ, 'absent')),
      (error: Error) => /token-\S{6}/.test(error.message) && !error.message.includes('xxxx'),
    );
  });
});
