// The configuration as one document: its sections, how it is read and written, and the JSON Schema of a file.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Catalogue } from '../../src/domain/catalogue/catalogue.ts';
import {
  ConfigWriter,
  configBody,
  configEntry,
  configFileSchema,
  configSections,
  pathInConfig,
  type SectionName,
  sectionNames,
} from '../../src/domain/config/config.ts';
import { type ConfigChange, planTexts } from '../../src/domain/config/config-plan.ts';
import { type Document, SINGLETON_ID } from '../../src/domain/document.ts';
import { jsonText } from '../../src/domain/json/json-tree.ts';
import { problemOf } from '../support/domain/problem.ts';

const read = (body: object) => configBody.read(Buffer.from(JSON.stringify(body)));
const pointersOf = (body: object) => problemOf(() => read(body)).errors.map(({ pointer }) => pointer);
const document = (name: SectionName, id: string, body: object, secret: object | null = null) =>
  ({ kind: configSections[name].definition.kind, id, body: jsonText(body), secret }) as Document;

const eu = document('data_sources', 'eu', { data_source_id: 7, schema_id: '40', name: 'EU', attributes: {} });
const catalogue = new Catalogue([eu]);
const jwt = { type: 'jwt', ttl_seconds: 300, settings: { audience: 'a' }, claims: {}, unrestricted: false };

describe('A configuration', () => {
  it('is read into the entries of each section that it has', () => {
    const schemas = { 40: { name: 'Orders' }, 41: { name: 'Stock' } };
    const { sections, configVersion } = read({ version: 1, schemas, mapping_policy: { mode: 'report' } });
    assert.equal(configVersion, null);
    assert.deepEqual(
      Array.from(sections, ([name, entries]) => [name, [...entries]]),
      [
        [
          'schemas',
          [
            ['40', '{"name":"Orders"}'],
            ['41', '{"name":"Stock"}'],
          ],
        ],
        ['mapping_policy', [[SINGLETON_ID, '{"mode":"report"}']]],
      ],
    );
    const { sections: empty, configVersion: sent } = read({
      version: 1,
      property_schema: null,
      config_version: 3,
    });
    assert.equal(sent, 3);
    assert.deepEqual(
      Array.from(empty, ([name, { size }]) => [name, size]),
      [['property_schema', 0]],
    );
  });

  it('is refused with a pointer to what is wrong', () => {
    for (const [body, pointer] of [
      [{}, '/version'],
      [{ version: 2 }, '/version'],
      [{ version: 0 }, '/version'],
      [{ version: 1, config_version: -1 }, '/config_version'],
      [{ version: 1, schemas: [] }, '/schemas'],
      [{ version: 1, schemas: null }, '/schemas'],
      [{ version: 1, schemas: { 40: null } }, '/schemas/40'],
      [{ version: 1, mapping_policy: null }, '/mapping_policy'],
      [{ version: 1, property_schema: 1 }, '/property_schema'],
      [{ version: 1, data_sources: { 'a\n': { name: 'A' } } }, '/data_sources/a\n'],
      [{ version: 1, integrations: { 'a/b\n': {} } }, '/integrations/a~1b\n'],
    ] as const)
      assert.deepEqual(pointersOf(body), [pointer]);
    assert.match(
      problemOf(() => read({ version: 1, schemas: { '': {} } })).errors[0]!.detail,
      /^is under an id that /,
    );
    assert.equal(problemOf(() => read({ version: 1, other: {} })).code, 'unknown_field');
  });

  it('has entries without their defaults, and without what the service assigns', () => {
    assert.equal(
      configEntry('data_sources', eu.body, catalogue),
      '{"schema_id":"40","name":"EU","attributes":{}}',
    );
    assert.equal(
      configEntry('integrations', jsonText({ ...jwt, ttl_seconds: 60 }), catalogue),
      '{"type":"jwt","ttl_seconds":60,"settings":{"audience":"a"}}',
    );
    assert.equal(
      configEntry('integrations', jsonText(jwt), catalogue),
      '{"type":"jwt","settings":{"audience":"a"}}',
    );
  });

  it('has the id of a data source in place of its number, which differs between environments', () => {
    const entry = (reference: unknown) =>
      configEntry('schemas', jsonText({ name: 'Orders', default_data_source: reference }), catalogue);
    for (const reference of [7, '7', 'eu'])
      assert.equal(entry(reference), '{"name":"Orders","default_data_source":"eu"}');
    assert.equal(entry(8), '{"name":"Orders","default_data_source":8}');
    assert.equal(entry(null), '{"name":"Orders"}');
  });

  it('is written with each section, and with the name of a variable in place of each secret', () => {
    const writer = new ConfigWriter(catalogue);
    const secret = { keyId: 'k' };
    writer.add('schemas', document('schemas', '40', { name: 'Orders', default_data_source: 7 }));
    writer.add('data_sources', eu);
    for (const id of ['a-b', 'a_b', 'A..b', 'é'])
      writer.add('integrations', document('integrations', id, jwt, secret));
    writer.add('integrations', document('integrations', 'public', jwt));
    writer.add(
      'webhook_endpoints',
      document('webhook_endpoints', 'w', { url: 'https://x.example/' }, secret),
    );
    const variables = { 'a-b': 'A_B', a_b: 'A_B_SECRET_2', 'A..b': 'A_B_SECRET_3', é: '_' };
    const entry = { type: 'jwt', settings: { audience: 'a' } };
    const { integrations, ...rest } = JSON.parse(writer.text);
    assert.deepEqual(rest, {
      version: 1,
      schemas: { 40: { name: 'Orders', default_data_source: 'eu' } },
      data_sources: { eu: { schema_id: '40', name: 'EU', attributes: {} } },
      mapping_policy: { mode: 'off' },
      property_schema: null,
      webhook_endpoints: { w: { url: 'https://x.example/' } },
    });
    assert.deepEqual(integrations, {
      ...Object.fromEntries(
        Object.entries(variables).map(([id, name]) => {
          const environment = `INTEGRATION_${name}${name.includes('SECRET') ? '' : '_SECRET'}`;
          return [id, { ...entry, secret: { environment } }];
        }),
      ),
      public: entry,
    });
  });

  it('has the policy that is stored', () => {
    const writer = new ConfigWriter(catalogue);
    writer.add('mapping_policy', document('mapping_policy', SINGLETON_ID, { mode: 'enforce' }));
    assert.deepEqual(JSON.parse(writer.text).mapping_policy, { mode: 'enforce' });
  });

  it('names the place of an entry, which a policy has without an id', () => {
    assert.deepEqual(pathInConfig('schemas', '40'), ['schemas', '40']);
    assert.deepEqual(pathInConfig('property_schema', SINGLETON_ID), ['property_schema']);
  });

  it('has a plan with the entries before and after', () => {
    const change = { section: 'schemas', id: '40', replacesSecret: false } as const;
    const changes: ConfigChange[] = [
      { ...change, action: 'create', before: null, after: jsonText({ name: 'A' }) },
      { ...change, action: 'delete', before: jsonText({ name: 1.1 }), after: null },
    ];
    const kept = [{ section: 'schemas', id: '41' }] as const;
    assert.deepEqual(planTexts({ version: 3, changes, kept }), {
      changes:
        '[{"section":"schemas","id":"40","action":"create","before":null,"after":{"name":"A"},"replaces_secret":false},' +
        '{"section":"schemas","id":"40","action":"delete","before":{"name":1.1},"after":null,"replaces_secret":false}]',
      kept: '[{"section":"schemas","id":"41"}]',
      config_version: '3',
    });
  });
});

