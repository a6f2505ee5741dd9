// The service as it is run in earnest: some processes, a database, and the way between them.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgres, type TestDatabase } from '../database.ts';
import { createApiToken, Folder, type Service, serve } from '../process.ts';
import { ANSWER_LIMIT_MS, type Call, Callers, callOnce } from './callers.ts';
import { FaultProxy } from './proxy.ts';

/** How long each fault that comes again and again goes on. */
export const FAULT_MS = 1_000 * Number(process.env.FAULT_SECONDS ?? 3);
/** How soon after the database the service is back. */
export const BACK_LIMIT_MS = 5_000;
const POLL_MS = 20;

interface InstallationOptions {
  processes?: number;
  env?: Record<string, string>;
  /** Where there is none, a new database on the server that all tests share. */
  database?: TestDatabase;
  /** Whether the proxy is on the way to the database. */
  proxied?: boolean;
}

export class Installation implements AsyncDisposable {
  readonly folder = new Folder();
  readonly database: TestDatabase;
  readonly proxy: FaultProxy;
  /** The settings of each process. */
  readonly env: Record<string, string>;
  services: Service[] = [];
  readonly #operators: pg.Client[] = [];
  token = '';

  static async start(options: InstallationOptions = {}): Promise<Installation> {
    const { processes = 1, env, database = await postgres.create(), proxied = true } = options;
    const installation = new Installation(database, await FaultProxy.start(database.url), proxied);
    try {
      for (let process = 0; process < processes; process++) await installation.serve(env);
      const { token } = await createApiToken(installation.folder, [], { env: database.env });
      installation.token = token;
      return installation;
    } catch (error) {
      await installation[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(database: TestDatabase, proxy: FaultProxy, proxied: boolean) {
    this.database = database;
    this.proxy = proxy;
    this.env = proxied ? { ...database.env, DATABASE_URL: proxy.url } : database.env;
  }

  /** A session of the database's operator, with no fault on the way. */
  async operator(): Promise<pg.Client> {
    const client = new pg.Client(this.database.url);
    // A server that ends takes this connection along.
    client.on('error', () => {});
    await client.connect();
    this.#operators.push(client);
    return client;
  }

  /** Starts one more process. */
  async serve(env: Record<string, string> = {}): Promise<Service> {
    const service = await serve(this.folder, { env: { ...this.env, ...env } });
    this.services.push(service);
    return service;
  }

  callers(count?: number): Callers {
    return new Callers(this.services, this.token, count);
  }

  call(call: Call): ReturnType<typeof callOnce> {
    return this.callTo(this.services[0]!, call);
  }

  callTo(service: Service, call: Call): ReturnType<typeof callOnce> {
    return callOnce(service, this.token, call);
  }

  get(id: string, name?: string): ReturnType<typeof callOnce> {
    return this.call({ body: { user_group_id: id, ...(name !== undefined && { name }) } });
  }

  put(id: string, name: string, headers: Record<string, string> = {}): ReturnType<typeof callOnce> {
    return this.call({ method: 'PUT', body: { user_group_id: id, name }, headers });
  }

  rotate(token: string): ReturnType<typeof callOnce> {
    return this.call({ method: 'POST', body: { current_token: token } });
  }

  /** Whether each process says that it is ready. */
  async isReady(): Promise<boolean[]> {
    const probe = (service: Service) => callOnce(service, this.token, { path: '/readyz' });
    return (await Promise.all(this.services.map(probe))).map(({ status }) => status === 200);
  }

  /** Waits until no process is ready, while each of them lives. */
  async untilNotReady(): Promise<void> {
    await within(ANSWER_LIMIT_MS, 'readiness to end', async () => !(await this.isReady()).includes(true));
    for (const service of this.services) {
      assert.equal((await callOnce(service, this.token, { path: '/healthz' })).status, 200);
    }
  }

  /** The database is well again: so is each process, soon, for all that callers do. Says how soon. */
  async untilBack(test?: TestContext): Promise<void> {
    const tookMs = await within(BACK_LIMIT_MS, 'the service to be back', async () => {
      if ((await this.isReady()).includes(false)) return false;
      const body = { user_group_id: `back-${performance.now()}`, name: 'Back' };
      const create = (service: Service) => callOnce(service, this.token, { body });
      const answers = await Promise.all(this.services.map(create));
      return answers.every(({ status }) => status === 200);
    });
    test?.diagnostic(`back ${Math.round(tookMs)} ms after the database`);
  }

  /** Ends each process in order: it has lived through everything, and met no mistake of its own. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const service of this.services) service.signal('SIGTERM');
      for (const service of this.services) {
        const { code, stdout, stderr } = await service.exit();
        assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
        assert.doesNotMatch(stdout, /internal_error|"level":60/);
      }
    } finally {
      for (const service of this.services) await service.kill();
      for (const operator of this.#operators) await operator.end();
      await this.proxy[Symbol.asyncDispose]();
      await this.database.drop();
      this.folder[Symbol.dispose]();
    }
  }
}

/** Polls until the probe says yes, which has to be within the limit. Returns the milliseconds that it took. */
export async function within(limitMs: number, what: string, probe: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  while (!(await probe())) {
    assert.ok(performance.now() - startedAt < limitMs, `waited ${limitMs} ms for ${what}`);
    await sleep(POLL_MS);
  }
  return performance.now() - startedAt;
}
