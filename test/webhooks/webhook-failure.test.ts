// Failures in the background work of webhooks fail no request, so only the log can report them.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { executeSql, runSql } from '../support/sql.ts';
import { Receiver } from '../support/webhooks/receiver.ts';
import { env, Tenant } from '../support/webhooks/tenant.ts';

const MESSAGE = 'webhooks: unexpected failure';
const ON_POSTGRES = 'alter table deliveries add constraint refused check (attempts = 0) not valid';
const ON_SQLITE = `create trigger refused before update on deliveries when new.attempts > 0
  begin select raise(abort, 'refused'); end`;

describeOnEachDatabase('The log', (kind) => {
  const service = TestService.of(kind, { env });

  it('names an endpoint whose secret cannot be decrypted, once, and its deliveries wait', async () => {
    await using receiver = await Receiver.start();
    const tenant = await Tenant.create(service, 'unreadable');
    await tenant.endpoint('unreadable', receiver.url);
    const ofEndpoint = "where document_id = 'unreadable'";
    const [row] = await runSql(service.database, `select secret_key_id as id from documents ${ofEndpoint}`);
    const setKey = (id: unknown) =>
      executeSql(service.database, `update documents set secret_key_id = '${id}' ${ofEndpoint}`);
    await setKey('0badc0de');
    await tenant.createGroup('first');
    const { level, endpointId, environment, reason } = await service.logEntry(
      'the failure',
      ({ msg }) => msg === 'webhooks: the secret of an endpoint cannot be decrypted',
    );
    assert.deepEqual(
      [level, endpointId, environment, reason],
      [50, 'unreadable', 'Customer', 'the key ring has no key 0badc0de'],
    );
    await tenant.createGroup('second');
    await setKey(row!.id);
    await receiver.waitFor(2);
    assert.equal(service.logEntries.filter((entry) => entry.level === 50).length, 1);
    service.logLines.length = 0;
  });

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
