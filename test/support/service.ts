// Runs the real service for a test, on a real database and a real port, with a clock that the test controls.

import { resolve } from 'node:path';
import { after, before } from 'node:test';
import { pino } from 'pino';
import { type App, startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createDemoPatiently } from '../../src/demo/create.ts';
import { operator } from '../../src/domain/api-token.ts';
import type { EventTarget, StoredEvent } from '../../src/domain/event/event.ts';
import { redact } from '../../src/domain/secret.ts';
import type { Environment } from '../../src/domain/tenant.ts';
import {
  createApiToken,
  findApiTokenById,
  type NewApiToken,
  revokeApiToken,
} from '../../src/operations/api-token/api-token.ts';
import { importLine } from '../../src/operations/user-group/import.ts';
import type { LineResult } from '../../src/operations/user-group/line-result.ts';
import { ensureWorkspace } from '../../src/operations/workspace/workspace.ts';
import { SharedClock } from '../../src/scheduling/shared-clock.ts';
import './built-threads.ts';
import type { DatabaseKind, TestDatabase } from './database.ts';
import { watch } from './exposure.ts';
import { send, type TestRequest, type TestResponse } from './http.ts';
import { admitted, eventually, type Folder, refuseSplitBatch, type Service } from './process.ts';

export interface TestServiceOptions {
  /** Settings by environment variable. */
  env?: Record<string, string>;
  /** Existing database, such as that of another process. */
  database?: TestDatabase;
  /** Whether calls return each 503; otherwise they are repeated until the service admits them, see `admitted`. */
  returnsOverloaded?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: members differ by line.
export type LogEntry = any;

interface ImportOptions {
  workspace?: string;
  environment?: Environment;
  replaces?: boolean;
}

/** Service that a test calls, in its own process or in another. */
export type Callable = Pick<Service, 'call'>;

/**
 * Serves an existing database in the process of the tests, without the API token that a `TestService`
 * creates, for a test of what the database contains. Paths in the settings are relative to the folder, which
 * contains the default database.
 */
export async function serveHere(
  folder: Folder,
  { DATABASE_URL = 'sqlite:data/user-groups.db', UGS_TOKEN_KEYS_FILE, ...env }: Record<string, string>,
): Promise<Callable & AsyncDisposable & { logLines: readonly string[] }> {
  const config = readConfig({
    ...env,
    DATABASE_URL: DATABASE_URL.replace(/(?<=^sqlite:).*/, (path) => resolve(folder.path, path)),
    ...(UGS_TOKEN_KEYS_FILE && { UGS_TOKEN_KEYS_FILE: resolve(folder.path, UGS_TOKEN_KEYS_FILE) }),
    PORT: '0',
    UGS_SHUTDOWN_DELAY_MS: '0',
    UGS_THREADS: '1',
  });
  watch.learn(Object.values(env).join('\n'));
  const logLines: string[] = [];
  const app = await startApp(config, pino({}, { write: (line: string) => void logLines.push(line) }));
  return {
    logLines,
    call: (token, method, path, body) => send(app.url, { token, method, path, body }),
    async [Symbol.asyncDispose]() {
      await app.close();
      refuseSplitBatch(logLines);
    },
  };
}

type More = Omit<TestRequest, 'method' | 'path' | 'body'>;

export class TestService implements AsyncDisposable {
  readonly #env: Record<string, string>;
  readonly #returnsOverloaded: boolean;
  #database: TestDatabase | null;
  #app: App | null = null;
  /** API token of the workspace `default`, environment `Customer`, permission `read-write`. */
  token = '';
  /** Log of the service, line by line. */
  readonly logLines: string[] = [];
  readonly #clock = new SharedClock();

  /** Returns the service of a suite, which runs from before its tests until after them. */
  static of(kind: DatabaseKind, options: TestServiceOptions = {}): TestService {
    const service = new TestService(options);
    before(() => service.#start(kind));
    after(() => service.end());
    return service;
  }

  /** Returns two services on one database, for the tests of a `describe`. */
  static pairOf(kind: DatabaseKind, options: TestServiceOptions = {}): [TestService, TestService] {
    const second = new TestService(options);
    // Stops before the first service, which deletes the database.
    after(() => second.stop());
    const first = TestService.of(kind, options);
    before(async () => {
      second.#database = first.database;
      await second.#start(kind);
    });
    return [first, second];
  }

  static async start(kind: DatabaseKind, options: TestServiceOptions = {}): Promise<TestService> {
    const service = new TestService(options);
    await service.#start(kind);
    return service;
  }

  private constructor({ database, env = {}, returnsOverloaded = false }: TestServiceOptions) {
    this.#database = database ?? null;
    this.#env = env;
    this.#returnsOverloaded = returnsOverloaded;
  }

  async #start(kind: DatabaseKind): Promise<void> {
    this.#database ??= await kind.createForService();
    await this.startApp();
    this.token = (await this.apiToken()).token;
  }

  get database(): TestDatabase {
    return this.#database!;
  }

