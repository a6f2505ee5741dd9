// The client: every call settles: with a response, after a timeout, or when the caller aborts it.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, UserGroupClient } from '../../client/src/index.ts';
import { FaultyProxy } from '../support/client/faulty-proxy.ts';
import { sqlite } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { startStopwatch } from '../support/starvation.ts';
import { suiteStack } from '../support/suite.ts';

/** Much longer than these calls take, even on a busy machine, and much shorter than the waits that they must not make. */
const SOON_MS = 4_000;

describe('A call of the client', () => {
  const stack = suiteStack();
  let service: TestService;
  let proxy: FaultyProxy;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    proxy = stack.use(await FaultyProxy.start(service.url));
  });
  afterEach(() => {
    proxy.faults = [];
    proxy.seen.length = 0;
  });

  function clientWith(options: Partial<ClientOptions> = {}): UserGroupClient {
    return new UserGroupClient({ url: proxy.url, apiToken: service.token, ...options });
  }

  /** Returns the duration of the call without the time in which this process waited for a processor. */
  async function durationOf(call: Promise<unknown>, expected: object): Promise<number> {
    const elapsedMs = startStopwatch();
    await assert.rejects(call, expected);
    return elapsedMs();
  }

  it('is retried if an attempt gets no response within attemptTimeoutMs', async () => {
    proxy.faults = ['hang'];
    // On a busy machine, more attempts than the one that hangs may time out.
    const client = clientWith({ attemptTimeoutMs: 300, maxRetries: 20 });
    const { new_user_group } = await client.getOrCreate({ user_group_id: 'hanging', name: 'H' });
    assert.equal(new_user_group, false);
    assert.ok(proxy.seen.length >= 2);
  });

  it('rejects with timeout if no attempt gets a response', async () => {
    proxy.faults = ['hang', 'hang'];
    let attempts = 0;
    const counting: ClientOptions['fetch'] = (...args) => {
      attempts++;
      return fetch(...args);
    };
    const client = clientWith({ fetch: counting, attemptTimeoutMs: 100, maxRetries: 1 });
    await assert.rejects(client.resolve('any'), { code: 'timeout', status: null, requestId: null });
    assert.equal(attempts, 2);
  });

  it('settles within timeoutMs, including all attempts and delays', async () => {
    proxy.faults = Array(50).fill('hang');
    const client = clientWith({ timeoutMs: 700, attemptTimeoutMs: 100, maxRetries: 50 });
    const duration = await durationOf(client.resolve('any'), { code: 'timeout' });
    assert.ok(duration < SOON_MS, String(duration));
    const inOneAttempt = clientWith().resolve('any', { timeoutMs: 50 });
    const shorter = await durationOf(inOneAttempt, { code: 'timeout' });
    assert.ok(shorter < SOON_MS, String(shorter));
  });

  it('settles within timeoutMs and with its signal, even if fetch or the response ignores both', async () => {
    const hanging = () => new Promise<never>(() => {});
    const response = { status: 200, headers: new Headers(), text: hanging };
    for (const ignoring of [hanging, async () => response]) {
      const client = clientWith({ fetch: ignoring, timeoutMs: 100 });
      await assert.rejects(client.resolve('any'), { code: 'timeout' });
      const signal = AbortSignal.timeout(20);
      await assert.rejects(client.resolve('any', { signal }), { name: 'TimeoutError' });
    }
  });

  it('is not retried if a busy process wakes up after timeoutMs', async () => {
    let attempts = 0;
    const losing: ClientOptions['fetch'] = async () => {
      attempts++;
      throw new Error('lost');
    };
    const call = clientWith({ fetch: losing, timeoutMs: 400 }).resolve('any');
    setTimeout(() => {
      const end = performance.now() + 500;
      while (performance.now() < end);
    });
    await assert.rejects(call, { code: 'network_error', message: /lost/ });
    assert.equal(attempts, 1);
  });

  it('does not time out early if a timeout exceeds the maximum delay of a timer', async () => {
    const client = clientWith({
      timeoutMs: Number.POSITIVE_INFINITY,
      attemptTimeoutMs: 2 ** 40,
      maxRetries: 0,
    });
    await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
  });

  it('rejects with the reason of its signal before, during and between attempts', async () => {
    const reason = new Error('the caller cancelled the call');
    await assert.rejects(clientWith().resolve('any', { signal: AbortSignal.abort(reason) }), reason);
    assert.equal(proxy.seen.length, 0);

    proxy.faults = ['hang'];
    const duringAttempt = new AbortController();
    const hanging = durationOf(clientWith().resolve('any', { signal: duringAttempt.signal }), reason);
    await eventually('the attempt', () => proxy.seen.length === 1);
    duringAttempt.abort(reason);
    assert.ok((await hanging) < SOON_MS);

    proxy.faults = [{ status: 503, headers: { 'retry-after': '20' } }];
    const betweenAttempts = new AbortController();
    const waiting = durationOf(clientWith().resolve('any', { signal: betweenAttempts.signal }), reason);
    await eventually('the response', () => proxy.seen.length === 2);
    await sleep(100);
    betweenAttempts.abort(reason);
    const duration = await waiting;
    assert.ok(duration < SOON_MS, String(duration));
    await sleep(50);
    assert.equal(proxy.seen.length, 2);
  });

  it('does not wait for a retry if its signal aborts as a response arrives', async () => {
    const controller = new AbortController();
    const busy = { status: 503, headers: new Headers({ 'retry-after': '20' }) };
    const text = async (): Promise<string> => {
      controller.abort();
      return '';
    };
    const client = clientWith({ fetch: async () => ({ ...busy, text }) });
    const call = client.resolve('any', { signal: controller.signal });
    const duration = await durationOf(call, { name: 'AbortError' });
    assert.ok(duration < SOON_MS, String(duration));
  });

  it('aborts a list with its signal', async () => {
    for (const id of ['list-1', 'list-2', 'list-3']) {
      await clientWith().getOrCreate({ user_group_id: id, name: 'L' });
    }
    const controller = new AbortController();
    const list = clientWith().list({ search: 'list-', limit: 1 }, { signal: controller.signal });
    await list.next();
    controller.abort();
    await assert.rejects(list.next(), { name: 'AbortError' });
  });

  it('removes its listeners from a long-lived signal', async () => {
    const { signal } = new AbortController();
    proxy.faults = ['lose request'];
    await assert.rejects(clientWith().resolve('any', { signal }), { code: 'user_group_token_not_found' });
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});
