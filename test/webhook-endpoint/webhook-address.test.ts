// Webhooks reach only public addresses, unless the operator allows others. The URL is checked, and so is the
// address that is connected to.

import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import https from 'node:https';
import { createServer } from 'node:net';
import { before, describe, it } from 'node:test';
import ipaddr from 'ipaddr.js';
import { isPublicAddress, urlViolation } from '../../src/domain/webhook-endpoint/webhook-address.ts';
import { NoPublicAddress, publicLookup } from '../../src/webhooks/public-lookup.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { words } from '../support/bad-input/value.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';
import { emptyWebhook } from '../support/webhooks/empty-webhook.ts';
import { Receiver } from '../support/webhooks/receiver.ts';

const PRIVATE_HOSTS = [
  ...words('127.0.0.1 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. %31%32%37.0.0.1'),
  ...words('①②⑦.⓪.⓪.① 127。0。0。1 0 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1'),
  ...words('169.254.169.254 100.64.0.1 100.127.0.1 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1'),
  ...words('203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 [::] [::1] [0:0:0:0:0:0:0:1]'),
  ...words('[::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [::ffff:8.8.8.8]'),
  ...words('[64:ff9b::7f00:1] [64:ff9b:1::1] [100::1] [2001::1] [2001:db8::1] [2002:7f00:1::] [fc00::1]'),
  ...words('[fd12:3456::1] [fe80::1] [fec0::1] [ff02::1] [3fff::1] [5f00::1] localhost LocalHost localhost.'),
  ...words('db.localhost db.localhost.'),
];

/** IANA's registries of special-purpose addresses, without those that are globally reachable services. */
const SPECIAL_RANGES = [
  ...words('0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24'),
  ...words('192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24'),
  ...words('198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/128 ::1/128'),
  ...words('::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32'),
  ...words('2001:1::1/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28'),
  ...words('2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 ff00::/8'),
];

/** Metadata services of AWS, Azure, Google Cloud, Oracle, Alibaba, Tencent, Scaleway and Akamai. */
const CLOUD_SERVICES = [
  ...words('169.254.169.254 168.63.129.16 169.254.169.123 169.254.170.2 192.0.0.192 100.100.100.200'),
  ...words('169.254.0.23 169.254.42.42 fd00:ec2::254 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42'),
  ...words('fd00:a9fe:a9fe::1'),
];

const NO_PUBLIC_ADDRESS = 'the receiver has no public address';

const PUBLIC_HOSTS = [
  'example.com',
  '8.8.8.8',
  '[2606:4700::1111]',
  'localhost.example.com',
  'xn--bcher-kva.example',
];

describe('The URL of a webhook endpoint', () => {
  const service = TestService.of(sqlite);
  let token: string;
  before(async () => {
    token = (await service.apiToken({ permission: 'admin' })).token;
  });

  const put = (url: string) =>
    service.call('PUT', '/v1/webhook-endpoints/a', { url, event_types: ['*'] }, { token });

  it('must not have an address that is not public, in any form', async () => {
    const explained = /must have a public address.*UGS_WEBHOOK_ALLOW_PRIVATE/;
    for (const host of PRIVATE_HOSTS) {
      for (const url of [`https://${host}/`, `http://${host}:8080/path`])
        assert.match(urlViolation(url, false)!, explained, url);
      assert.equal(urlViolation(`https://${host}/`, true), null, host);
    }
    for (const host of PUBLIC_HOSTS) assert.equal(urlViolation(`https://${host}/`, false), null, host);
    const response = await put('https://127.0.0.1/');
    assertProblem(response, 'invalid_request');
    assert.equal(response.json.errors[0].pointer, '/url');
    assert.match(response.json.detail, explained);
  });

  it('must be valid and have at most 2,048 characters, and is returned as it was sent', async () => {
    const wrong = ['file:///etc/passwd', 'https://', 'https://[fe80::1%25eth0]/', 'https://1.2.3.256/'];
    for (const url of [
      ...wrong,
      'https://user:password@example.com/',
      `https://example.com/${'a'.repeat(2_048)}`,
    ]) {
      const response = await put(url);
      assert.equal(response.status, 400, url);
      assert.equal(response.json.errors[0].pointer, '/url');
      assert.ok(!response.text.includes('password@'));
    }
    for (const url of ['http://example.com', 'https://example.com:8443/a?b=c', 'http://example.com:443/ä'])
      assert.equal((await put(url)).json.webhook_endpoint.url, url);
  });
});

describe('An address is not public', () => {
  it('if it is in a registry of special-purpose addresses, from the first to the last of each range', () => {
    for (const range of SPECIAL_RANGES) {
      for (const address of [range.split('/')[0]!, lastOf(range)])
        assert.equal(isPublicAddress(address), false, `${address} of ${range}`);
    }
  });

  it('if it is the metadata service of a cloud', () => {
    for (const address of CLOUD_SERVICES) assert.equal(isPublicAddress(address), false, address);
    assert.match(urlViolation('http://168.63.129.16/metadata', false)!, /must have a public address/);
  });
});

function lastOf(range: string): string {
  const [address, bits] = ipaddr.parseCIDR(range);
  const bytes = address.toByteArray();
  const last = bytes.map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - 8 * index))));
  return ipaddr.fromByteArray(last).toString();
}

