// Changes the catalogue, the policies, the property schema and the integrations through one process while
// callers depend on them through others, repeatedly: every request sent after a change was acknowledged must
// see it.

import { randomUUID } from 'node:crypto';
import { send, type TestResponse } from '../test/support/http.ts';
import { PromiseBroken } from './support/ledger.ts';
import { Random } from './support/random.ts';
import { request, type Site, whileServing } from './support/serving.ts';
import {
  count,
  noTrials,
  runTrial,
  type Subject,
  type TrialFigures,
  type Trials,
  type TrialsOptions,
} from './support/trial.ts';

/** Throws `PromiseBroken`. */
export function catalogue({ kind, processes, ...options }: TrialsOptions): Promise<TrialFigures> {
  return whileServing({ kind, processes }, ({ site }) => changeConfig({ ...options, ...site }));
}

/** Runs the trials with running processes. */
export async function changeConfig({ trials, seed, onTrial, ...site }: Site & Trials): Promise<TrialFigures> {
  const random = new Random(seed);
  const figures = noTrials();
  while (figures.trials < trials) {
    const name = random.pick(changes);
    const subject = await subjects[name](new Environment(site, random));
    count(figures, await runTrial({ name, subject, urls: site.urls, random }));
    onTrial(figures.trials);
  }
  return figures;
}

/**
 * Changes by name. Each creates what it needs, and returns a state of the configuration that the change ends.
 */
const subjects = {
  'data source created': async (env) => {
    const { schema, source, resolve } = await env.mappedGroup();
    return {
      use: resolve((json) => json.unresolved.length === 1),
      end: () => env.putSource(source, schema, 'new'),
      discard: () => env.dropAll([`/v1/data-sources/${source}`, `/v1/schemas/${schema}`]),
    };
  },
  'data source changed': async (env) => {
    const { schema, source, resolve } = await env.mappedGroup();
    await env.putSource(source, schema, 'old');
    return {
      use: resolve((json) => isOld(json.data_sources[schema].attributes.host)),
      end: () => env.putSource(source, schema, 'new'),
      discard: () => env.dropAll([`/v1/data-sources/${source}`, `/v1/schemas/${schema}`]),
    };
  },
  'data source deleted': async (env) => {
    const { schema, source, resolve } = await env.mappedGroup();
    await env.putSource(source, schema, 'old');
    return {
      use: resolve((json) => schema in json.data_sources),
      end: () => env.drop(`/v1/data-sources/${source}`),
      discard: () => env.drop(`/v1/schemas/${schema}`),
    };
  },
  'data source reserved for another group': async (env) => {
    const { id, schema, source, resolve } = await env.mappedGroup();
    await env.putSource(source, schema, 'old');
    return {
      use: resolve((json) => schema in json.data_sources),
      // Also maps the group to the data source again: data must not be returned in either order.
      end: () =>
        Promise.all([
          env.putSource(source, schema, 'new', { user_group_id: randomUUID() }),
          env.call('PATCH', `/v1/user-groups/${id}`, { mapping: { [schema]: source } }),
        ]),
      discard: () => env.dropAll([`/v1/data-sources/${source}`, `/v1/schemas/${schema}`]),
    };
  },
  'reservation moved to the group': async (env) => {
    const { id, schema, source, resolve } = await env.mappedGroup();
    await env.putSource(source, schema, 'old', { user_group_id: randomUUID() });
    return {
      use: resolve((json) => json.unresolved.length === 1),
      end: () => env.putSource(source, schema, 'new', { user_group_id: id }),
      discard: () => env.dropAll([`/v1/data-sources/${source}`, `/v1/schemas/${schema}`]),
    };
  },
  'default of a schema changed': async (env) => {
    const { schema, source, resolve } = await env.mappedGroup({ isMapped: false });
    const sources = { old: source, new: `new-${source}` };
    await env.putSource(sources.old, schema, 'old');
    await env.putSource(sources.new, schema, 'new');
    await env.putSchema(schema, sources.old);
    return {
      use: resolve((json) => isOld(json.data_sources[schema].attributes.host)),
      end: () => env.putSchema(schema, sources.new),
      discard: () =>
        env.dropAll([
          ...Object.values(sources).map((id) => `/v1/data-sources/${id}`),
          `/v1/schemas/${schema}`,
        ]),
    };
  },
  'mapping policy enforced': async (env) => {
    const update = await env.updates((number) => ({ mapping: { none: `gone-${number}` } }));
    return {
      use: async (url) => isAccepted(await update(url), 'mapping_invalid'),
      end: () => env.setPolicy('enforce'),
      discard: () => env.setPolicy('off'),
    };
  },
  'mapping policy relaxed': async (env) => {
    const update = await env.updates((number) => ({ mapping: { none: `gone-${number}` } }));
    await env.setPolicy('enforce');
    return {
      use: async (url) => not(isAccepted(await update(url), 'mapping_invalid')),
      end: () => env.setPolicy('report'),
      discard: () => env.setPolicy('off'),
    };
  },
  'property schema changed': async (env) => {
    const update = await env.updates((number) => ({ properties: { plan: 'old', number } }));
    await env.putPropertySchema('old');
    return {
      use: async (url) => isAccepted(await update(url), 'properties_invalid'),
      end: () => env.putPropertySchema('new'),
      discard: () => env.call('DELETE', '/v1/property-schema'),
    };
  },
  'property schema deleted': async (env) => {
    const update = await env.updates((number) => ({ properties: { plan: 'new', number } }));
    await env.putPropertySchema('old');
    return {
      use: async (url) => not(isAccepted(await update(url), 'properties_invalid')),
      end: () => env.call('DELETE', '/v1/property-schema'),
    };
  },
  'integration changed': async (env) => {
    const { id, mint } = await env.integration();
    return {
      use: async (url) => {
        const { status, json } = await mint(url);
        if (status === 503) return null;
        if (status !== 201) throw unexpected('an embed token', status, json);
        return isOld(claimOf(json.embed_token.token));
      },
      end: () => env.putIntegration(id, 'new'),
      discard: () => env.call('DELETE', `/v1/integrations/${id}`),
    };
  },
  'integration deleted': async (env) => {
    const { id, mint } = await env.integration();
    return {
      use: async (url) => isAccepted(await mint(url), 'not_found'),
      end: () => env.call('DELETE', `/v1/integrations/${id}`),
    };
  },
} satisfies Record<string, (environment: Environment) => Promise<Subject>>;

