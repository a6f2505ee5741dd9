// Tokens and keys are never logged, at any log level, wherever callers put them and whatever fails.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createApiToken, Folder, runHosted, type Service, serve } from '../support/process.ts';

const TOKEN_OR_KEY = /ug[ta]_[0-9A-Za-z]{20}|[0-9a-f]{8}:[A-Za-z0-9_-]{43}/;

describe('The output of the service', () => {
  for (const LOG_LEVEL of ['debug', 'trace']) {
    it(`contains no token and no key at LOG_LEVEL=${LOG_LEVEL}`, async () => {
      using folder = new Folder();
      const key = (await runHosted(folder, ['key', 'generate'])).stdout.trim();
      const { token } = await createApiToken(folder);
      await using service = await serve(folder, { env: { LOG_LEVEL, UGS_TOKEN_KEYS: key } });
      const session = new Session(service, token);
      await session.succeed();
      await session.fail();
      await session.readDamagedToken(folder);
      await session.sendBrokenHttp();
      service.signal('SIGTERM');
      const { stdout, stderr } = await service.exit();

      assert.equal(stderr, '');
      assert.match(stdout, /"path":"\/api\/user"/, 'the requests are in the log');
      assert.match(stdout, /database_unavailable/, 'the damage is in the log');
      // Omits the prefix and the last digit, to match encoded and truncated tokens too.
      const secrets = [...session.tokens.map((text) => text.slice(4, -1)), key.slice(9, -1)];
      const exposing = stdout
        .trim()
        .split('\n')
        .filter((line) => TOKEN_OR_KEY.test(line) || secrets.some((secret) => line.includes(secret)));
      assert.deepEqual(exposing.map(describeLine), []);
    });
  }
});

/** Returns a log line without data from the caller. */
function describeLine(line: string): object {
  const { requestId, method, status, msg } = JSON.parse(line);
  return { requestId, method, status, msg };
}

/** Makes calls with every outcome, with tokens in every place where a caller may put one by mistake. */
class Session {
  readonly #service: Service;
  readonly #token: string;
  readonly tokens: string[];
  #groupToken = '';

  constructor(service: Service, token: string) {
    this.#service = service;
    this.#token = token;
    this.tokens = [token];
  }

  async succeed(): Promise<void> {
    const body = { user_group_id: 'one', name: 'One', properties: { plan: 'gold' } };
    for (const [method, path, sent] of [
      ['GET', '/api/user', body],
      ['PUT', '/api/user', body],
      ['POST', '/v1/user-groups', { ...body, user_group_id: 'two' }],
    ] as const) {
      const { json } = await this.#service.call(this.#token, method, path, sent);
      this.#remember(json.user_group.token);
    }
    const rotation = { current_token: this.#groupToken, grace_period_seconds: 60 };
    const rotated = await this.#service.call(this.#token, 'POST', '/api/user', rotation);
    this.#remember(rotated.json.user_group.token);
    const resolved = await this.#service.call(this.#token, 'POST', '/v1/resolve', {
      token: this.#groupToken,
    });
    assert.equal(resolved.status, 200);
  }

  async fail(): Promise<void> {
    for (const secret of [this.#token, this.#groupToken]) {
      for (const text of [secret, secret.replace('_', '%5F'), secret.slice(0, -1)]) {
        await this.#refused({ path: `/${text}` });
        await this.#refused({ path: `/v1/user-groups/${text}/nothing` });
        await this.#refused({ path: `/api/user?token=${text}` });
      }
      await this.#refused({ token: this.#groupToken });
      await this.#refused({ headers: { origin: secret } });
      await this.#refused({ method: 'PUT', body: { user_group_id: 'one' }, headers: { 'if-match': secret } });
      await this.#refused({ body: { [secret]: 1 } });
      await this.#refused({ body: { user_group_id: secret, nam: secret } });
      await this.#refused({ body: { user_group_id: 'one', mapping: { [secret]: {} } } });
      await this.#refused({ body: `{"user_group_id": ${secret}}` });
      await this.#refused({ body: { user_group_id: secret } });
      await this.#refused({ method: 'POST', body: { current_token: `${secret}x` } });
      await this.#refused({ method: 'POST', body: { current_token: this.#token } });
    }
  }

  /** Makes the service log an error about a stored token that it cannot decrypt. */
  async readDamagedToken(folder: Folder): Promise<void> {
    const database = new DatabaseSync(folder.join('data/user-groups.db'), { timeout: 5_000 });
    database.exec("update user_groups set token_ciphertext = token_ciphertext || 'AAAA'");
    database.close();
    const response = await this.#refused({ body: { user_group_id: 'one' } });
    assert.equal(response.json.code, 'database_unavailable');
  }

  /**
   * Sends requests that Node's HTTP parser rejects, which are handled separately from those that reach the
   * router.
   */
  async sendBrokenHttp(): Promise<void> {
    const { hostname, port } = new URL(this.#service.url);
    for (const line of [`Authorization Token ${this.#token}`, `X: ${this.#token.repeat(400)}`]) {
      const socket = connect(Number(port), hostname).setEncoding('utf8');
      socket.write(`GET /api/user HTTP/1.1\r\nHost: test\r\n${line}\r\n\r\n`);
      const [response] = await once(socket, 'data');
      assert.match(response, /^HTTP\/1\.1 4/);
      assert.doesNotMatch(response, TOKEN_OR_KEY);
      socket.destroy();
    }
  }

  #remember(groupToken: string): void {
    this.#groupToken = groupToken;
    this.tokens.push(groupToken);
  }

  async #refused(request: Parameters<Service['send']>[0]) {
    const response = await this.#service.send({ token: this.#token, ...request });
    assert.ok(response.status >= 400, `${response.status} is an error`);
    assert.doesNotMatch(response.text, TOKEN_OR_KEY);
    return response;
  }
}
