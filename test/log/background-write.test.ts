// Background writes fail no request, so only the log can report that one has failed.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { executeSql } from '../support/sql.ts';

const ON_POSTGRES = `
  alter table user_groups add constraint never_seen check (last_seen_at is null);
  alter table usage_counts add constraint never_used check (count = 0);
  alter table events add constraint never_timed_out check (type <> 'property_schema.timed_out');
  alter table environment_figures add constraint never_counted check (counting_until is null);
  alter table token_keys add constraint never_registered check (key_id = '') not valid`;
const ON_SQLITE = `
  create trigger never_seen before update of last_seen_at on user_groups
  begin select raise(abort, 'never_seen'); end;
  create trigger never_used before insert on usage_counts
  begin select raise(abort, 'never_used'); end;
  create trigger never_timed_out before insert on events when new.type = 'property_schema.timed_out'
  begin select raise(abort, 'never_timed_out'); end;
  create trigger never_counted before insert on environment_figures
  begin select raise(abort, 'never_counted'); end;
  create trigger never_registered before insert on token_keys
  begin select raise(abort, 'never_registered'); end`;

describeOnEachDatabase('The log', (kind) => {
  const service = TestService.of(kind);
  before(() => refuseWrites(service));

  it('says why the use of tokens, or that a property schema timed out, is not stored', async () => {
    const { status } = await service.get({ user_group_id: 'acme', name: 'Acme' });
    assert.equal(status, 200);
    const { store, clock, lastUse, usage, timedOutSchemas } = service.app.context;
    const [userGroup] = await store.read({ kind: 'scanUserGroups', after: null, limit: 1 });
    // A busy database may time out instead; that is not a bug.
    await eventually('every cause in the log', async () => {
      lastUse.resolved(userGroup!, clock());
      usage.count(userGroup!, 'resolves', clock());
      timedOutSchemas.report(userGroup!, { schema: '{}' as JsonText, mode: 'enforce' });
      await Promise.all([lastUse.write(), usage.write(), timedOutSchemas.recorded]);
      const causes = causesOf(service, 'background write: unexpected failure');
      return ['never_seen', 'never_used', 'never_timed_out'].every((cause) => causes.includes(cause));
    });
    service.logLines.length = 0;
  });

  it('says why the figures of an environment cannot be counted, and the overview is shown without them', async () => {
    const browser = await ConsoleBrowser.signIn(service);
    await eventually('the cause in the log', async () => {
      const page = await served(() => browser.get('/console'));
      assert.equal(page.status, 200, page.text);
      return causesOf(service, 'figures: unexpected failure').includes('never_counted');
    });
    service.logLines.length = 0;
  });

  it('says why the token key cannot be registered when the service stops', async () => {
    const stopped = await TestService.start(kind);
    await refuseWrites(stopped);
    await stopped.app.close();
    await stopped.database.drop();
    assert.match(causesOf(stopped, 'token key: unexpected failure'), /never_registered/);
  });
});

function refuseWrites({ database }: TestService): Promise<void> {
  return executeSql(database, database.url.startsWith('sqlite:') ? ON_SQLITE : ON_POSTGRES);
}

function causesOf({ logEntries }: TestService, message: string): string {
  return JSON.stringify(logEntries.filter(({ msg }) => msg === message).map(({ err }) => err));
}
