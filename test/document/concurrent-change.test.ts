// Results and effects of a replacement whose document changes between its query and its command.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { Caller } from '../../src/domain/api-token.ts';
import { type DocumentDefinition, documentTag, SINGLETON_ID } from '../../src/domain/document.ts';
import { integrationBody } from '../../src/domain/embed-token/embed-token.ts';
import { integrationDefinition } from '../../src/domain/integration.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { propertySchemaDefinition } from '../../src/domain/property-schema/property-schema.ts';
import { digestOfApiToken } from '../../src/domain/token.ts';
import { webhookEndpointDefinition } from '../../src/domain/webhook-endpoint/webhook-endpoint.ts';
import { authenticate } from '../../src/operations/api-token/authenticate.ts';
import type { Context } from '../../src/operations/context.ts';
import { deleteDocument, readDocument } from '../../src/operations/document/document.ts';
import { putIntegration } from '../../src/operations/integration/integration.ts';
import { putPropertySchema } from '../../src/operations/property-schema/put.ts';
import { disableEndpoint } from '../../src/operations/webhook-endpoint/delivery.ts';
import {
  openSecrets,
  putWebhookEndpoint,
  rotateWebhookSecret,
} from '../../src/operations/webhook-endpoint/webhook-endpoint.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { integrations } from '../support/embed-token/site.ts';
import { intercept } from '../support/intercept.ts';
import { TestService } from '../support/service.ts';

const REPLACEMENTS = 8;

