// One service, as a process on SQLite, scraped by a Prometheus.

import { join } from 'node:path';
import { freePort } from '../../test/support/connection/free-port.ts';
import type { TestResponse } from '../../test/support/http.ts';
import { createApiToken, Folder, run, type Service, serve } from '../../test/support/process.ts';
import { Prometheus } from '../../test/support/prometheus.ts';
import { runSql } from '../../test/support/sql.ts';

const SCRAPE_MS = 15_000;

interface SiteOptions {
  env?: Record<string, string> | undefined;
  /** Targets of Prometheus besides the process. */
  targets?: readonly string[] | undefined;
  /** Divisor of the durations of the rules and of the scrape interval. */
  speed: number;
}

export class Site implements AsyncDisposable {
  readonly #folder: Folder;
  readonly #env: Record<string, string>;
  readonly metricsAddress: string;
  readonly token: string;
  readonly prometheus: Prometheus;
  service: Service;
  #created = 0;

  static async start(options: SiteOptions): Promise<Site> {
    const folder = new Folder();
    const metricsAddress = `127.0.0.1:${await freePort()}`;
    const env = { UGS_METRICS_ADDRESS: metricsAddress, UGS_WEBHOOK_ALLOW_PRIVATE: 'on', ...options.env };
    const { token } = await createApiToken(folder, ['--permission', 'admin']);
    await run(folder, ['backup', 'backup.db']);
    const service = await serve(folder, { env });
    const prometheus = await Prometheus.start({
      targets: [metricsAddress, ...(options.targets ?? [])],
      scrapeMs: SCRAPE_MS / options.speed,
      speed: options.speed,
    });
    return new Site({ folder, env, metricsAddress, token, service, prometheus });
  }

  private constructor(parts: Pick<Site, 'metricsAddress' | 'token' | 'service' | 'prometheus'> & Place) {
    this.#folder = parts.folder;
    this.#env = parts.env;
    this.metricsAddress = parts.metricsAddress;
    this.token = parts.token;
    this.service = parts.service;
    this.prometheus = parts.prometheus;
  }

  get database(): string {
    return this.#folder.join('data', 'user-groups.db');
  }

  path(name: string): string {
    return join(this.#folder.path, name);
  }

  async restart(env: Record<string, string> = {}): Promise<void> {
    await this.service.kill();
    this.service = await serve(this.#folder, { env: { ...this.#env, ...env } });
  }

  call(method: string, path: string, body?: unknown): Promise<TestResponse> {
    return this.service.call(this.token, method, path, body);
  }

  create(fields: object = {}): Promise<TestResponse> {
    const id = `group-${this.#created++}`;
    return this.call('PUT', `/v1/user-groups/${id}`, { name: id, ...fields });
  }

  putEndpoint(id: string, url: string): Promise<TestResponse> {
    return this.call('PUT', `/v1/webhook-endpoints/${id}`, { url, event_types: ['*'] });
  }

  sql(statement: string): Promise<unknown> {
    return runSql({ url: `sqlite:${this.database}` }, statement);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.prometheus[Symbol.asyncDispose]();
    await this.service.kill();
    this.#folder[Symbol.dispose]();
  }
}

interface Place {
  folder: Folder;
  env: Record<string, string>;
}
