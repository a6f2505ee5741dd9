// Hosts of a DATABASE_URL that lists several.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { urlsOfHosts } from '../../src/config.ts';
import { Hosts } from '../../src/store/postgres/client/hosts.ts';

describe('The hosts of a DATABASE_URL', () => {
  it('become one URL each, with the same user, password, database and parameters', () => {
    assert.deepEqual(urlsOfHosts('postgres://u:p@a:5432,b:5433,c/db?sslmode=require'), [
      'postgres://u:p@a:5432/db?sslmode=require',
      'postgres://u:p@b:5433/db?sslmode=require',
      'postgres://u:p@c/db?sslmode=require',
    ]);
    assert.deepEqual(urlsOfHosts('postgresql://[::1]:5432,[2001:db8::1]/db'), [
      'postgresql://[::1]:5432/db',
      'postgresql://[2001:db8::1]/db',
    ]);
  });

  it('end before commas elsewhere, and begin after the password', () => {
    for (const url of [
      'postgres://u:p,q@a/db',
      'postgres://a/db?options=-c%20x=1,2',
      'postgres:///db',
      'postgres://u:p@q@a/d,b',
    ])
      assert.deepEqual(urlsOfHosts(url), [url]);
    assert.deepEqual(urlsOfHosts('postgres://u:p,q@a,b'), ['postgres://u:p,q@a', 'postgres://u:p,q@b']);
  });

  it('are used in turn from the one that was the primary last', () => {
    const hosts = new Hosts(['a', 'b', 'c']);
    assert.equal(hosts.url, 'a');
    hosts.skip('a');
    // A second connection has failed at the same host.
    hosts.skip('a');
    assert.equal(hosts.url, 'b');
    hosts.skip('b');
    hosts.skip('c');
    assert.equal(hosts.url, 'a');
  });
});
