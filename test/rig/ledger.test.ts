// The rigs find what they look for: a ledger that lets a lie pass would prove nothing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ledger, PromiseBroken } from '../../rig/ledger.ts';
import type { Answer, Group, Operation, Told } from '../../rig/model.ts';

const FIELDS = { name: 'Acme', mapping: null, properties: null };
const CREATE: Operation = { kind: 'create', ...FIELDS };
const READ: Operation = { kind: 'read' };

/** What the service says of a group at its first version. */
function group(facts: Partial<Group> = {}): Answer['facts'] {
  return { teamId: 1, token: 'first', version: 1, ...FIELDS, ...facts };
}

function told(operation: Operation, verdict: Answer['verdict'], facts: Answer['facts'] = {}): Told {
  return { operation, answer: { verdict, facts } };
}

function lost(operation: Operation): Told {
  return { operation, answer: null };
}

const created = told(CREATE, 'created', group());
const rotation: Operation = { kind: 'rotate', token: 'first', isGraceful: false };
const rotated = told(rotation, 'present', group({ token: 'second', version: 2 }));

/** Rounds on one group, one operation each unless they are listed together. */
function ledgerAfter(...rounds: (Told | Told[])[]): Ledger {
  return Ledger.from(rounds.map((round) => ({ id: 'one', told: [round].flat() })));
}

function assertBroken(...rounds: (Told | Told[])[]): void {
  ledgerAfter(...rounds.slice(0, -1));
  assert.throws(() => ledgerAfter(...rounds), PromiseBroken);
}

describe('The ledger of the rigs', () => {
  it('takes an operation whose answer was lost as done or not done, until an answer tells', () => {
    assert.equal(ledgerAfter(lost(CREATE)).statesOf('one').length, 2);
    assert.deepEqual(ledgerAfter(lost(CREATE), told(READ, 'absent')).statesOf('one'), [null]);
    const [found] = ledgerAfter(lost(CREATE), told(READ, 'present', group())).statesOf('one');
    assert.equal(found?.token, 'first');
  });

  it('takes operations that were under way at one time in any order', () => {
    const again = told(rotation, 'present', group({ token: 'second', version: 2 }));
    const renamed = told(
      { kind: 'update', fields: { name: 'New' } },
      'present',
      group({ name: 'New', version: 2 }),
    );
    const after = told(rotation, 'present', group({ token: 'second', name: 'New', version: 3 }));
    ledgerAfter(created, [rotated, again]);
    ledgerAfter(created, [after, renamed]);
    assertBroken(created, [rotated, renamed]);
  });

  it('finds an acknowledged change that is gone', () => {
    assertBroken(created, told(READ, 'absent'));
    assertBroken(created, rotated, told(READ, 'present', group()));
    assertBroken(created, told({ kind: 'delete' }, 'deleted'), told(READ, 'present', group()));
  });

  it('finds half a change', () => {
    assertBroken(created, lost(rotation), told(READ, 'present', group({ token: 'second' })));
    assertBroken(created, lost(rotation), told(READ, 'present', group({ version: 2 })));
  });

  it('finds a change that nobody asked for', () => {
    assertBroken(created, told(READ, 'present', group({ name: 'Other' })));
    assertBroken(created, told(READ, 'present', group({ version: 2 })));
  });

  it('finds a group that is created twice', () => {
    assertBroken(created, created);
    assertBroken([created, created]);
  });

  it('finds a replaced token that goes on resolving, and one that ends before its time', () => {
    const resolve: Operation = { kind: 'resolve', token: 'first' };
    assertBroken(created, rotated, told(resolve, 'present', group()));
    const graceful = { ...rotated, operation: { ...rotation, isGraceful: true } as Operation };
    ledgerAfter(created, graceful, told(resolve, 'retiring', { teamId: 1 }));
    assertBroken(created, graceful, told(resolve, 'absent'));
  });

  it('finds a token or a team_id that comes back in another group or life', () => {
    const deleted = told({ kind: 'delete' }, 'deleted');
    assertBroken(created, deleted, created);
    assertBroken(created, deleted, told(CREATE, 'created', group({ teamId: 2 })));
    ledgerAfter(created, deleted, told(CREATE, 'created', group({ teamId: 2, token: 'second' })));
    const ledger = ledgerAfter(created);
    for (const facts of [group(), group({ teamId: 2 }), group({ token: 'second' })])
      assert.throws(
        () => ledger.record({ id: 'two', told: [told(CREATE, 'created', facts)] }),
        PromiseBroken,
      );
  });

  it('shows no token in what it finds', () => {
    const token = `ugt_${'x'.repeat(52)}`;
    const first = told(CREATE, 'created', group({ token }));
    assert.throws(
      () => ledgerAfter(first, told(READ, 'absent')),
      (error: Error) => /token-\S{6}/.test(error.message) && !error.message.includes('xxxx'),
    );
  });
});
