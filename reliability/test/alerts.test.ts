// Alerts of each kind, fired by a real Prometheus. `npm run rig:alerts` fires all of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPrometheusInstalled } from '../../test/support/prometheus.ts';
import { faults } from '../alerts/faults.ts';
import { alertNames, brokenPromises, fireAlerts } from '../alerts.ts';

const skip = !isPrometheusInstalled && 'prometheus is not installed (apt install prometheus)';
const ALERTS = [
  'UserGroupServiceNotReady',
  'UserGroupServiceInternalError',
  'UserGroupServiceWebhookDisabled',
];

describe('The rig of the alerts', () => {
  it('knows a fault for every alert', () => {
    assert.deepEqual(Object.keys(faults).sort(), alertNames().sort());
  });

  it(`fires ${ALERTS.join(', ')}`, { skip }, async (test) => {
    const figures = await fireAlerts({ only: ALERTS, onAlert: () => {} });
    test.diagnostic(JSON.stringify(figures));
    assert.equal(figures.length, ALERTS.length);
    assert.deepEqual(brokenPromises(figures), []);
  });
});
