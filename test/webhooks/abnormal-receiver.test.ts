// Receivers that violate HTTP: every attempt ends in time, with an outcome that says why.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Outcome } from '../../src/operations/webhook-endpoint/delivery.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { WebhookDispatcher } from '../../src/webhooks/dispatcher.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { mapConcurrently } from '../support/http.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import {
  type AbnormalFormName,
  abnormalForms,
  startAbnormalReceivers,
} from '../support/webhooks/abnormal-receiver.ts';
import { emptyWebhook } from '../support/webhooks/empty-webhook.ts';
import { Receiver } from '../support/webhooks/receiver.ts';
import { env, Tenant } from '../support/webhooks/tenant.ts';

const TIMEOUT_MS = 5_000;
/** Timeout of attempts that end earlier: longer than they take on a busy machine. */
const LONG_TIMEOUT_MS = 60_000;
/** Time until a timer fires on a busy machine. */
const LATE_MS = 10_000;
/** Shorter than the attempts that time out. */
const PROMPT_MS = 4_000;

const BODY_BYTES = 2;

const timedOut = { status: null, error: `timed out after ${TIMEOUT_MS / 1_000} seconds` };
const unanswered = { status: null, error: 'the receiver closed the connection without a response' };
const tooLong = { status: null, error: 'the receiver sent more than 64 KiB without a response' };
const longHeaders = { status: null, error: 'the headers of the response are too long' };
const returned = (status: number) => ({ status, error: `the receiver returned ${status}` });
const invalid = (code: string) => ({ status: null, error: `the response is not valid HTTP: ${code}` });
const accepted = { status: 200, error: null };

/**
 * Outcomes that are failures. The other forms accept the webhook: they send a valid status, whatever follows
 * it.
 */
const failures: Partial<Record<AbnormalFormName, Outcome>> = {
  '101 without a protocol': returned(101),
  '101 to h2c': returned(101),
  '101 to websocket': returned(101),
  '101 and closed': returned(101),
  '100 without a response': timedOut,
  'endless 100': tooLong,
  'endless 102': tooLong,
  'endless 103': tooLong,
  'slow endless 103': timedOut,
  'half-closed before the status line': unanswered,
  'half-closed in the status line': unanswered,
  'half-closed after the status line': unanswered,
  'half-closed on accepting': unanswered,
  'closed on accepting': unanswered,
  'no response': timedOut,
  'nothing read': timedOut,
  'endless headers': longHeaders,
  'slow endless headers': timedOut,
  'an endless header': longHeaders,
  'headers without an end': timedOut,
  'a slow endless body': timedOut,
  'endless empty lines': tooLong,
  garbage: invalid('HPE_INVALID_CONSTANT'),
  'endless garbage': invalid('HPE_INVALID_CONSTANT'),
  'HTTP/2': invalid('HPE_INVALID_CONSTANT'),
  'a refusal before the request': returned(413),
  'a body that never arrives': timedOut,
  'a negative length': invalid('HPE_INVALID_CONTENT_LENGTH'),
  'two lengths': invalid('HPE_UNEXPECTED_CONTENT_LENGTH'),
  'chunks without an end': timedOut,
  '204 with a body': { status: 204, error: null },
  'a status of two digits': invalid('HPE_INVALID_STATUS'),
  'status 999': returned(999),
  'a TLS handshake without an end': timedOut,
  'plain HTTP instead of TLS': { status: null, error: 'the TLS handshake failed' },
  'a reset in the TLS handshake': unanswered,
};

function expected(form: AbnormalFormName): Outcome {
  const reset = /^reset after (\d+) of (\d+) bytes$/.exec(form);
  if (reset !== null && Number(reset[1]) < Number(reset[2]) - BODY_BYTES) return unanswered;
  return failures[form] ?? accepted;
}

/** Forms that notice a closed connection: a receiver that pauses its socket does not. */
const NOTICES_CLOSING = abnormalForms.filter((form) => form !== 'nothing read');

