// Large bodies: their total size in memory is bounded, and stalled bodies are evicted.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../src/domain/field.ts';
import {
  BodyAdmission,
  MAX_BYTES,
  MAX_DELAY_MS,
  MIN_BYTES_PER_SECOND,
  type Reservation,
} from '../../src/http/limits/body-admission.ts';
import type { Problem } from '../../src/problem.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const TENANT = 1;
const OTHER_TENANT = 2;

function reserve(admission: BodyAdmission, bytes: number, tenant = TENANT): Reservation {
  const reservation = admission.open(tenant);
  reservation.grow(bytes);
  return reservation;
}

describe('Admission of large bodies', () => {
  it('rejects reservations beyond the limit until earlier ones are released', () => {
    const admission = new BodyAdmission();
    const first = reserve(admission, MAX_BYTES - 10);
    const second = reserve(admission, 10);
    assert.throws(() => reserve(admission, 1), { code: 'overloaded', retryAfterSeconds: 1 });
    assert.throws(() => second.grow(1), { code: 'overloaded' });
    first[Symbol.dispose]();
    second.grow(MAX_BYTES - 10);
    assert.throws(() => second.grow(1), { code: 'overloaded' });
    second[Symbol.dispose]();
    second[Symbol.dispose]();
    reserve(admission, MAX_BYTES);
    assert.throws(() => reserve(admission, 1), { code: 'overloaded' });
  });

  it('divides the limit among the threads of a process', () => {
    const admission = new BodyAdmission(4);
    reserve(admission, MAX_BYTES / 4);
    assert.throws(() => reserve(admission, 1), { code: 'overloaded' });
  });

  it('admits the bodies of another tenant while one has as many as it can get', () => {
    const admission = new BodyAdmission();
    const bodies = Array.from({ length: MAX_BYTES / limits.bodyBytes }, () =>
      reserve(admission, limits.bodyBytes),
    );
    assert.throws(() => reserve(admission, 1), { code: 'overloaded' });
    for (let body = 0; body < bodies.length / 4; body++) reserve(admission, limits.bodyBytes, OTHER_TENANT);
    // The first tenant still has more than its share.
    bodies[0]![Symbol.dispose]();
    assert.throws(() => reserve(admission, limits.bodyBytes), { code: 'overloaded' });
  });

  it('evicts no body of a tenant that has less than the one that needs space', async () => {
    const admission = new BodyAdmission();
    const evicted: string[] = [];
    const small = reserve(admission, 10, OTHER_TENANT);
    small.receive(() => evicted.push('small'));
    const large = reserve(admission, MAX_BYTES - 10);
    large.receive(() => evicted.push('large'));
    await sleep(MAX_DELAY_MS + 50);
    large.progress(MAX_BYTES);
    assert.throws(() => reserve(admission, limits.bodyBytes), { code: 'overloaded' });
    assert.deepEqual(evicted, []);
  });

  it('evicts the body furthest behind first, and only as many as needed', async () => {
    const admission = new BodyAdmission();
    const evicted: string[] = [];
    const receive = (name: string, receivedBytes: number): Reservation => {
      const reservation = reserve(admission, MAX_BYTES / 4);
      reservation.receive(({ code }: Problem) => evicted.push(`${name} ${code}`));
      reservation.progress(receivedBytes);
      return reservation;
    };
    receive('fast', 4 * MIN_BYTES_PER_SECOND);
    receive('slow', 100);
    receive('stalled', 0);
    receive('complete', 0).complete();
    assert.throws(() => reserve(admission, 1), { code: 'overloaded' });
    await sleep(MAX_DELAY_MS + 50);
    reserve(admission, 1);
    assert.deepEqual(evicted, ['stalled request_timeout']);
    reserve(admission, MAX_BYTES / 4);
    assert.deepEqual(evicted, ['stalled request_timeout', 'slow request_timeout']);
    assert.throws(() => reserve(admission, MAX_BYTES / 4), { code: 'overloaded' });
  });
});

