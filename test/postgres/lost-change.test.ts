// PostgreSQL: a failover loses a change of the configuration that processes have already read.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postgres } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { executeSql, runSql } from '../support/sql.ts';

const SOURCE = "where document_id = 'orders'";

describe('A failover that has lost a change of the configuration', () => {
  const [service, other] = TestService.pairOf(postgres);

  it('leaves no process with it once the configuration changes again', async () => {
    const options = await service.apiToken({ permission: 'admin', workspaceName: 'failover' });
    const rename = (name: string) =>
      service.call('PUT', '/v1/data-sources/orders', { schema_id: '40', name }, options);
    await rename('Stored');
    const group = { user_group_id: 'acme', name: 'Acme', mapping: { 40: 'orders' } };
    const { token } = (await service.call('POST', '/v1/user-groups', group, options)).json.user_group;
    const resolvedName = async () => {
      const { json } = await other.call('POST', '/v1/resolve', { token }, options);
      return json.data_sources[40].name;
    };
    const [stored] = await runSql(
      service.database,
      `select body, documents.version, config_version from documents natural join (
        select workspace_id, environment, config_version from environments) as environments ${SOURCE}`,
    );
    await rename('Lost');
    assert.equal(await resolvedName(), 'Lost');
    await executeSql(
      service.database,
      `update documents set body = '${stored!.body}', version = ${stored!.version} ${SOURCE};
       update environments set config_version = ${stored!.config_version}`,
    );
    await rename('Changed again');
    assert.equal(await resolvedName(), 'Changed again');
  });
});