describe('An attempt at an abnormal receiver', () => {
  let receivers: Awaited<ReturnType<typeof startAbnormalReceivers>>;
  before(async () => {
    receivers = await startAbnormalReceivers();
  });
  after(() => mapConcurrently([...receivers.values()], (receiver) => receiver[Symbol.asyncDispose]()));

  it('ends in time, with an outcome that says why, and leaves no connection and no timer', async () => {
    const before = activeResources();
    const [sender, patient] = [TIMEOUT_MS, LONG_TIMEOUT_MS].map(
      (timeoutMs) => new WebhookSender({ allowsPrivate: true, timeoutMs }),
    ) as [WebhookSender, WebhookSender];
    const attempt = async (form: AbnormalFormName) => {
      const startedAt = performance.now();
      const chosen = expected(form) === timedOut ? sender : patient;
      const outcome = await chosen.send(emptyWebhook(receivers.get(form)!.url));
      assert.deepEqual(outcome, expected(form), form);
      const tookMs = performance.now() - startedAt;
      assert.ok(chosen === patient || tookMs < TIMEOUT_MS + LATE_MS, `${form}: ${tookMs} ms`);
    };
    await Promise.all(abnormalForms.map(attempt));
    await eventually('the connections of attempts that timed out to be closed', () =>
      NOTICES_CLOSING.every(
        (form) => expected(form) !== timedOut || receivers.get(form)!.openConnections === 0,
      ),
    );
    for (const each of [sender, patient]) each.close();
    await eventually('all connections to be closed', () =>
      NOTICES_CLOSING.every((form) => receivers.get(form)!.openConnections === 0),
    );
    // Allows for the connection of the receiver that does not notice.
    await eventually('no timer and no other socket', () => activeResources() <= before + 1);
  });

  it('ends with the sender, whatever the receiver does', async () => {
    const sender = new WebhookSender({ allowsPrivate: true });
    const attempts = abnormalForms.map((form) => sender.send(emptyWebhook(receivers.get(form)!.url)));
    await sleep(500);
    const startedAt = performance.now();
    sender.abort();
    const outcomes = await Promise.all(attempts);
    assert.ok(performance.now() - startedAt < LATE_MS);
    sender.close();
    const { error } = outcomes[abnormalForms.indexOf('no response')]!;
    assert.equal(error, 'the service stopped');
  });
});

describeOnEachDatabase('Abnormal receivers', (database) => {
  let service: TestService;
  let dispatcher: WebhookDispatcher;
  let receivers: Awaited<ReturnType<typeof startAbnormalReceivers>>;
  let hostile: Tenant;
  before(async () => {
    receivers = await startAbnormalReceivers();
    // One thread, whose dispatcher the test replaces.
    service = await TestService.start(database, { env: { ...env, UGS_THREADS: '1' } });
    await service.app.webhooks.stop(0);
    const { context } = service.app;
    const onError = (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    };
    const observers = { observer: null, log: pino({ level: 'silent' }), onError };
    dispatcher = new WebhookDispatcher({ context, allowsPrivate: true, timeoutMs: TIMEOUT_MS, ...observers });
    dispatcher.start();
    hostile = await Tenant.create(service, 'hostile');
    const urls = [...receivers].map(([, { url }], index) => [`endpoint-${index}`, url] as const);
    await mapConcurrently(urls, ([id, url]) => hostile.endpoint(id, url));
  });
  after(async () => {
    await dispatcher.stop(0);
    await service.end();
    await mapConcurrently([...receivers.values()], (receiver) => receiver[Symbol.asyncDispose]());
  });

  it('delay no delivery to a healthy one, and each delivery says why it failed', async () => {
    await using healthy = await Receiver.start();
    const victim = await Tenant.create(service, 'victim');
    await victim.endpoint('healthy', healthy.url);
    await hostile.createGroup('to all');
    const sentAt = performance.now();
    await victim.createGroup('to one');
    const [webhook] = await healthy.waitFor(1);
    assert.ok(webhook!.receivedAt - sentAt < PROMPT_MS, `${webhook!.receivedAt - sentAt} ms`);
    for (const [index, form] of abnormalForms.entries()) {
      const { response_status, error } = await hostile.waitFor(
        `endpoint-${index}`,
        ({ attempts }) => attempts >= 1,
      );
      const outcome = { status: response_status, error };
      // Reading much of what one of these sends may take longer than the timeout on a busy machine.
      const sendsMuch = expected(form) === tooLong || expected(form) === longHeaders;
      const isLate = sendsMuch && error === timedOut.error;
      assert.deepEqual(outcome, isLate ? timedOut : expected(form), form);
    }
  });

  it('do not hold up a dispatcher that stops', async () => {
    await hostile.createGroup('while stopping');
    const attempted = receivers.get('no response')!;
    await eventually('attempts to run', () => attempted.received > 1);
    const startedAt = performance.now();
    await dispatcher.stop(0);
    assert.ok(performance.now() - startedAt < PROMPT_MS);
    // Another process takes over.
    const [delivery] = await hostile.deliveries(`endpoint-${abnormalForms.indexOf('no response')}`);
    assert.deepEqual([delivery!.attempts, delivery!.error], [0, null]);
  });
});

function activeResources(): number {
  const resources = process.getActiveResourcesInfo();
  return resources.filter((name) => name === 'Timeout' || name === 'TCPSocketWrap').length;
}
