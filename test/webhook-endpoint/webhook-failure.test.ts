// Bugs in the background work of webhooks fail no request, so only the log can report them.

import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { executeSql } from '../support/sql.ts';
import { Receiver } from '../support/webhooks/receiver.ts';
import { env, Tenant } from '../support/webhooks/tenant.ts';

const MESSAGE = 'webhooks: unexpected failure';
const ON_POSTGRES = 'alter table deliveries add constraint refused check (attempts = 0)';
const ON_SQLITE = `create trigger refused before update on deliveries when new.attempts > 0
  begin select raise(abort, 'refused'); end`;

describeOnEachDatabase('The log', (kind) => {
  const service = TestService.of(kind, { env });

  it('says why the outcome of an attempt cannot be stored', async () => {
    await using receiver = await Receiver.start();
    const tenant = await Tenant.create(service, 'crm');
    await tenant.endpoint('crm', receiver.url);
    const { database } = service;
    await executeSql(database, database.url.startsWith('sqlite:') ? ON_SQLITE : ON_POSTGRES);
    await tenant.createGroup('acme');
    await service.logEntry(
      'the failure',
      ({ msg, err }) => msg === MESSAGE && /refused/.test(JSON.stringify(err)),
    );
    service.logLines.length = 0;
  });

  it('says why due deliveries cannot be found', async () => {
    await executeSql(service.database, 'alter table deliveries rename column next_attempt_at to elsewhere');
    await service.logEntry(
      'the failure',
      ({ msg, err }) => msg === MESSAGE && /next_attempt_at/.test(JSON.stringify(err)),
    );
    service.logLines.length = 0;
  });
});