describe('The JSON Schema of the configuration', () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addFormat('date-time', true);
  const check = ajv.compile(configFileSchema);
  const metabase = {
    type: 'metabase',
    settings: { url: 'https://metabase.example.com', resources: [{ dashboard: 7 }] },
  };
  const file = {
    version: 1,
    schemas: { 40: { name: 'Orders', default_data_source: 'eu' } },
    data_sources: { eu: { schema_id: '40', name: 'EU' } },
    integrations: { cube: { type: 'jwt', settings: { audience: 'cube' } }, metabase },
    webhook_endpoints: { crm: { url: 'https://crm.example.com/', event_types: ['*'] } },
  };
  const withSecret = (secret: unknown) => ({ ...file, integrations: { metabase: { ...metabase, secret } } });

  it('accepts what is exported', () => {
    for (const each of [
      { version: 1 },
      file,
      { ...file, config_version: 3 },
      { ...file, mapping_policy: { mode: 'off' }, property_schema: null },
      { ...file, property_schema: { schema: {}, mode: 'report' } },
      withSecret({ environment: 'METABASE_SECRET' }),
      withSecret({ file: 'metabase-secret' }),
      JSON.parse(new ConfigWriter(catalogue).text),
    ])
      assert.ok(check(each), JSON.stringify(check.errors));
  });

  it('refuses a secret, an unknown member and a wrong type', () => {
    for (const each of [
      {},
      { version: 2 },
      withSecret('the-embedding-secret'),
      withSecret({}),
      withSecret({ environment: '' }),
      withSecret({ environment: 'A', file: 'b' }),
      withSecret({ other: 'A' }),
      { ...file, schema: {} },
      { ...file, schemas: { 40: { name: 7 } } },
      { ...file, schemas: { 40: { name: 'Orders', secret: { environment: 'A' } } } },
      { ...file, schemas: null },
      { ...file, mapping_policy: null },
    ])
      assert.ok(!check(each), JSON.stringify(each));
  });

  it('describes each section', () => {
    const { properties } = configFileSchema as { properties: Record<string, { description: string }> };
    assert.deepEqual(Object.keys(properties), ['version', 'config_version', ...sectionNames]);
    for (const { description } of Object.values(properties)) assert.match(description, /^[A-Z].*\.$/);
  });
});
