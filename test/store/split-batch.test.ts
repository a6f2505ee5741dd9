// A batch that fails because of one request is repeated request by request, and the log says so.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { SPLIT_BATCH } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { executeSql } from '../support/sql.ts';

/** Limit of rounds: in most of them, the updates form one batch. */
const MAX_ROUNDS = 50;
/** Value of a customer, which no error may write to the log. */
const PRIVATE = 'a private note';
const BAD = 'Refused by the database';
const POSTGRES = `alter table user_groups add constraint refused check (name <> '${BAD}')`;
const SQLITE = `create trigger refused before update on user_groups when new.name = '${BAD}'
  begin select raise(abort, 'refused'); end`;

describeOnEachDatabase('A batch with an update that the database refuses', (kind) => {
  const service = TestService.of(kind);

  it('fails only that update, and is logged with its cause', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `group-${index}`);
    for (const id of ids)
      await service.get({ user_group_id: id, name: 'Before', properties: { note: PRIVATE } });
    const { database } = service;
    await executeSql(database, database.url.startsWith('sqlite:') ? SQLITE : POSTGRES);
    const splits = () => service.logEntries.filter(({ msg }) => msg === SPLIT_BATCH);
    for (let round = 0; splits().length === 0; round++) {
      assert.ok(round < MAX_ROUNDS, 'concurrent updates form one batch');
      const updates = ids.map((id, index) =>
        service.put({ user_group_id: id, name: index === 3 ? BAD : `Round ${round}` }),
      );
      const statuses = (await Promise.all(updates)).map(({ status }) => status);
      assert.deepEqual(
        statuses,
        ids.map((_, index) => (index === 3 ? 500 : 200)),
      );
    }
    assert.match(JSON.stringify(splits()[0]!.err), /refused/);
    assert.ok(!service.logLines.join().includes(PRIVATE));
    service.logLines.length = 0;
  });

  it('logs no value of a row that violates a unique index of the operator', async () => {
    const { database } = service;
    await executeSql(database, `create unique index one on user_groups (name) where name = '${PRIVATE}'`);
    await service.get({ user_group_id: 'first', name: PRIVATE });
    assert.equal((await service.get({ user_group_id: 'second', name: PRIVATE })).status, 500);
    assert.match(service.logLines.join(), /internal_error/);
    assert.ok(!service.logLines.join().includes(PRIVATE));
    service.logLines.length = 0;
  });
});
