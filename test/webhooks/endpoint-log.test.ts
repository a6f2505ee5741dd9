import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { HOUR_MS } from '../../src/domain/instant.ts';
import { WebhookEndpointLog } from '../../src/webhooks/endpoint-log.ts';

const MAX_OF_WORKSPACE = 10;
const MAX_ENDPOINTS = 100;

describe('The log of failing webhook endpoints', () => {
  function failureLog() {
    const lines: { workspaceId: number }[] = [];
    const log = new WebhookEndpointLog(pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
    const fail = (workspaceId: number, id: string) =>
      log.failing({ workspaceId, environment: 'Customer', endpointId: id }, 'refused', 0, HOUR_MS);
    const disable = (workspaceId: number, id: string) =>
      log.disabled({ workspaceId, environment: 'Customer', endpointId: id }, 'gone');
    return { lines, fail, disable };
  }

  it('names an endpoint of one workspace even if another has hundreds', () => {
    const { lines, fail } = failureLog();
    for (let index = 0; index < 200; index++) fail(1, `endpoint-${index}`);
    for (let times = 0; times < 2; times++) fail(2, 'endpoint');
    const logged = lines.map(({ workspaceId }) => workspaceId);
    assert.deepEqual(logged, [...Array.from({ length: MAX_OF_WORKSPACE }, () => 1), 2]);
  });

  it('names an endpoint that is disabled again and again once, and one of another workspace', () => {
    const { lines, fail, disable } = failureLog();
    for (const act of [fail, disable]) {
      for (let times = 0; times < 200; times++) act(1, 'endpoint');
      for (let index = 0; index < 200; index++) act(2, `endpoint-${index}`);
      act(3, 'endpoint');
    }
    const logged = lines.map(({ workspaceId }) => workspaceId);
    const expected = [1, ...Array.from({ length: MAX_OF_WORKSPACE }, () => 2), 3];
    assert.deepEqual(logged, [...expected, ...expected]);
  });

  it('names at most a hundred endpoints, and each once, in an hour', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { lines, fail } = failureLog();
    for (let hour = 1; hour <= 3; hour++) {
      for (let endpoint = 0; endpoint < 2 * MAX_ENDPOINTS; endpoint++)
        for (let times = 0; times < 2; times++) fail(1 + (endpoint % 20), `endpoint-${endpoint}`);
      assert.equal(lines.length, hour * MAX_ENDPOINTS);
      t.mock.timers.tick(HOUR_MS);
    }
  });
});
