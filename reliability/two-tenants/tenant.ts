// A workspace with an admin token, as the rig and the attacker prepare it.

import { mapConcurrently, send, type TestResponse } from '../../test/support/http.ts';
import type { KnownGroup } from '../call.ts';
import { requestBytes } from '../connection.ts';

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

  /** The bytes of a request with the API token. */
  request(method: string, path: string, body?: string, headers: readonly string[] = []): Uint8Array {
    return requestBytes({ method, path, apiToken: this.apiToken, body, headers });
  }

  /** Sends a request that must succeed; a busy service rejects it at first. Returns the JSON of the response. */
  async call(method: string, path: string, body?: unknown): Promise<TestResponse['json']> {
    let response: TestResponse;
    do response = await send(this.url, { method, path, token: this.apiToken, body });
    while (response.status === 503);
    const { status, json } = response;
    if (status >= 300) throw new Error(`${method} ${path} returned ${status} ${json?.code}: ${json?.detail}`);
    return json;
  }

  putAll(paths: readonly string[], bodyOf: (index: number) => unknown): Promise<unknown> {
    return mapConcurrently(paths, (path, index) => this.call('PUT', path, bodyOf(index)));
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
