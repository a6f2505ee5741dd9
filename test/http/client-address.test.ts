// The address of a client cannot be forged: X-Forwarded-For counts only as far as trusted proxies have
// written it.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { ConfigInvalid, readConfig } from '../../src/config.ts';
import { findClientAddress } from '../../src/http/request/client-address.ts';

const PROXIES = '10.0.0.0/8, 192.0.2.7, 2001:db8:1::/48';

/** Returns what the service takes for the address of a client that connects from `peer`. */
function clientOf(peer: string | undefined, forwarded?: string, proxies = PROXIES): string {
  const { trustedProxies } = readConfig({ UGS_TRUSTED_PROXIES: proxies });
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return findClientAddress({ headers, socket: { remoteAddress: peer } } as IncomingMessage, trustedProxies);
}

describe('The address of a client', () => {
  it('is that of the connection without proxies', () => {
    assert.equal(clientOf('203.0.113.9'), '203.0.113.9');
    assert.equal(clientOf('10.0.0.1'), '10.0.0.1');
    assert.equal(clientOf(undefined), '');
  });

  it('ignores X-Forwarded-For unless a trusted proxy sends it', () => {
    assert.equal(clientOf('203.0.113.9', '198.51.100.1'), '203.0.113.9');
    assert.equal(clientOf('10.0.0.1', '198.51.100.1', ''), '10.0.0.1');
    assert.equal(clientOf(undefined, '198.51.100.1'), '');
  });

  it('is what the proxy nearest to the client has seen, whatever the client has sent', () => {
    assert.equal(clientOf('10.0.0.1', '198.51.100.1'), '198.51.100.1');
    assert.equal(clientOf('10.0.0.1', '1.1.1.1, 10.9.9.9, 198.51.100.1'), '198.51.100.1');
    assert.equal(clientOf('10.0.0.1', '1.1.1.1,198.51.100.1,10.2.3.4 , 192.0.2.7'), '198.51.100.1');
    assert.equal(clientOf('2001:db8:1::5', '2001:db8:2::1'), '2001:db8:2::1');
  });

  it('is that of the last trusted proxy if the header goes no further', () => {
    for (const forwarded of ['', ',', 'unknown', '10.3.3.3x', '1.2.3', '0x7f.1', '198.51.100.1;', ' , '])
      assert.equal(clientOf('10.0.0.1', forwarded), '10.0.0.1', forwarded);
    assert.equal(clientOf('10.0.0.1', '10.2.0.1, 10.2.0.2'), '10.2.0.1');
    assert.equal(clientOf('10.0.0.1', '198.51.100.1, unknown, 10.2.0.2'), '10.2.0.2');
  });

  it('has one spelling', () => {
    assert.equal(clientOf('::ffff:203.0.113.9'), '203.0.113.9');
    assert.equal(clientOf('fe80::1%eth0'), 'fe80::1');
    assert.equal(clientOf('::ffff:10.0.0.1', '::FFFF:C633:6401'), '198.51.100.1');
    assert.equal(clientOf('10.0.0.1', '2001:DB8:0:0::0001'), '2001:db8::1');
    assert.equal(clientOf('10.0.0.1', '[2001:DB8::1]:443'), '2001:db8::1');
    assert.equal(clientOf('10.0.0.1', '[2001:DB8::1]'), '2001:db8::1');
    assert.equal(clientOf('10.0.0.1', '198.51.100.1:40000'), '198.51.100.1');
  });

  it('is found in bounded time, however many trusted addresses the header has', () => {
    assert.equal(clientOf('10.0.0.1', `10.9.9.9,${'10.1.1.1,'.repeat(1_600)}10.1.1.1`), '10.1.1.1');
    assert.equal(clientOf('10.0.0.1', `${'1.1.1.1,'.repeat(1_600)}198.51.100.1`), '198.51.100.1');
  });
});

describe('UGS_TRUSTED_PROXIES', () => {
  it('refuses anything but addresses and ranges', () => {
    for (const text of [
      'localhost',
      '10.0.0.0/33',
      '2001:db8::/129',
      '10.0.0',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      'fe80::1%eth0',
      '*',
    ])
      assert.throws(() => readConfig({ UGS_TRUSTED_PROXIES: text }), ConfigInvalid, text);
  });
});
