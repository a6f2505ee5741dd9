// An update whose user group is replaced between its two statements records what it has changed in the new one.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { postgres } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { executeSql, SqlConnection } from '../support/sql.ts';

it('an update has no values of the user group that had the id before', async () => {
  await using service = await TestService.start(postgres);
  const group = { user_group_id: 'group' };
  await service.get({ ...group, name: 'Other' });
  await executeSql(service.database, 'create table kept as select * from user_groups');
  await service.call('DELETE', '/v1/user-groups/group');
  await service.get({ ...group, name: 'First' });
  await using other = await SqlConnection.open(service.database.url);
  await other.query('begin');
  // Lets the service read the group, but not change it.
  await other.query('lock table user_groups in share mode');
  const updating = service.put({ ...group, name: 'Updated' });
  await eventually('the update waits', async () => {
    const waiting = `select 1 from pg_locks where not granted and relation = 'user_groups'::regclass`;
    return (await other.query(waiting)).rowCount === 1;
  });
  await other.query('delete from user_groups');
  await other.query('insert into user_groups select * from kept');
  await other.query('commit');
  assert.equal((await updating).status, 200);
  const events = await service.eventsAbout({ type: 'user_group', id: 'group' });
  assert.deepEqual(JSON.parse(events.at(-1)!.changes!), {
    from: { name: 'Other' },
    to: { name: 'Updated' },
  });
});
