// Health checks of supervisors and load balancers, without an API token.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Folder, type Service, serve } from '../support/process.ts';
import { suiteStack } from '../support/suite.ts';

const bodies = {
  '/healthz': '{"success":1,"status":"alive"}',
  '/readyz': '{"success":1,"status":"ready"}',
};

describe('Health', () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let service: Service;
  before(async () => {
    service = stack.use(await serve(folder));
  });

  for (const [path, body] of Object.entries(bodies)) {
    it(`GET ${path} returns 200 with ${body}`, async () => {
      const { status, text, headers } = await service.send({ path, token: null });
      assert.deepEqual({ status, text }, { status: 200, text: body });
      assert.match(headers['content-type'] ?? '', /^application\/json/);
      assert.equal(headers['cache-control'], 'no-store');
      assert.notEqual(headers['x-request-id'] ?? '', '');
    });

    it(`HEAD ${path} returns the same without a body`, async () => {
      const { status, text, headers } = await service.send({ method: 'HEAD', path, token: null });
      assert.deepEqual({ status, text }, { status: 200, text: '' });
      assert.equal(headers['content-length'], String(body.length));
    });

    it(`POST ${path} returns 405 and lists the allowed methods`, async () => {
      const { status, json, headers } = await service.send({ method: 'POST', path, token: null });
      assert.deepEqual({ status, code: json.code }, { status: 405, code: 'method_not_allowed' });
      assert.deepEqual(headers.allow?.split(', ').sort(), ['GET', 'HEAD']);
    });
  }

  it('is not affected by an invalid request', async () => {
    await service.send({ method: 'POST', path: '/readyz', body: 'junk', token: 'junk' });
    assert.equal((await service.send({ path: '/readyz', token: null })).status, 200);
  });
});
