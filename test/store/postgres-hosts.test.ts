// Hosts of a DATABASE_URL that lists several.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { readConfig, urlsOfHosts } from '../../src/config.ts';
import { NoFreeConnection } from '../../src/store/postgres/client/errors.ts';
import { Hosts, lastPrimaryMemory } from '../../src/store/postgres/client/hosts.ts';

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

  it('can be a parameter, also after a user and password', () => {
    const url = 'postgres://u:p@/db?host=/cloudsql/project:region:instance';
    assert.deepEqual(urlsOfHosts(url), [url.replace('@/', '@localhost/')]);
    assert.deepEqual(urlsOfHosts('postgres:///db?host=/run'), ['postgres:///db?host=/run']);
    readConfig({ DATABASE_URL: url });
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

  it('are each tried once, unless another host would fail for the same reason', async () => {
    const hosts = new Hosts(['a', 'b', 'c']);
    const tried: string[] = [];
    const failWith = (error: Error) => () => {
      tried.push(hosts.url);
      return Promise.reject(error);
    };
    const refused = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    await assert.rejects(hosts.tryEach(failWith(refused)), refused);
    assert.deepEqual(tried, ['a', 'b', 'c']);
    const rejected = Object.assign(new pg.DatabaseError('rejected', 0, 'error'), { code: '28P01' });
    await assert.rejects(hosts.tryEach(failWith(rejected)), rejected);
    await assert.rejects(hosts.tryEach(failWith(new NoFreeConnection())), NoFreeConnection);
    assert.deepEqual(tried.slice(3), ['a', 'a']);
    assert.equal(hosts.url, 'a');
  });

  it('are primaries until another server of the same cluster was promoted, in all threads', () => {
    const memory = lastPrimaryMemory();
    const [hosts, ofOtherThread] = [new Hosts(['a', 'b'], 0, memory), new Hosts(['a', 'b'], 0, memory)];
    hosts.refuseOlderTimeline(1n, 7n);
    ofOtherThread.refuseOlderTimeline(1n, 7n);
    assert.equal(ofOtherThread.isFormer(1n, 7n), false);
    hosts.refuseOlderTimeline(1n, 8n);
    assert.equal(ofOtherThread.isFormer(1n, 7n), true);
    assert.throws(() => ofOtherThread.refuseOlderTimeline(1n, 7n), /former primary/);
    // The database was moved to a new cluster, whose timelines begin again.
    hosts.refuseOlderTimeline(2n, 1n);
    assert.equal(hosts.isFormer(2n, 1n), false);
    assert.equal(hosts.isFormer(1n, 0n), false);
  });
});
