// A workspace with an admin token, which the rig and the attacker prepare.

import { mapConcurrently, send, type TestResponse } from '../../test/support/http.ts';
import type { KnownGroup } from '../support/call.ts';
import { requestBytes } from '../support/connection.ts';

export interface TenantSite {
  url: string;
  apiToken: string;
}

export class Tenant {
  readonly url: string;
  readonly apiToken: string;

  constructor({ url, apiToken }: TenantSite) {
    this.url = url;
    this.apiToken = apiToken;
  }

  /** Returns the bytes of a request with the API token. */
  request(method: string, path: string, body?: string, headers: readonly string[] = []): Uint8Array {
    return requestBytes({ method, path, apiToken: this.apiToken, body, headers });
  }

  /**
   * Sends a request that must succeed, although a busy service may reject it at first. Returns the JSON of
   * the response.
   */
  async call(method: string, path: string, body?: unknown): Promise<TestResponse['json']> {
    const { status, json } = await this.#send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} returned ${status} ${json?.code}: ${json?.detail}`);
    return json;
  }

  /** Returns the cookie of a new session of the console. */
  async signIn(): Promise<string> {
    const signIn = {
      method: 'POST',
      path: '/console/sign-in',
      body: `api_token=${this.apiToken}`,
      headers: { origin: this.url, 'content-type': 'application/x-www-form-urlencoded' },
    };
    let response: TestResponse;
    do response = await send(this.url, signIn);
    while (response.status === 503);
    return response.headers['set-cookie']![0]!.split(';', 1)[0]!;
  }

  /** Stores as many of the documents as the limits of the service allow. */
  async putAllowed(paths: readonly string[], bodyOf: (index: number) => unknown): Promise<void> {
    await mapConcurrently(paths, async (path, index) => {
      const { status, json } = await this.#send('PUT', path, bodyOf(index));
      if (status >= 300 && json?.code !== 'limit_reached') throw new Error(`PUT ${path} returned ${status}`);
    });
  }

  async #send(method: string, path: string, body: unknown): Promise<TestResponse> {
    let response: TestResponse;
    do response = await send(this.url, { method, path, token: this.apiToken, body });
    while (response.status === 503);
    return response;
  }

  /** Stores user groups, and returns them with their tokens. */
  storeGroups(
    count: number,
    fieldsOf: (index: number) => object = () => ({}),
    prefix = 'group',
  ): Promise<KnownGroup[]> {
    return mapConcurrently(namesOf(prefix, count), async (id, index) => {
      const body = { name: `Group ${index}`, ...fieldsOf(index) };
      const { user_group } = await this.call('PUT', `/v1/user-groups/${id}`, body);
      return { id, token: user_group.token, rotatedId: id };
    });
  }
}

export function namesOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}
