import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { HOUR_MS } from '../../src/domain/instant.ts';
import { WebhookEndpointLog } from '../../src/webhooks/endpoint-log.ts';

const MAX_OF_WORKSPACE = 10;

describe('The log of failing webhook endpoints', () => {
  it('names an endpoint of one workspace even if another has hundreds', () => {
    const lines: { workspaceId: number }[] = [];
    const log = new WebhookEndpointLog(pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
    const fail = (workspaceId: number, id: string) =>
      log.failing({ workspaceId, environment: 'Customer', endpointId: id }, 'refused', 0, HOUR_MS);
    for (let index = 0; index < 200; index++) fail(1, `endpoint-${index}`);
    for (let times = 0; times < 2; times++) fail(2, 'endpoint');
    const logged = lines.map(({ workspaceId }) => workspaceId);
    assert.deepEqual(logged, [...Array.from({ length: MAX_OF_WORKSPACE }, () => 1), 2]);
  });
});
