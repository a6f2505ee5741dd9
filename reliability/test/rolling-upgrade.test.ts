// Upgrades and goes back under load. `npm run rig:rolling-upgrade` is the long run.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../../test/support/database.ts';
import { isDelayed } from '../rolling-restart.ts';
import { rollingUpgrade } from '../rolling-upgrade.ts';

describeOnEachDatabase('A rolling upgrade that is undone', (kind) => {
  const processes = kind.name === 'SQLite' ? 1 : 2;

  it('fails no call, loses no group, and resolves no dead token', async (test) => {
    const figures = await rollingUpgrade({
      kind,
      processes,
      rounds: 1,
      from: null,
      onRestart: () => {},
      onFailure: (failure) => test.diagnostic(failure),
    });
    test.diagnostic(JSON.stringify(figures));
    const { failed, lost, wrong, warned, groups, migrationMs } = figures;
    assert.deepEqual({ failed, lost, wrong }, { failed: 0, lost: 0, wrong: 0 });
    assert.equal(isDelayed(figures), false);
    assert.ok(groups > 0 && migrationMs > 0, 'the next version migrated the database under load');
    assert.equal(warned, processes, 'each process of the earlier version served the newer schema');
  });
});
