// Contract: every field of a document is stored, returned, recorded, part of the configuration, and kept by the console.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DocumentDefinition } from '../../src/domain/document.ts';
import { dataSources } from '../../src/http/endpoints/catalogue/data-source.ts';
import { schemas } from '../../src/http/endpoints/catalogue/schema.ts';
import { integrations } from '../../src/http/endpoints/integration/integration.ts';
import { webhookEndpoints } from '../../src/http/endpoints/webhook-endpoint/endpoint.ts';
import { newWorkspace } from '../support/console.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';

type Kind = Exclude<DocumentDefinition['kind'], 'mapping_policy' | 'property_schema'>;

/** The API of each kind that has many documents, and its path in the console. */
const kinds = {
  data_source: [dataSources, 'catalogue/data-sources'],
  schema: [schemas, 'catalogue/schemas'],
  integration: [integrations, 'integrations'],
  webhook_endpoint: [webhookEndpoints, 'webhooks'],
} as const satisfies Record<Kind, unknown>;
/** A field of requests only, which some types of integration require. */
const SECRET = { secret: 'The-secret_of.the+tool/0123456789abcdef' };

describe('Every field of a document', () => {
  const service = TestService.of(sqlite);

  for (const [{ kind }, consolePath] of Object.values(kinds)) {
    const { kind: member, noun } = kind.definition;

    it(`is stored, returned, recorded, exported and kept by a form: ${noun}`, async () => {
      const { browser, call } = await newWorkspace(service);
      const { secret, ...fields } = kind.body.schema!.properties as Record<string, { default?: unknown }>;
      const sent: Record<string, unknown> = {};
      for (const [name, { default: fallback = null }] of Object.entries(fields)) {
        sent[name] = typeof fallback === 'boolean' ? !fallback : (kind.example[name] ?? null);
        assert.notDeepEqual(sent[name], fallback, `the example has the default of ${name}`);
      }

      const path = `/v1/${member.replaceAll('_', '-')}s/x`;
      const created = await call('PUT', path, { ...sent, ...(secret && SECRET) });
      assert.equal(created.status, 201, created.text);
      const stored = async () => (await call('GET', path)).json[member];
      const before = await stored();
      for (const name of Object.keys(sent)) assert.deepEqual(before[name], sent[name], name);

      const [event] = (await call('GET', `/v1/events?type=${member}.created`)).json.events;
      for (const name of Object.keys(sent)) assert.ok(name in event.changes, name);

      const { secret: _, ...entry } = (await call('GET', '/v1/config')).json.config[`${member}s`].x;
      assert.deepEqual(entry, sent);

      const page = `/console/${consolePath}/x/edit`;
      const saved = await browser.submit(page, page, { confirmed: 'on' });
      assert.equal(saved.status, 303, saved.text);
      assert.deepEqual(await stored(), before);
    });
  }
});
