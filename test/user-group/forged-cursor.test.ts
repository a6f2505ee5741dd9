// The checksum of a cursor has no key: a caller can forge one with any position.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { encodeCursor, type ListName } from '../../src/domain/cursor.ts';
import { ensureWorkspace } from '../../src/operations/workspace/workspace.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

const positions = [
  '',
  'x',
  '\0',
  'a\0b\0c',
  '0',
  '-1',
  '1.5',
  '1e400',
  '9007199254740993',
  '99 \0',
  '9 x 9 9 \0',
  '9 x 9 9 other',
  '9999999999999999 x 9999999999999999 9999999999999999 x',
  'é'.repeat(999),
];

describeOnEachDatabase('A forged cursor', (database) => {
  const service = TestService.of(database);
  let lists: [path: string, list: ListName, valid: string][];
  before(async () => {
    service.token = (await service.apiToken({ permission: 'admin' })).token;
    const { context } = service.app;
    const { workspace } = await ensureWorkspace(context.store, 'default', context.clock());
    const tenant = [workspace.workspaceId, 'Customer'];
    await service.call('PUT', '/v1/webhook-endpoints/w', { url: 'https://example.com', event_types: ['*'] });
    lists = [
      ['/v1/user-groups', [...tenant, ''], 'a'],
      ['/v1/events', ['events', ...tenant, 'newest', null, null, null], '7 x'],
      ['/v1/user-groups/x/events', ['events', ...tenant, 'newest', null, 'user_group', 'x'], '7 x 7 7 other'],
      ['/v1/api-tokens', ['api_tokens', ...tenant], '7'],
      ['/v1/schemas', ['schema', ...tenant], 'a'],
      ['/v1/webhook-endpoints/w/deliveries', ['deliveries', ...tenant, 'w'], 'a'],
    ];
  });

  it('starts the list at its position, or is refused', async () => {
    const list = (path: string, cursor: string) => service.call('GET', `${path}?cursor=${cursor}`);
    for (const [path, name, valid] of lists) {
      assert.equal((await list(path, encodeCursor(name, valid))).status, 200, path);
      for (const position of positions) {
        const { status, text } = await list(path, encodeCursor(name, position));
        assert.ok([200, 400].includes(status), `${path} from ${JSON.stringify(position)}: ${text}`);
      }
    }
  });
});