describe('A name', () => {
  const lookUp = (found: LookupAddress[], all: boolean): Promise<string[]> =>
    new Promise((resolve, reject) => {
      publicLookup(async () => found)('name.example', { all }, (error, addresses) => {
        if (error) reject(error);
        else resolve([addresses].flat().map((each) => (typeof each === 'string' ? each : each.address)));
      });
    });

  it('is connected to only at those of its addresses that are public', async () => {
    const mixed = [
      { address: '127.0.0.1', family: 4 },
      { address: '8.8.8.8', family: 4 },
      { address: '::ffff:10.0.0.1', family: 6 },
      { address: '2001:4860:4860::8888', family: 6 },
    ];
    assert.deepEqual(await lookUp(mixed, true), ['8.8.8.8', '2001:4860:4860::8888']);
    assert.deepEqual(await lookUp(mixed, false), ['8.8.8.8']);
    await assert.rejects(lookUp([{ address: '10.0.0.1', family: 4 }], true), NoPublicAddress);
    await assert.rejects(lookUp([], true), NoPublicAddress);
    for (const address of ['fe80::1%eth0', 'not an address', ''])
      assert.equal(isPublicAddress(address), false, address);
  });

  it('fails alike if it does not resolve and if it resolves to an address that is not public', async () => {
    const answers: Record<string, () => Promise<LookupAddress[]>> = {
      'private.example': async () => [{ address: '10.0.0.1', family: 4 }],
      'none.example': async () => [],
    };
    for (const code of ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ETIMEOUT', 'ECONNREFUSED'])
      answers[`${code.toLowerCase()}.example`] = () =>
        Promise.reject(Object.assign(new Error(code), { code }));
    const resolve = (name: string) => answers[name]!();
    const sender = new WebhookSender({ allowsPrivate: false, resolve });
    for (const name of Object.keys(answers)) {
      const outcome = await sender.send(emptyWebhook(`http://${name}/`));
      assert.deepEqual(outcome, { status: null, error: NO_PUBLIC_ADDRESS }, name);
    }
    sender.close();
  });

  it('is not connected to if it resolves to a private address at that moment', async () => {
    await using receiver = await Receiver.start();
    const answers = ['8.8.8.8', '127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254'];
    const resolve = async (): Promise<LookupAddress[]> => {
      const address = answers.shift()!;
      return [{ address, family: address.includes(':') ? 6 : 4 }];
    };
    const sender = new WebhookSender({ allowsPrivate: false, resolve });
    // Discards the first answer, which a check of the URL would accept if it resolved names.
    await resolve();
    const url = `http://rebinding.example:${receiver.port}/`;
    while (answers.length > 0) {
      const outcome = await sender.send(emptyWebhook(url));
      assert.deepEqual(outcome, { status: null, error: NO_PUBLIC_ADDRESS });
    }
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost']) {
      const literal = `http://${host}:${receiver.port}/`;
      const outcome = await sender.send(emptyWebhook(literal));
      assert.deepEqual(outcome, { status: null, error: NO_PUBLIC_ADDRESS }, host);
    }
    assert.equal(receiver.connections, 0);
    sender.close();
  });

  it('is resolved by the system if private addresses are allowed', async () => {
    await using receiver = await Receiver.start();
    const sender = new WebhookSender({ allowsPrivate: true });
    const url = `http://localhost:${receiver.port}/`;
    const outcome = await sender.send(emptyWebhook(url));
    assert.deepEqual(outcome, { status: 200, error: null });
    sender.close();
  });

  it('has no trailing dot in TLS', async (t) => {
    const hello = Promise.withResolvers<string>();
    const tcp = createServer((socket) =>
      socket.once('data', (bytes) => {
        hello.resolve(bytes.toString('latin1'));
        socket.destroy();
      }),
    );
    await using server = await LoopbackServer.listen(tcp);
    const { request } = https;
    const lookup = async (_: string, __: object, found: (error: null, addresses: LookupAddress[]) => void) =>
      found(null, [{ address: '127.0.0.1', family: 4 }]);
    t.mock.method(https, 'request', (url: string, options: object) => request(url, { ...options, lookup }));
    const sender = new WebhookSender({ allowsPrivate: true });
    await sender.send(emptyWebhook(`https://receiver.example.:${server.port}/`));
    // The length of the name and the name.
    assert.ok((await hello.promise).includes('\0\x10receiver.example'));
    sender.close();
  });

  it('that resolves too slowly, and a receiver that hangs, end the attempt in time', async () => {
    await using receiver = await Receiver.start(() => {});
    const resolve = () => new Promise<LookupAddress[]>(() => {});
    const sender = new WebhookSender({ allowsPrivate: false, resolve, timeoutMs: 50 });
    const slow = await sender.send(emptyWebhook('http://slow.example/'));
    assert.deepEqual(slow, { status: null, error: 'timed out after 0.05 seconds' });
    const patient = new WebhookSender({ allowsPrivate: true, timeoutMs: 50 });
    const hanging = await patient.send(emptyWebhook(receiver.url));
    assert.deepEqual(hanging, { status: null, error: 'timed out after 0.05 seconds' });
    patient.close();
    sender.close();
  });
});
