// Contract: one API token cannot fill the disk with the values of its events. Every change still has its
// event.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { Scrape } from '../support/metrics.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const MEBIBYTE = 1_048_576;
const TEXT = 'x'.repeat(15_000);

interface GroupChanges {
  properties: { text: { to?: string; truncated?: true } };
}

describeOnEachDatabase('UGS_EVENT_MEBIBYTES_PER_DAY', (database) => {
  const env = { UGS_EVENT_MEBIBYTES_PER_DAY: '1', UGS_METRICS_ADDRESS: '127.0.0.1:0' };
  const service = TestService.of(database, { env });

  async function createGroups(count: number, token: string): Promise<void> {
    for (let index = 0; index < count; index++) {
      const properties = { plan: 'gold', text: `${index}${TEXT}` };
      await service.get({ user_group_id: `group ${index}`, name: 'G', properties }, { token });
    }
  }

  /** Returns the changes of the created groups. */
  async function changesOf(token: string): Promise<GroupChanges[]> {
    const path = '/v1/events?limit=1000&type=user_group.created';
    const changes: GroupChanges[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json }: TestResponse = await service.call('GET', `${path}${cursor}`, undefined, { token });
      changes.push(...json.events.map((event: { changes: GroupChanges }) => event.changes));
      cursor = json.next_cursor && `&cursor=${encodeURIComponent(json.next_cursor)}`;
    }
    return changes;
  }

  it('bounds the values of one environment, keeps every event and small values, and tells the operator', async () => {
    const { token } = await service.apiToken({ workspaceName: 'noisy' });
    const { token: other } = await service.apiToken({ workspaceName: 'noisy', environment: 'Testing' });
    await createGroups(80, token);
    const events = await changesOf(token);
    const reduced = events.filter(({ properties }) => properties.text.truncated);
    assert.equal(events.length, 80);
    assert.equal(reduced.length, 80 - Math.floor(MEBIBYTE / 15_080));
    for (const changes of reduced)
      assert.deepEqual(changes, {
        name: { to: 'G' },
        properties: { plan: { to: 'gold' }, text: { truncated: true } },
      });
    const [{ bytes }] = (await runSql(
      service.database,
      'select sum(octet_length(changes)) as bytes from events',
    )) as [{ bytes: number }];
    assert.ok(Number(bytes) < MEBIBYTE + 80 * 256, String(bytes));

    await createGroups(2, other);
    assert.ok((await changesOf(other)).every(({ properties }) => properties.text.to!.length > TEXT.length));

    const metrics = await Scrape.of(service.app.metricsUrl!);
    assert.equal(metrics.sum('user_group_service_events_reduced_total', {}), reduced.length);
    const lines = service.logLines.filter((line) => line.includes('UGS_EVENT_MEBIBYTES_PER_DAY'));
    assert.equal(lines.length, 1);
    const [{ workspace_id }] = (await runSql(
      service.database,
      "select workspace_id from workspaces where name = 'noisy'",
    )) as [{ workspace_id: number }];
    const { workspaceId, environment } = JSON.parse(lines[0]!);
    assert.deepEqual([workspaceId, environment], [Number(workspace_id), 'Customer']);
  });
});
