// A production-like installation: several processes, a database, and a network proxy between them.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import pg from 'pg';
import { postgres, type TestDatabase } from '../database.ts';
import { createApiToken, eventually, Folder, type Service, serve } from '../process.ts';
import { type Call, Callers, callOnce, RESPONSE_LIMIT_MS } from './callers.ts';
import { FaultProxy } from './proxy.ts';

/** Duration of each repeated fault. */
export const FAULT_MS = 1_000 * Number(process.env.FAULT_SECONDS ?? 3);
/** Maximum time from the recovery of the database to that of the service, on a machine that is not busy. */
export const RECOVERY_LIMIT_MS = 5_000;

interface InstallationOptions {
  processes?: number;
  env?: Record<string, string>;
  /** Database; by default a new one on the shared test server. */
  database?: TestDatabase;
  /** Whether the processes connect through the proxy. */
  proxied?: boolean;
}

export class Installation implements AsyncDisposable {
  readonly folder = new Folder();
  readonly database: TestDatabase;
  readonly proxy: FaultProxy;
  /** Settings of each process. */
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

  /** Opens a direct session of the database operator, without faults. */
  async operator(): Promise<pg.Client> {
    const client = new pg.Client(this.database.url);
    // A stopped server closes this connection too.
    client.on('error', () => {});
    await client.connect();
    this.#operators.push(client);
    return client;
  }

  /** Starts another process. */
  async serve(env: Record<string, string> = {}): Promise<Service> {
    const service = await serve(this.folder, { env: { ...this.env, ...env } });
    this.services.push(service);
    return service;
  }

  /** Stops the process that was started last, as the end of the installation does with the others. */
  async stopLast(): Promise<void> {
    const service = this.services.at(-1)!;
    service.signal('SIGTERM');
    await assertExited(service);
    // Until here, the end of the installation would kill it.
    this.services.pop();
  }

  /** Polls as `within` does, on a busy machine for longer. */
  within(limitMs: number, what: string, probe: () => Promise<boolean>): Promise<number> {
    return within(limitMs + Math.max(0, ...this.services.map(({ busyMs }) => busyMs)), what, probe);
  }

  callers(count?: number, pauseMs?: number): Callers {
    return new Callers(this.services, this.token, count, pauseMs);
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

  rotate(token: string, headers: Record<string, string> = {}): ReturnType<typeof callOnce> {
    return this.call({ method: 'POST', body: { current_token: token }, headers });
  }

  /** Returns whether each process reports ready. */
  async isReady(): Promise<boolean[]> {
    const probe = (service: Service) => callOnce(service, this.token, { path: '/readyz' });
    return (await Promise.all(this.services.map(probe))).map(({ status }) => status === 200);
  }

  /** Waits until no process is ready, and checks that all of them are alive. */
  async waitUntilNotReady(): Promise<void> {
    await this.within(
      RESPONSE_LIMIT_MS,
      'the processes to be not ready',
      async () => !(await this.isReady()).includes(true),
    );
    for (const service of this.services) {
      assert.equal((await callOnce(service, this.token, { path: '/healthz' })).status, 200);
    }
  }

  /**
   * Waits, after the recovery of the database, until every process serves all calls, and reports the
   * duration.
   */
  async waitForRecovery(test?: TestContext): Promise<void> {
    const tookMs = await this.within(RECOVERY_LIMIT_MS, 'the service to recover', async () => {
      if ((await this.isReady()).includes(false)) return false;
      const body = { user_group_id: `back-${performance.now()}`, name: 'Back' };
      const create = (service: Service) => callOnce(service, this.token, { body });
      const responses = await Promise.all(this.services.map(create));
      return responses.every(({ status }) => status === 200);
    });
    test?.diagnostic(`recovered ${Math.round(tookMs)} ms after the database`);
  }

  /** Stops each process, and checks that it exits cleanly and has logged no internal error. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const service of this.services) service.signal('SIGTERM');
      for (const service of this.services) await assertExited(service);
    } finally {
      // If the output is refused, the rest still has to be closed, or the file of the test would never end.
      for (const service of this.services) await service.kill().catch(() => {});
      for (const operator of this.#operators) await operator.end();
      await this.proxy[Symbol.asyncDispose]();
      await this.database.drop();
      this.folder[Symbol.dispose]();
    }
  }
}

/** Checks that the process exits cleanly and has logged no internal error. */
async function assertExited(service: Service): Promise<void> {
  const { code, stdout, stderr } = await service.exit();
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.doesNotMatch(stdout, /internal_error|"level":60/);
}

/**
 * Polls until the probe returns true, which must happen within the limit. Returns the duration in
 * milliseconds.
 */
export async function within(limitMs: number, what: string, probe: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  await eventually(what, probe, limitMs);
  return performance.now() - startedAt;
}
