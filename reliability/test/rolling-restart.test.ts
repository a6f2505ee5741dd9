// Restarts processes under load. `npm run rig:rolling-restart -- --restarts 100` is the long run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postgres } from '../../test/support/database.ts';
import { isNginxInstalled } from '../rolling-restart/nginx.ts';
import { isDelayed, rollingRestart } from '../rolling-restart.ts';

const RESTARTS = 2;
/** With its defaults, nginx fails calls from the second restart. */
const NGINX_RESTARTS = 3;

describe('A rolling restart', () => {
  it(`fails no call of a client that retries, and loses no group, in ${RESTARTS} restarts`, async (test) => {
    const onFailure = (failure: string) => test.diagnostic(failure);
    const figures = await rollingRestart({
      kind: postgres,
      processes: 2,
      restarts: RESTARTS,
      nginx: null,
      onRestart: () => {},
      onFailure,
    });
    test.diagnostic(JSON.stringify(figures));
    const { failed, lost, wrong, repeated, groups } = figures;
    assert.deepEqual({ failed, lost, wrong }, { failed: 0, lost: 0, wrong: 0 });
    assert.equal(isDelayed(figures), false);
    assert.ok(groups > 0 && repeated > 0, 'callers were affected by the restarts');
  });

  const skip = !isNginxInstalled && 'nginx is not installed (apt-get install nginx-light)';
  it('fails no call of a client without retries behind nginx with deploy/nginx.conf', {
    skip,
  }, async (test) => {
    const figures = await rollingRestart({
      kind: postgres,
      processes: 2,
      restarts: NGINX_RESTARTS,
      nginx: 'recommended',
      onRestart: () => {},
      onFailure: (failure) => test.diagnostic(failure),
    });
    test.diagnostic(JSON.stringify(figures));
    const { failed, lost, repeated, undelivered, groups } = figures;
    assert.deepEqual({ failed, lost, repeated }, { failed: 0, lost: 0, repeated: 0 });
    assert.ok(groups > 0 && undelivered > 0, 'nginx was affected by the restarts');
  });
});
