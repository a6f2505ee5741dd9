// Writes in the background fail no request, so only the log can say that one has failed.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { executeSql } from '../support/sql.ts';

const ON_POSTGRES = `
  alter table user_groups add constraint never_seen check (last_seen_at is null);
  alter table usage_counts add constraint never_used check (count = 0);
  alter table events add constraint never_timed_out check (type <> 'property_schema.timed_out')`;
const ON_SQLITE = `
  create trigger never_seen before update of last_seen_at on user_groups
  begin select raise(abort, 'never_seen'); end;
  create trigger never_used before insert on usage_counts
  begin select raise(abort, 'never_used'); end;
  create trigger never_timed_out before insert on events when new.type = 'property_schema.timed_out'
  begin select raise(abort, 'never_timed_out'); end`;

describeOnEachDatabase('The log', (kind) => {
  const service = TestService.of(kind);

  it('says why the use of tokens, or that a property schema timed out, is not stored', async () => {
    const { status } = await service.get({ user_group_id: 'acme', name: 'Acme' });
    assert.equal(status, 200);
    const { store, clock, lastUse, usage, timedOutSchemas } = service.app.context;
    const [userGroup] = await store.read({ kind: 'scanUserGroups', after: null, limit: 1 });
    const { database } = service;
    await executeSql(database, database.url.startsWith('sqlite:') ? ON_SQLITE : ON_POSTGRES);
    // A busy database may time out instead; that is not a bug.
    await eventually('every cause in the log', async () => {
      lastUse.resolved(userGroup!, clock());
      usage.count(userGroup!, 'resolves', clock());
      timedOutSchemas.report(userGroup!, { schema: '{}' as JsonText, mode: 'enforce' });
      await Promise.all([lastUse.write(), usage.write(), timedOutSchemas.recorded]);
      const failures = service.logEntries.filter(({ msg }) => msg === 'background write: unexpected failure');
      const causes = JSON.stringify(failures.map(({ err }) => err));
      return ['never_seen', 'never_used', 'never_timed_out'].every((cause) => causes.includes(cause));
    });
    service.logLines.length = 0;
  });
});
