// URLs of webhook endpoints, without a service. For their addresses, see
// test/webhook-endpoint/webhook-address.test.ts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isPublicAddress,
  isPublicHost,
  urlViolation,
} from '../../src/domain/webhook-endpoint/webhook-address.ts';

describe('the URL of a webhook', () => {
  it('is one of http or https', () => {
    for (const url of [
      'https://example.com',
      'http://example.com/a?b=c',
      'HTTPS://example.com/ä',
      'http://[2606:4700::1111]/',
    ])
      assert.equal(urlViolation(url, false), null, url);
    for (const url of ['', 'example.com', 'ftp://example.com', 'xhttp://example.com', 'httpx://example.com'])
      assert.match(urlViolation(url, true)!, /http URL/, url);
  });

  it('has no white space or control character', () => {
    for (const character of ['\0', '\t', '\n', ' ', '\u007f', '\u0080', '\u009f', '\u00a0'])
      for (const url of [`https://example.com/${character}`, `${character}https://example.com/`])
        assert.match(urlViolation(url, true)!, /http URL/, JSON.stringify(url));
    for (const character of ['!', '~', '¡', '\u{10ffff}'])
      assert.equal(urlViolation(`https://example.com/${character}`, false), null);
  });

  it('has no user name, password or fragment', () => {
    for (const url of ['https://u@example.com', 'https://:p@example.com', 'https://u:p@example.com'])
      assert.match(urlViolation(url, true)!, /user name or password/, url);
    for (const url of ['https://example.com/#', 'https://example.com/#a'])
      assert.match(urlViolation(url, true)!, /fragment/);
  });

  it('has a port of HTTP, or one that is not reserved', () => {
    for (const port of [80, 443, 1_024, 8_080, 65_535]) {
      assert.equal(urlViolation(`http://example.com:${port}/`, false), null);
      assert.equal(urlViolation(`https://example.com:${port}/`, false), null);
    }
    for (const port of [0, 22, 25, 79, 81, 442, 444, 1_023])
      assert.match(urlViolation(`https://example.com:${port}/`, true)!, /must have port/, String(port));
  });

  it('has a public address, unless private ones are allowed', () => {
    for (const host of ['127.0.0.1', '[::1]', 'localhost', 'a.localhost', 'LOCALHOST.', '168.63.129.16']) {
      assert.match(urlViolation(`https://${host}/`, false)!, /public address/, host);
      assert.equal(urlViolation(`https://${host}/`, true), null, host);
    }
  });
});

describe('a host', () => {
  it('is public if it is a name other than those of this machine', () => {
    for (const name of [
      'example.com',
      'localhost.com',
      'xlocalhost',
      'localhostx',
      'local.host',
      '[a]',
      'fe80',
    ])
      assert.equal(isPublicHost(name), true, name);
    for (const name of ['localhost', 'localhost.', 'a.localhost', 'a.b.LocalHost.'])
      assert.equal(isPublicHost(name), false);
  });

  it('is public if it is a public address', () => {
    for (const address of ['8.8.8.8', '[2606:4700::1111]']) assert.equal(isPublicHost(address), true);
    for (const address of ['10.0.0.1', '[::1]', '[fe80::1]']) assert.equal(isPublicHost(address), false);
  });
});

describe('an address', () => {
  it('is public in the unicast space of IPv4 and the allocated one of IPv6', () => {
    for (const address of ['8.8.8.8', '168.63.129.17', '2000::1', '2606:4700::1111', '3ffe::1'])
      assert.equal(isPublicAddress(address), true, address);
    for (const address of [
      '10.0.0.1',
      '::1',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
      '2002:808:808::1',
      '4000::1',
      '1fff::1',
      'x',
      '',
    ])
      assert.equal(isPublicAddress(address), false, address);
  });
});