describeOnEachDatabase('A document that is changed concurrently', (database) => {
  const service = TestService.of(database);
  let token: string;
  before(async () => {
    token = (await service.apiToken({ permission: 'admin' })).token;
  });

  const put = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.call('PUT', `/v1/${path}`, body, { token, headers });
  const currentCaller = () => authenticate(service.app.context, digestOfApiToken(token));

  const withoutSecret = () => {
    const { secret: _, ...fields } = integrations.lightdash;
    return integrationBody.read(Buffer.from(JSON.stringify(fields)));
  };

  /**
   * Returns the context of an operation, and deletes the document before the operation writes it.
   */
  function deletedBefore(caller: Caller, definition: DocumentDefinition, id: string): Context {
    const { context } = service.app;
    const store = intercept(context.store, {
      kind: 'putDocument',
      firstWrite: async (command, real) => {
        await deleteDocument(context, caller, definition, id, undefined);
        return real.write(command);
      },
    });
    return { ...context, store };
  }

  it('is replaced once by concurrent calls that name the same version', async () => {
    const { headers } = await put('schemas/40', { name: 'First' });
    const replacements = Array.from({ length: REPLACEMENTS }, (_, index) =>
      put('schemas/40', { name: `Replacement ${index}` }, { 'if-match': headers.etag! }),
    );
    const statuses = (await Promise.all(replacements)).map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, ...Array.from({ length: REPLACEMENTS - 1 }, () => 412)]);
  });

  it('gets a new secret if it is a webhook endpoint that is deleted while it is being replaced', async () => {
    const definition = webhookEndpointDefinition;
    const fields = { url: 'https://example.com/hooks', event_types: ['*'] };
    const { json } = await put('webhook-endpoints/hook', fields);
    const caller = await currentCaller();
    const context = deletedBefore(caller, definition, 'hook');
    const body = { url: fields.url, event_types: ['*' as const], enabled: false };
    const { created, secret } = await putWebhookEndpoint(context, caller, 'hook', body, undefined);
    assert.ok(created);
    const stored = await readDocument(context, await currentCaller(), definition, 'hook');
    assert.equal(secret?.reveal(), openSecrets(context, stored).current.reveal());
    assert.notEqual(secret?.reveal(), json.secret);
  });

  it('is created, with an event that says so, if it is deleted while it is being replaced', async () => {
    const sent = { schema: '{"type":"object"}' as JsonText, mode: 'report' } as const;
    await put('property-schema', { schema: { type: 'object' }, mode: 'off' });
    const caller = await currentCaller();
    const context = deletedBefore(caller, propertySchemaDefinition, SINGLETON_ID);
    const { created } = await putPropertySchema(context, caller, SINGLETON_ID, sent, undefined);
    assert.ok(created);
    const events = await service.eventsAbout({ type: 'property_schema', id: SINGLETON_ID });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['property_schema.created', 'property_schema.deleted', 'property_schema.created'],
    );
  });

  it('gets no deliveries of the deleted one if it is a webhook endpoint', async () => {
    const fields = { url: 'https://example.com/hooks', event_types: ['user_group.created' as const] };
    await put('webhook-endpoints/receiver', fields);
    const created = { user_group_id: 'delivered', name: 'Delivered' };
    await service.call('POST', '/v1/user-groups', created, { token });
    const caller = await currentCaller();
    const context = deletedBefore(caller, webhookEndpointDefinition, 'receiver');
    await putWebhookEndpoint(context, caller, 'receiver', { ...fields, enabled: true }, undefined);
    const path = '/v1/webhook-endpoints/receiver/deliveries';
    assert.deepEqual((await service.call('GET', path, undefined, { token })).json.deliveries, []);
  });

  it('keeps the secret of another rotation if it is a webhook endpoint', async () => {
    await put('webhook-endpoints/rotated', { url: 'https://example.com/hooks', event_types: ['*'] });
    const caller = await currentCaller();
    const { context } = service.app;
    let secret: unknown;
    const rotate = () => service.call('POST', '/v1/webhook-endpoints/rotated/rotate', undefined, { token });
    const store = intercept(context.store, {
      firstWrite: async (command, real) => {
        ({ secret } = (await rotate()).json);
        return real.write(command);
      },
    });
    await assert.rejects(rotateWebhookSecret({ ...context, store }, caller, 'rotated', undefined), {
      code: 'version_mismatch',
    });
    const stored = await readDocument(context, await currentCaller(), webhookEndpointDefinition, 'rotated');
    assert.equal(openSecrets(context, stored).current.reveal(), secret);
  });

  it('is not disabled if it is a webhook endpoint that gets another URL meanwhile', async () => {
    const fields = { url: 'https://example.com/failing', event_types: ['*'] };
    await put('webhook-endpoints/moved', fields);
    const caller = await currentCaller();
    const { workspaceId, environment } = caller;
    const { context } = service.app;
    const failing = await readDocument(context, caller, webhookEndpointDefinition, 'moved');
    const repaired = () => put('webhook-endpoints/moved', { ...fields, url: 'https://example.com/repaired' });
    const store = intercept(context.store, { afterFirstRead: repaired });
    const endpoint = { workspaceId, environment, endpointId: 'moved' };
    assert.equal(await disableEndpoint({ ...context, store }, endpoint, documentTag(failing)), false);
    const { json } = await service.call('GET', '/v1/webhook-endpoints/moved', undefined, { token });
    assert.equal(json.webhook_endpoint.enabled, true);
  });

  it('is not created again without its secret if it is an integration that is deleted while it is being replaced', async () => {
    await put('integrations/tool', integrations.lightdash);
    const caller = await currentCaller();
    const context = deletedBefore(caller, integrationDefinition, 'tool');
    await assert.rejects(putIntegration(context, caller, 'tool', withoutSecret(), undefined), {
      code: 'invalid_request',
    });
    const read = await service.call('GET', '/v1/integrations/tool', undefined, { token });
    assert.equal(read.status, 404);
  });

  it('does not keep the secret of another tool if it is an integration that gets another type meanwhile', async () => {
    await put('integrations/changed', integrations.lightdash);
    const caller = await currentCaller();
    const { context } = service.app;
    const store = intercept(context.store, {
      firstWrite: async (command, real) => {
        await put('integrations/changed', integrations.metabase);
        return real.write(command);
      },
    });
    await assert.rejects(
      putIntegration({ ...context, store }, caller, 'changed', withoutSecret(), undefined),
      { code: 'invalid_request' },
    );
    const { json } = await service.call('GET', '/v1/integrations/changed', undefined, { token });
    assert.equal(json.integration.type, 'metabase');
  });
});
