// The client: every call ends, by an answer, at a limit, or when its caller says so.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, UserGroupClient } from '../../client/src/index.ts';
import { sqlite } from '../database.ts';
import { TestService } from '../service.ts';
import { FaultyProxy } from './faulty-proxy.ts';

describe('A call of the client', () => {
  let service: TestService;
  let proxy: FaultyProxy;
  before(async () => {
    service = await TestService.start(sqlite);
    proxy = await FaultyProxy.start(service.url);
  });
  afterEach(() => {
    proxy.faults = [];
    proxy.seen.length = 0;
  });
  after(async () => {
    await proxy[Symbol.asyncDispose]();
    await service.end();
  });

  function clientWith(options: Partial<ClientOptions> = {}): UserGroupClient {
    return new UserGroupClient({ url: proxy.url, apiToken: service.token, ...options });
  }

  async function durationOf(call: Promise<unknown>, expected: object): Promise<number> {
    const start = performance.now();
    await assert.rejects(call, expected);
    return performance.now() - start;
  }

  it('is tried again where an attempt gets no answer within attemptTimeoutMs', async () => {
    proxy.faults = ['hang'];
    const client = clientWith({ attemptTimeoutMs: 300 });
    const { new_user_group } = await client.getOrCreate({ user_group_id: 'hanging', name: 'H' });
    assert.equal(new_user_group, false);
    assert.equal(proxy.seen.length, 2);
  });

  it('ends with timeout where no attempt gets an answer', async () => {
    proxy.faults = ['hang', 'hang'];
    const client = clientWith({ attemptTimeoutMs: 100, maxRetries: 1 });
    await assert.rejects(client.resolve('any'), { code: 'timeout', status: null, requestId: null });
    assert.equal(proxy.seen.length, 2);
  });

  it('ends within timeoutMs, attempts and waits together', async () => {
    proxy.faults = Array(50).fill('hang');
    const client = clientWith({ timeoutMs: 700, attemptTimeoutMs: 100, maxRetries: 50 });
    const duration = await durationOf(client.resolve('any'), { code: 'timeout' });
    assert.ok(duration < 1_200, String(duration));
    const shorter = await durationOf(client.resolve('any', { timeoutMs: 50 }), { code: 'timeout' });
    assert.ok(shorter < 400, String(shorter));
  });

  it('is not sent again where a busy process wakes after timeoutMs', async () => {
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

  it('is not cut short by limits that no timer can hold', async () => {
    const client = clientWith({
      timeoutMs: Number.POSITIVE_INFINITY,
      attemptTimeoutMs: 2 ** 40,
      maxRetries: 0,
    });
    await assert.rejects(client.resolve('any'), { code: 'user_group_token_not_found' });
  });

  it('rejects with the reason of a signal, before, in and between attempts', async () => {
    const reason = new Error('the caller has changed its mind');
    await assert.rejects(clientWith().resolve('any', { signal: AbortSignal.abort(reason) }), reason);
    assert.equal(proxy.seen.length, 0);

    proxy.faults = ['hang'];
    const inAttempt = new AbortController();
    setTimeout(() => inAttempt.abort(reason), 100);
    await assert.rejects(clientWith().resolve('any', { signal: inAttempt.signal }), reason);
    assert.equal(proxy.seen.length, 1);

    proxy.faults = [{ status: 503, headers: { 'retry-after': '20' } }];
    const inWait = new AbortController();
    setTimeout(() => inWait.abort(reason), 100);
    const duration = await durationOf(clientWith().resolve('any', { signal: inWait.signal }), reason);
    assert.ok(duration < 2_000, String(duration));
    await sleep(50);
    assert.equal(proxy.seen.length, 2);
  });

  it('ends a list with its signal', async () => {
    for (const id of ['list-1', 'list-2', 'list-3']) {
      await clientWith().getOrCreate({ user_group_id: id, name: 'L' });
    }
    const ending = new AbortController();
    const list = clientWith().list({ search: 'list-', limit: 1 }, { signal: ending.signal });
    await list.next();
    ending.abort();
    await assert.rejects(list.next(), { name: 'AbortError' });
  });

  it('leaves nothing behind on a signal that lives on', async () => {
    const { signal } = new AbortController();
    proxy.faults = ['lose request'];
    await assert.rejects(clientWith().resolve('any', { signal }), { code: 'user_group_token_not_found' });
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});
