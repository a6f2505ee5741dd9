// The conditions of row-level security rules.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClauseColumn, isReserved, sqlClause } from '../../src/domain/embed-token/sql-clause.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { Problem } from '../../src/problem.ts';

const text: ClauseColumn = { column: 'customer', type: 'text', escapes: 'standard' };

function clause(value: unknown, column: Partial<ClauseColumn> = {}): string {
  return sqlClause({ ...text, ...column }, JSON.stringify(value) as JsonText, []);
}

describe('The condition of a row-level security rule', () => {
  it('quotes text', () => {
    assert.equal(clause('EMEA'), "customer = 'EMEA'");
    assert.equal(clause("O'Brien"), "customer = 'O''Brien'");
    assert.equal(clause("' or 1 = 1 --"), "customer = ''' or 1 = 1 --'");
    assert.equal(clause('a:b %s $1 ?'), "customer = 'a:b %s $1 ?'");
  });

  it('writes a number for a text column as text: MySQL compares them by their first digits', () => {
    assert.equal(clause(213), "customer = '213'");
    assert.equal(sqlClause(text, '1.10' as JsonText, []), "customer = '1.10'");
  });

  it('writes a number for a number column, with its digits', () => {
    assert.equal(
      sqlClause({ ...text, type: 'number' }, '9007199254740993' as JsonText, []),
      'customer = 9007199254740993',
    );
    assert.equal(clause('-213', { type: 'number' }), 'customer = -213');
    assert.equal(clause('1.25', { type: 'number' }), 'customer = 1.25');
    for (const value of ['213 or 1 = 1', '1e3', '0x10', '', '--1', '1;', 'NaN', '١']) {
      assert.throws(() => clause(value, { type: 'number' }), Problem, value);
    }
  });

  it('refuses a number that a database reads as a double, and so as another integer', () => {
    for (const value of ['7.00000000000000000001', '0.99999999999999999999', '9007199254740993.0'])
      assert.throws(() => clause(value, { type: 'number' }), /round to an integer/, value);
    for (const value of ['7.0', '7.50', '0.33333333333333333333', '12345678901234567890'])
      assert.equal(clause(value, { type: 'number' }), `customer = ${value}`);
  });

  it('writes a quote or a backslash only for a database that is known: Spark reads a doubled quote as none', () => {
    assert.equal(clause("a\\'b"), "customer = 'a\\''b'");
    assert.equal(clause("a\\'b", { escapes: 'backslash' }), "customer = 'a\\\\\\'b'");
    for (const value of ['a\\b', "a'b"])
      assert.throws(() => clause(value, { escapes: null }), /string_escapes/);
    assert.equal(clause('a"b', { escapes: null }), "customer = 'a\"b'");
  });

  it('refuses what Superset would evaluate as a template, what Spark replaces, and control characters', () => {
    for (const value of [
      '{{ current_user_id() }}',
      '{% raw %}',
      '{# a #}',
      'acme${',
      'a\nb',
      '\0',
      '\u0085',
      '\u007f',
    ]) {
      assert.throws(() => clause(value), Problem, value);
    }
    assert.equal(clause('{ } }} %} #} $ $1'), "customer = '{ } }} %} #} $ $1'");
  });

  it('refuses a space at the start or the end, which databases ignore in a comparison', () => {
    for (const escapes of ['standard', 'backslash', null] as const)
      for (const value of ['acme ', ' acme', ' ', 'acme\u00a0', '\u3000acme', '\ufeffacme'])
        assert.throws(() => clause(value, { escapes }), /start or end with a space/, JSON.stringify(value));
    assert.equal(clause('Acme  Ltd.'), "customer = 'Acme  Ltd.'");
  });

  it('selects the rows of each element of a list, and of none that cannot be quoted', () => {
    assert.equal(clause(['EMEA']), "customer IN ('EMEA')");
    assert.equal(clause(["O'Brien", 7, "') or (1 = 1"]), "customer IN ('O''Brien', '7', ''') or (1 = 1')");
    assert.equal(
      sqlClause({ ...text, type: 'number' }, '[1,"2",9007199254740993]' as JsonText, []),
      'customer IN (1, 2, 9007199254740993)',
    );
    for (const value of [[], ['a', null], ['a', ['b']], [{}], ['a', '{{ x }}'], ['a ', 'b'], [true]])
      assert.throws(() => clause(value), Problem, JSON.stringify(value));
    assert.throws(() => clause([1, '2 or 1 = 1'], { type: 'number' }), Problem);
    assert.throws(() => clause(['a', 'b\\c'], { escapes: null }), /string_escapes/);
  });

  it('refuses every other type', () => {
    for (const value of [true, null, {}]) assert.throws(() => clause(value), Problem);
  });

  it('refuses reserved words in either part of a name', () => {
    for (const name of ['user', 'USER', 'True', 't.null', 'select.a'])
      assert.equal(isReserved(name), true, name);
    for (const name of ['customer', 'users', 'user_id', 'region', 'name', 'value'])
      assert.equal(isReserved(name), false);
  });
});
