// Suggestions for unknown names, and names that are too long to quote.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { similarName, suggest, suggestField } from '../../src/domain/suggest.ts';
import { truncate } from '../../src/domain/truncate.ts';

const known = ['name', 'mapping', 'properties'];

describe('a suggestion', () => {
  it('is the known name with at most three typing errors', () => {
    assert.equal(suggest('mappings', known), ' (did you mean mapping?)');
    assert.equal(suggest('propXXXies', known), ' (did you mean properties?)');
  });

  it('is a known name that starts with it, such as one with a unit', () => {
    const limits = ['permission', 'expires_in_seconds'];
    assert.equal(suggest('expires_in', limits), ' (did you mean expires_in_seconds?)');
    assert.match(suggest('', limits), /^ \(the most similar is permission;/);
  });

  it('lists the known names if none is so similar', () => {
    const list = 'known are name, mapping, properties)';
    assert.equal(suggest('proXXXXies', known), ` (the most similar is properties; ${list}`);
    assert.match(suggest('mapping'.padEnd(100_000, 'x'), known), /^ \(the most similar is /);
  });

  it('is the name in requests of the id that responses call provided_id', () => {
    assert.equal(suggestField('provided_id', ['user_group_id', ...known]), ' (did you mean user_group_id?)');
    assert.match(suggestField('provided_id', known), /^ \(the most similar is properties;/);
  });

  it('says what determines the environment', () => {
    for (const field of ['environment', 'api_environment_tag']) {
      assert.equal(suggestField(field, known), ': the API token determines the environment');
      assert.equal(suggestField(field, known, 'the key'), ': the key determines the environment');
    }
    assert.equal(suggestField('nam', known), ' (did you mean name?)');
  });
});

describe('a similar name', () => {
  it('has at most three typing errors, regardless of case', () => {
    assert.equal(similarName('MAPING', known), 'mapping');
    assert.equal(similarName('propXXXies', known), 'properties');
    assert.equal(similarName('proXXXXies', known), null);
  });

  it('is the one with the fewest typing errors, and the first of several', () => {
    assert.equal(similarName('ab', ['abcd', 'abc', 'abd']), 'abc');
    assert.equal(similarName('abcde', ['abcxx', 'abcdx', 'abcde']), 'abcde');
  });

  it('shares at least one character', () => {
    assert.equal(similarName('a', ['b', 'ab']), null);
    assert.equal(similarName('a', ['A']), 'A');
    assert.equal(similarName('ab', ['cd']), null);
    assert.equal(similarName('😀', ['ab']), null);
    assert.equal(similarName('', ['a']), null);
  });
});

describe('a truncated text', () => {
  it('has at most 300 characters, and says that it was cut off', () => {
    const text = '😀\n'.repeat(150);
    assert.equal(truncate(text), text);
    assert.equal(truncate(`${text}x`), `${text}… (cut off)`);
    assert.equal(truncate(''), '');
  });

  it('has no part of a token', () => {
    const token = `ugt_${'0'.repeat(52)}`;
    const cut = truncate(`${' '.repeat(290)}${token}`);
    assert.equal(cut, `${' '.repeat(290)}[redacted]… (cut off)`);
  });
});
