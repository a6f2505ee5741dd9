import type { Mutant } from '../mutant.ts';

const address = 'src/domain/webhook-endpoint/webhook-address.ts';
const delivery = 'src/operations/webhook-endpoint/delivery.ts';
const document = 'src/operations/document/document.ts';
const endpoint = 'src/operations/webhook-endpoint/webhook-endpoint.ts';
const exchange = 'src/webhooks/exchange.ts';
const lane = 'src/webhooks/lane.ts';
const lookup = 'src/webhooks/public-lookup.ts';
const postgres = 'src/store/postgres/webhook-endpoint/delivery.ts';
const sender = 'src/webhooks/sender.ts';
const slots = 'src/webhooks/slots.ts';
const signature = 'src/domain/webhook-endpoint/webhook-signature.ts';

export const webhooks: readonly Mutant[] = [
  {
    name: 'addresses that a name resolves to are not checked',
    file: lookup,
    find: 'found.filter(({ address }) => isPublicAddress(address))',
    replace: 'found',
    tests: ['test/webhook-endpoint/webhook-address.test.ts'],
  },
  {
    name: 'literal addresses are not checked when connecting',
    file: sender,
    find: 'if (!this.#allowsPrivate && !isPublicHost(target.hostname))',
    replace: 'if (false)',
    tests: ['test/webhook-endpoint/webhook-address.test.ts'],
  },
  {
    name: 'names of this machine are public',
    file: address,
    find: String.raw`return !/(?:^|\.)localhost\.?$/i.test(hostname);`,
    replace: 'return true;',
    tests: ['test/webhook-endpoint/webhook-address.test.ts'],
  },
  {
    name: 'the URL of an endpoint is not checked',
    file: endpoint,
    find: 'if (fault !== null) throw',
    replace: 'if (fault === undefined) throw',
    tests: ['test/webhook-endpoint/webhook-address.test.ts'],
  },
  {
    name: 'the replaced secret does not sign',
    file: signature,
    find: 'secrets.previousExpiresAt > now;',
    replace: 'secrets.previousExpiresAt < now;',
    tests: ['test/webhook-endpoint/delivery.test.ts'],
  },
  {
    name: 'a success does not end the failures of an endpoint',
    file: lane,
    find: 'await recordHealth(context, this.#of, null);',
    replace: '',
    tests: ['test/webhook-endpoint/delivery.test.ts'],
  },
  {
    name: 'an endpoint that fails for five days stays enabled',
    file: lane,
    find: 'if (!isGone(outcome) && !hasFailedTooLong(this.#failingSince, now)) return;',
    replace: 'if (!isGone(outcome)) return;',
    tests: ['test/webhook-endpoint/delivery.test.ts'],
  },
  {
    name: 'deliveries are claimed without an expiry in the future',
    file: delivery,
    find: 'until: now + CLAIM_MS',
    replace: 'until: now',
    tests: ['test/webhook-endpoint/delivery.test.ts', 'test/process/webhook-processes.test.ts'],
  },
  {
    name: 'two processes claim the same deliveries (PostgreSQL)',
    file: postgres,
    find: 'where ${OF_SENT} and stored.next_attempt_at = sent.next_attempt_at',
    replace: 'where ${OF_SENT}',
    tests: ['test/process/webhook-processes.test.ts'],
  },
  {
    name: 'a failing receiver keeps its concurrency',
    file: lane,
    find: 'this.#concurrency = Math.max(1, this.#concurrency >> 1);',
    replace: '',
    tests: ['test/webhook-endpoint/delivery.test.ts'],
    equivalent:
      'a claim sets the concurrency of a failing endpoint to 1; halving only acts earlier, which takes no test seconds to see',
  },
  {
    name: 'a replaced document gets the secret of a new one',
    file: document,
    find: '...(replacesSecret && { secret })',
    replace: 'secret',
    tests: ['test/webhook-endpoint/webhook-endpoint.test.ts', 'test/webhook-endpoint/delivery.test.ts'],
  },
  {
    name: 'a receiver that switches protocols is waited for',
    file: exchange,
    find: 'resolve(response.statusCode!);\n  });',
    replace: '});',
    tests: ['test/webhook-endpoint/abnormal-receiver.test.ts'],
  },
  {
    name: 'an attempt that times out waits for an event of its connection',
    file: exchange,
    find: 'reject(signal.reason);',
    replace: '',
    tests: ['test/webhook-endpoint/abnormal-receiver.test.ts'],
  },
  {
    name: 'a workspace takes all slots',
    file: slots,
    find: 'const taken = this.#share.grant(workspaceId, waiting[0]!.wanted);',
    replace: 'const taken = this.#share.grant(0, waiting[0]!.wanted);',
    tests: ['test/webhook-endpoint/webhook-slots.test.ts'],
  },
  {
    name: 'a workspace that waits is served until nothing of it waits',
    file: slots,
    find: 'this.#waiting.delete(workspaceId);',
    replace: '',
    tests: ['test/webhook-endpoint/webhook-slots.test.ts'],
  },
  {
    name: 'an endpoint that has just begun to fail is logged as failing for long',
    file: 'src/webhooks/endpoint-log.ts',
    find: 'if (now - failingSince < HOUR_MS) return;',
    replace: '',
    tests: ['test/webhook-endpoint/delivery.test.ts'],
  },
  {
    name: 'the first retry waits for a poll',
    file: 'src/webhooks/dispatcher.ts',
    find: 'onRetry: (at) => this.#retries.add(of, at, context.clock()),',
    replace: 'onRetry: () => {},',
    tests: ['test/load/webhook-retry.test.ts'],
  },
];