  async startApp(): Promise<void> {
    const isFile = this.database.env.DATABASE_URL?.startsWith('sqlite:');
    const { UGS_THREADS = (isFile && process.env.TEST_SQLITE_THREADS) || '1' } = process.env;
    const env = { ...this.database.env, PORT: '0', UGS_SHUTDOWN_DELAY_MS: '0', UGS_THREADS, ...this.#env };
    watch.learn(Object.values(env).join('\n'));
    const streamWrite = (line: string) => {
      // Checks the line before it is redacted: no secret may get that far.
      watch.printed('the log', line);
      return redact(line);
    };
    const log = pino(
      { level: 'trace', hooks: { streamWrite } },
      { write: (line: string) => this.logLines.push(line) },
    );
    const config = readConfig(env);
    this.#app = await startApp(config, log, { clock: this.#clock });
  }

  /** Time by which the clock of the service is ahead of the machine's. */
  get clockAheadMs(): number {
    return this.#clock.aheadMs;
  }

  set clockAheadMs(ms: number) {
    this.#clock.aheadMs = ms;
  }

  get logEntries(): LogEntry[] {
    return this.logLines.map((line) => JSON.parse(line));
  }

  /**
   * Waits for the first matching line of the log. Lines of other threads than the main one arrive after the
   * response.
   */
  logEntry(what: string, isMatch: (entry: LogEntry) => boolean): Promise<LogEntry> {
    return eventually(what, () => this.logEntries.find(isMatch) ?? null);
  }

  /** Stops the clock of the service until disposed, so that a test can name its milliseconds. */
  stopClock(): Disposable & { now: number } {
    const now = Date.now();
    this.#clock.fixedAt = now;
    return {
      now,
      [Symbol.dispose]: () => {
        this.#clock.fixedAt = 0;
      },
    };
  }

  /** Writes the uses of tokens that the service has collected in memory. */
  async writeUsage(): Promise<void> {
    const { threads, context } = this.app;
    if (threads === 1) await Promise.all([context.lastUse.write(), context.usage.write()]);
    // Each thread has collected the uses that it has seen; a restart makes all of them write.
    else await this.restart();
  }

  get url(): string {
    return this.app.url;
  }

  get app(): App {
    return this.#app!;
  }

  /** Sends a request with the API token `token`, unless the request has another. */
  call(method: string, path: string, body?: unknown, more: More = {}): Promise<TestResponse> {
    const call = () => send(this.url, { method, path, body, token: this.token, ...more });
    return this.#returnsOverloaded ? call() : admitted(call);
  }

  /** GET /api/user */
  get(body: unknown, more: More = {}): Promise<TestResponse> {
    return this.call('GET', '/api/user', body, more);
  }

  /** PUT /api/user */
  put(body: unknown, more: More = {}): Promise<TestResponse> {
    return this.call('PUT', '/api/user', body, more);
  }

  /** POST /api/user */
  post(body: unknown, more: More = {}): Promise<TestResponse> {
    return this.call('POST', '/api/user', body, more);
  }

  /** GET /v1/user-groups/{user_group_id} */
  read(id: string, more: More = {}): Promise<TestResponse> {
    return this.call('GET', `/v1/user-groups/${encodeURIComponent(id)}`, undefined, more);
  }

  /** POST /v1/resolve */
  resolve(token: string, more: More = {}): Promise<TestResponse> {
    return this.call('POST', '/v1/resolve', { token }, more);
  }

  /** Returns whether the token is current or retiring, or the error code if it does not resolve. */
  async tokenStatus(token: string, more?: More): Promise<string> {
    const { status, json } = await this.resolve(token, more);
    return status === 200 ? json.token.status : json.code;
  }

  /** POST /oauth/introspect */
  introspect(token: string, more: Omit<TestRequest, 'method' | 'path'> = {}): Promise<TestResponse> {
    return this.call('POST', '/oauth/introspect', new URLSearchParams({ token }), more);
  }

  /** GET /v1/forward-auth, with the headers of a viewer. */
  forwardAuth(headers: TestRequest['headers'] = {}, token = this.token): Promise<TestResponse> {
    return this.call('GET', '/v1/forward-auth', undefined, { token, headers });
  }

  async apiToken(fields: Partial<NewApiToken> = {}): Promise<{ id: number; token: string }> {
    const { apiToken, token } = await createApiToken(this.app.context, {
      workspaceName: 'default',
      environment: 'Customer',
      permission: 'read-write',
      ...fields,
    });
    watch.learn(token.reveal());
    return { id: apiToken.apiTokenId, token: token.reveal() };
  }

  /** Imports a group into a workspace, and creates the workspace if necessary. */
  importGroup(group: object, options?: ImportOptions): Promise<LineResult> {
    return this.importLine(JSON.stringify(group), options);
  }

  async importLine(
    line: string,
    { workspace = 'default', environment = 'Customer', replaces = false }: ImportOptions = {},
  ): Promise<LineResult> {
    const { context } = this.app;
    const { workspaceId } = (await ensureWorkspace(context.store, workspace, context.clock())).workspace;
    const job = { context, caller: operator({ workspaceId, environment }), replaces };
    return importLine(job, Buffer.from(line));
  }

  async revokeApiToken(id: number): Promise<boolean> {
    const { context } = this.app;
    const apiToken = await findApiTokenById(context.store, id);
    if (apiToken === null) return false;
    await revokeApiToken(context, operator(apiToken), id);
    return true;
  }

  /** Returns the events about the target in the first workspace, oldest first. */
  async eventsAbout(target: EventTarget): Promise<StoredEvent[]> {
    const { events } = await this.app.context.store.read({
      kind: 'listEvents',
      tenant: { workspaceId: 1, environment: 'Customer' },
      target,
      type: null,
      order: 'oldest',
      after: null,
      limit: 100,
      scanLimit: 100,
      maxBytes: 1_000_000,
    });
    return events;
  }

  /** Creates the demo in the first workspace. */
  async createDemo(): Promise<void> {
    const { context, demoDirectory } = this.app;
    await createDemoPatiently(context, operator({ workspaceId: 1, environment: 'Customer' }), demoDirectory!);
  }

  async stop(): Promise<void> {
    await this.app.close();
    refuseSplitBatch(this.logLines);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.startApp();
  }

  /** Stops the service and drops its database. */
  async end(): Promise<void> {
    await this.stop();
    await this.database.drop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}