const changes = Object.keys(subjects) as (keyof typeof subjects)[];

/** Creates the objects of the trials in the environment of the API token. */
class Environment {
  readonly #site: Site;
  readonly #random: Random;

  constructor(site: Site, random: Random) {
    this.#site = site;
    this.#random = random;
  }

  call(...args: [method: string, path: string, body?: object]): Promise<TestResponse['json']> {
    return request(this.#site, this.#random, args);
  }

  async dropAll(paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.drop(path);
  }

  /** Deletes the object even while it is in use. */
  drop(path: string): Promise<unknown> {
    return this.call('DELETE', `${path}?force=true`);
  }

  putSchema(id: string, default_data_source: string | null = null): Promise<unknown> {
    return this.call('PUT', `/v1/schemas/${id}`, { name: 'Trial', default_data_source });
  }

  putSource(id: string, schema_id: string, host: string, more: object = {}): Promise<unknown> {
    const body = { schema_id, name: 'Trial', attributes: { host }, ...more };
    return this.call('PUT', `/v1/data-sources/${id}`, body);
  }

  setPolicy(mode: string): Promise<unknown> {
    return this.call('PUT', '/v1/mapping-policy', { mode });
  }

  /** Accepts a single plan. */
  putPropertySchema(plan: string): Promise<unknown> {
    const schema = { properties: { plan: { const: plan } } };
    return this.call('PUT', '/v1/property-schema', { schema, mode: 'enforce' });
  }

  putIntegration(id: string, constant: string): Promise<unknown> {
    return this.call('PUT', `/v1/integrations/${id}`, {
      type: 'jwt',
      settings: { audience: 'rig' },
      claims: { state: { constant } },
    });
  }

  /** Creates a schema, and a user group that is mapped to a data source of it that does not exist. */
  async mappedGroup({ isMapped = true } = {}) {
    const [schema, source] = [`schema-${randomUUID()}`, `source-${randomUUID()}`];
    await this.putSchema(schema);
    const { token, provided_id: id } = await this.#group({ mapping: isMapped ? { [schema]: source } : null });
    const resolve =
      (read: (json: TestResponse['json']) => boolean): Subject['use'] =>
      async (url) => {
        const { status, json } = await this.#send(url, 'POST', '/v1/resolve', { token });
        if (status === 503) return null;
        if (status !== 200) throw unexpected('resolve', status, json);
        return read(json);
      };
    return { id, schema, source, resolve };
  }

  /** Returns a function that updates a user group, each time with different fields. */
  async updates(fieldsOf: (number: number) => object): Promise<(url: string) => Promise<TestResponse>> {
    const { provided_id: user_group_id } = await this.#group({});
    let number = 0;
    return (url) => this.#send(url, 'PUT', '/api/user', { user_group_id, ...fieldsOf(++number) });
  }

  async integration() {
    const id = randomUUID();
    await this.putIntegration(id, 'old');
    const { provided_id: user_group_id } = await this.#group({});
    const mint = (url: string) =>
      this.#send(url, 'POST', '/v1/embed-tokens', { integration: id, user_group_id });
    return { id, mint };
  }

  async #group(fields: object): Promise<{ token: string; provided_id: string }> {
    const body = { user_group_id: randomUUID(), name: 'Trial', ...fields };
    return (await this.call('POST', '/v1/user-groups', body)).user_group;
  }

  #send(url: string, method: string, path: string, body: object): Promise<TestResponse> {
    return send(url, { method, path, token: this.#site.token, body });
  }
}

/** Whether a call succeeded instead of being refused with the code; null if the process is overloaded. */
function isAccepted({ status, json }: TestResponse, code: string): boolean | null {
  if (status === 503) return null;
  if (status < 300) return true;
  if (json.code === code) return false;
  throw unexpected('a use', status, json);
}

function not(answer: boolean | null): boolean | null {
  return answer === null ? null : !answer;
}

function isOld(state: unknown): boolean {
  if (state === 'old' || state === 'new') return state === 'old';
  throw new PromiseBroken(`neither the old nor the new state, but ${JSON.stringify(state)}`);
}

function claimOf(jwt: string): unknown {
  return JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()).state;
}

function unexpected(what: string, status: number, json: TestResponse['json']): PromiseBroken {
  return new PromiseBroken(`${what} returned ${status} ${json?.code}`);
}
