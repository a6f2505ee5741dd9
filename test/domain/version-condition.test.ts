// Preconditions: a list of versions, or any version, that a resource must have or must not have.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMet, isMetByTag, type Precondition, unmetCondition } from '../../src/domain/precondition.ts';
import { toVersionTag, type UserGroup, versionTag } from '../../src/domain/user-group/user-group.ts';

const group = { teamId: 7, version: 2 } as UserGroup;
const tag = versionTag(group);
const other = toVersionTag('7-1')!;

/** Names the condition that fails for the group, and the one that fails for its absence. */
const table: [Precondition, ofGroup: keyof Precondition | null, ofNone: keyof Precondition | null][] = [
  [{}, null, null],
  [{ ifMatch: '*' }, null, 'ifMatch'],
  [{ ifMatch: [tag] }, null, 'ifMatch'],
  [{ ifMatch: [other, tag] }, null, 'ifMatch'],
  [{ ifMatch: [other] }, 'ifMatch', 'ifMatch'],
  [{ ifMatch: [] }, 'ifMatch', 'ifMatch'],
  [{ ifNoneMatch: '*' }, 'ifNoneMatch', null],
  [{ ifNoneMatch: [other, tag] }, 'ifNoneMatch', null],
  [{ ifNoneMatch: [other] }, null, null],
  [{ ifMatch: [tag], ifNoneMatch: [tag] }, 'ifNoneMatch', 'ifMatch'],
  [{ ifMatch: [other], ifNoneMatch: [tag] }, 'ifMatch', 'ifMatch'],
];

describe('a precondition', () => {
  for (const [precondition, ofGroup, ofNone] of table) {
    it(`${JSON.stringify(precondition)} fails by ${ofGroup} for the group and by ${ofNone} for its absence`, () => {
      assert.equal(unmetCondition(precondition, tag), ofGroup);
      assert.equal(unmetCondition(precondition, null), ofNone);
      assert.equal(isMet(precondition, group), ofGroup === null);
      assert.equal(isMet(precondition, null), ofNone === null);
      assert.equal(isMetByTag(precondition, tag), ofGroup === null);
      assert.equal(isMetByTag(precondition, null), ofNone === null);
    });
  }

  it('that is absent is met', () => {
    for (const resource of [group, null]) assert.equal(isMet(undefined, resource), true);
    for (const version of [tag, null]) assert.equal(isMetByTag(undefined, version), true);
  });
});

describe('a version tag', () => {
  it('is the team id and the version', () => {
    assert.equal(tag, '7-2');
    for (const text of ['7-2', '10-2000', '1-1']) assert.equal(toVersionTag(text), text);
  });

  it('is no other text', () => {
    for (const text of [
      '',
      '7',
      '7-',
      '-2',
      '07-2',
      '7-02',
      '0-1',
      '1-0',
      '7-2-3',
      ' 7-2',
      '7-2,',
      'a-1',
      '1-a',
    ])
      assert.equal(toVersionTag(text), null, text);
  });
});
