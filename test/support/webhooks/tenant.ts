// A caller that has webhook endpoints.

import assert from 'node:assert/strict';
import type { TestResponse } from '../http.ts';
import { eventually, served } from '../process.ts';
import type { TestService } from '../service.ts';

export const PATH = '/v1/webhook-endpoints';
export const env = { UGS_WEBHOOK_ALLOW_PRIVATE: 'on' };
export interface TestDelivery {
  event_id: string;
  event_type: string;
  state: string;
  attempts: number;
  next_attempt_at: string | null;
  response_status: number | null;
  error: string | null;
}

/** Advances the clock of the service, and sends the deliveries that are due then. */
export async function advance(service: TestService, ms: number): Promise<void> {
  service.clockAheadMs += ms;
  await service.app.webhooks.poll();
}

/** Workspace with an admin token. */
export class Tenant {
  readonly #service: TestService;
  readonly token: string;

  static async create(service: TestService, workspaceName: string): Promise<Tenant> {
    const { token } = await service.apiToken({ permission: 'admin', workspaceName });
    return new Tenant(service, token);
  }

  constructor(service: TestService, token: string) {
    this.#service = service;
    this.token = token;
  }

  call(method: string, path: string, body?: unknown, service = this.#service): Promise<TestResponse> {
    return service.call(method, path, body, { token: this.token });
  }

  /** Creates or replaces an endpoint; returns its secret. */
  async endpoint(id: string, url: string, types = ['user_group.created']): Promise<string> {
    const endpoint = { url, event_types: types };
    const { json, status } = await served(() => this.call('PUT', `${PATH}/${id}`, endpoint));
    assert.ok(status === 201 || status === 200, JSON.stringify(json));
    return json.secret;
  }

  async createGroup(id: string, service = this.#service): Promise<void> {
    const create = () => this.call('POST', '/v1/user-groups', { user_group_id: id, name: id }, service);
    const response = await served(create);
    assert.ok(response.status === 201 || response.status === 200, response.text);
  }

  async deliveries(id: string): Promise<TestDelivery[]> {
    const { json } = await served(() => this.call('GET', `${PATH}/${id}/deliveries`));
    return json.deliveries;
  }

  /** Waits until the newest delivery meets the condition. */
  waitFor(id: string, isMet: (delivery: TestDelivery) => boolean): Promise<TestDelivery> {
    return eventually(`a delivery with ${isMet}`, async () => {
      const [newest] = await this.deliveries(id);
      return newest !== undefined && isMet(newest) && newest;
    });
  }

  /** Waits until the service has disabled the endpoint, which happens after the failed delivery. */
  async waitUntilDisabled(id: string): Promise<void> {
    await eventually('the endpoint to be disabled', async () => {
      const { json } = await served(() => this.call('GET', `${PATH}/${id}`));
      return !json.webhook_endpoint.enabled;
    });
  }
}
