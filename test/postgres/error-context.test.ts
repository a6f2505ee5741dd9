// Context of errors of PostgreSQL: with some settings and triggers, values of the row or of the statement.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { postgres } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { executeSql } from '../support/sql.ts';

const PRIVATE = 'a private note';
/** The second statement closes the connections that were opened with the former setting. */
const REPORT_PARAMETERS = `
  do $$ begin execute format('alter database %I set log_parameter_max_length_on_error = -1', current_database()); end $$;
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;
const REFUSE_UPDATES = `
  create function refuse() returns trigger language plpgsql as $$
  begin raise exception 'refused' using detail = new.properties; end $$;
  create trigger refuse before update on user_groups for each row execute function refuse()`;

describe('An error of PostgreSQL', () => {
  const service = TestService.of(postgres);
  before(async () => {
    await service.get({ user_group_id: 'acme', name: 'Acme' });
    await executeSql(service.database, REPORT_PARAMETERS);
    await executeSql(service.database, REFUSE_UPDATES);
  });

  it('is logged without the values that its detail and its context contain', async () => {
    const { status } = await service.put({ user_group_id: 'acme', properties: { note: PRIVATE } });
    assert.equal(status, 500);
    const log = service.logLines.join();
    assert.match(log, /"message":"refused"/);
    assert.ok(!log.includes(PRIVATE), log);
    service.logLines.length = 0;
  });
});