describeOnEachDatabase('large bodies', (database) => {
  const STALLED = MAX_BYTES / limits.bodyBytes;
  // Threads divide the memory limit.
  const service = TestService.of(database, { env: { UGS_THREADS: '1' } });
  before(async () => {
    await service.get({ user_group_id: 'there', name: 'There' });
  });

  function head(bytes: number | 'chunked', method = 'GET'): string {
    const framing = bytes === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`;
    return (
      `${method} /api/user HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${service.token}\r\n` +
      `${framing}\r\n\r\n`
    );
  }

  function body(bytes: number): string {
    return '{"user_group_id":"there"}'.padEnd(bytes, ' ');
  }

  /** Opens as many connections as the service admits; each sends this much of its body. */
  async function stall(sentBytes: number, start = head(limits.bodyBytes)): Promise<RawConnection[]> {
    const connections: RawConnection[] = [];
    for (let index = 0; index < STALLED; index++) {
      const connection = await RawConnection.open(service.url);
      connection.write(start + ' '.repeat(sentBytes));
      connections.push(connection);
    }
    // Once a later request is served, the service has read the headers of the earlier ones.
    assert.equal((await service.get({ user_group_id: 'there' })).status, 200);
    return connections;
  }

  function answersOn(connection: RawConnection, count: number) {
    return eventually(`${count} responses`, () => {
      const { answers } = connection.exchange;
      return answers.length >= count && answers;
    });
  }

  it('that stall get 408 as soon as another body needs their memory', async () => {
    const stalled = await stall(0);
    await sleep(MAX_DELAY_MS + 50);
    const { token } = service;
    assert.equal((await send(service.url, { body: body(limits.bodyBytes), token })).status, 200);
    const evicted = stalled.filter(({ exchange }) => exchange.answers.length > 0);
    assert.equal(evicted.length, 1);
    const { answers, isEnded } = await evicted[0]!.finish();
    assertProblem(answers[0]!, 'request_timeout');
    assert.ok(isEnded);
    for (const connection of stalled) connection.leave();
  });

  it('rejected with overloaded leave the connection usable', async () => {
    const connection = await RawConnection.open(service.url);
    let sent = 0;
    const nextAnswer = async () => {
      connection.write(head(limits.bodyBytes) + body(limits.bodyBytes));
      return (await answersOn(connection, ++sent)).at(-1)!;
    };
    const refused = await eventually('a large body to be refused', async () => {
      const stalled = await stall(limits.bodyBytes - 1);
      const answer = await nextAnswer();
      for (const each of stalled) each.leave();
      return answer.status === 503 && answer;
    });
    assertProblem(refused, 'overloaded');
    assert.equal(refused.headers.connection, 'keep-alive');
    assert.equal((await service.get(body(limits.bodyBytes))).status, 200);
    await eventually('room for a large body', async () => (await nextAnswer()).status === 200);
    connection.leave();
  });

  it('that do not announce their length take as much of the memory as has arrived', async () => {
    const bytes = limits.bodyBytes - 1;
    const request = { body: body(limits.bodyBytes), token: service.token };
    await eventually('a large body to be refused', async () => {
      const stalled = await stall(bytes, `${head('chunked')}${bytes.toString(16)}\r\n`);
      const { status } = await send(service.url, request);
      for (const each of stalled) each.leave();
      return status === 503;
    });
    assert.equal((await service.get(request.body)).status, 200);
  });

  it('that arrive together with the next request do not block it', async () => {
    const connection = await RawConnection.open(service.url);
    const large = head(20_000) + body(20_000);
    const refused = head(20_000).replace('Token ', 'Token wrong') + body(20_000);
    const chunked = `${head('chunked')}4e20\r\n${body(20_000)}\r\n0\r\n\r\n`;
    connection.write(large + refused + large + chunked);
    const answers = await answersOn(connection, 4);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 401, 200, 200],
    );
    connection.write(large);
    assert.equal((await answersOn(connection, 5))[4]!.status, 200);
    connection.leave();
  });
});
