// Checks the responses to a case and its user group. The checks have the names that Schemathesis and RESTler
// use.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bucket } from '../../src/domain/bucket.ts';
import { mintApiToken, mintUserGroupToken } from '../../src/domain/token.ts';
import type {
  ApiDescription,
  DescribedOperation,
} from '../../test/support/api-description/api-description.ts';
import { send, type TestRequest, type TestResponse } from '../../test/support/http.ts';
import { Random } from '../support/random.ts';
import { type Case, type Check, type Credential, isReal, methodsAt, type Tenant } from './case.ts';
import { faultType } from './fault.ts';
import { Dynamic, type Json, jsonText } from './json.ts';

/** API tokens of one caller, and of other tenants, which must not see its data. */
export interface Account {
  token: string;
  revoked: string;
  others: Readonly<Record<Tenant, string>>;
  /** Cursor of the list of the account's user groups. */
  cursor: string;
}

/** Values of the group under test: values to send, and values that only its own account may see. */
interface Subject {
  known: Readonly<Record<'id' | 'name' | 'token' | 'etag' | 'cursor', string>>;
  /** Values that must not appear in responses to others; empty if the group does not exist. */
  secrets: readonly string[];
}

type CaseOf<C extends Check> = Extract<Case, { check: C }>;

export class Checker {
  readonly #url: string;
  readonly #description: ApiDescription;
  readonly #account: Account;
  readonly #onResponse: (operationId: string, status: number) => void;

  constructor(options: {
    url: string;
    description: ApiDescription;
    account: Account;
    onResponse: (operationId: string, status: number) => void;
  }) {
    this.#url = options.url;
    this.#description = options.description;
    this.#account = options.account;
    this.#onResponse = options.onResponse;
  }

  /** Throws if a check fails. Deletes all groups with the id afterwards. */
  async run(trial: Case): Promise<void> {
    const subject = trial.exists ? await this.#create(trial.id) : absent(trial.id, this.#account);
    try {
      await this.#check(trial, subject);
    } finally {
      await this.#delete(trial.id, this.#account.token);
      if (trial.check === 'namespace') await this.#delete(trial.id, this.#account.others[trial.tenant]);
    }
  }

  #check(trial: Case, subject: Subject): Promise<void> {
    switch (trial.check) {
      case 'positive data acceptance':
        return this.#acceptsPositiveData(trial, subject);
      case 'negative data rejection':
        return this.#rejectsNegativeData(trial, subject);
      case 'ignored auth':
        return this.#requiresCredentials(trial, subject);
      case 'unsupported method':
        return this.#rejectsMethod(trial, subject);
      case 'use after free':
        return this.#hidesDeleted(trial, subject);
      case 'namespace':
        return this.#isolatesTenants(trial, subject);
      default:
        return trial satisfies never;
    }
  }

  /** A created group must also be readable immediately. */
  async #acceptsPositiveData(trial: CaseOf<'positive data acceptance'>, subject: Subject): Promise<void> {
    const response = await this.#sendChecked(trial, this.#request(trial, subject));
    const isAccepted = response.status < 300;
    const needsGroup = !trial.exists && this.#operation(trial).security.length > 0;
    if (!isReal(trial)) assertStatus(response, 400, 404, 412);
    else if (!isAccepted && needsGroup) assertStatus(response, 404, 412);
    else assert.ok(isAccepted, `${response.status} ${response.json?.code}: ${response.json?.detail}`);
    if (isCreation(response))
      assert.equal((await this.#read(trial.id)).status, 200, 'created, but not found');
  }

  /** A rejected request must not leave a resource behind (RESTler's resource leakage check). */
  async #rejectsNegativeData(trial: CaseOf<'negative data rejection'>, subject: Subject): Promise<void> {
    const good = this.#request(trial, subject);
    const { status, apply } = trial.fault === undefined ? BROKEN : faultType(trial.fault);
    await this.#assertRejected(trial, apply(good), status);
  }

  async #requiresCredentials(trial: CaseOf<'ignored auth'>, subject: Subject): Promise<void> {
    const { headers, ...good } = this.#request(trial, subject);
    const authorization = authorizationOf(trial.credential, this.#account, subject.known.token);
    const response = await this.#assertRejected(
      trial,
      { ...good, token: null, headers: { ...headers, authorization } },
      401,
    );
    assertHides(response, subject.secrets);
  }

  async #rejectsMethod(trial: CaseOf<'unsupported method'>, subject: Subject): Promise<void> {
    const { method } = trial;
    const response = await this.#assertRejected(trial, { ...this.#request(trial, subject), method }, 405);
    const allowed = methodsAt(this.#operation(trial), this.#description.operations);
    assert.deepEqual(response.headers.allow?.split(', ').sort(), allowed.sort());
  }

  /** After a deletion, the group, its token and its version no longer exist. */
  async #hidesDeleted(trial: CaseOf<'use after free'>, subject: Subject): Promise<void> {
    await this.#delete(trial.id, this.#account.token);
    const response = await this.#sendChecked(trial, this.#request(trial, subject));
    assertHides(response, subject.secrets);
    const names = Object.values({ ...trial.plan.path, ...(trial.plan.body as object) });
    const isOfGroup = names.some((value) => value instanceof Dynamic);
    if (isOfGroup && !isCreation(response)) assertStatus(response, 404, 412);
  }

  async #isolatesTenants(trial: CaseOf<'namespace'>, subject: Subject): Promise<void> {
    const before = await this.#read(trial.id);
    const token = this.#account.others[trial.tenant];
    const response = await this.#sendChecked(trial, { ...this.#request(trial, subject), token });
    assertHides(response, subject.secrets);
    assert.equal((await this.#read(trial.id)).text, before.text, 'changed by another tenant');
  }

  async #assertRejected(trial: Case, request: TestRequest, status: number): Promise<TestResponse> {
    const before = await this.#read(trial.id);
    const response = await this.#sendChecked(trial, request);
    assertStatus(response, status);
    const after = await this.#read(trial.id);
    // Each error response has a different request id, so compare only the status.
    assert.equal(after.status, before.status, 'a rejected request left a resource behind');
    if (before.status === 200) assert.equal(after.text, before.text, 'a rejected request changed the group');
    return response;
  }

  /** Checks every response: no server error; status, content type, headers and body match the description. */
  async #sendChecked(trial: Case, request: TestRequest): Promise<TestResponse> {
    const response = await this.#send(request);
    this.#onResponse(trial.operationId, response.status);
    assert.ok(response.status < 500, `${response.status} ${response.json?.code}`);
    // Revokes the API token, because the number of active ones is limited.
    const apiTokenId = response.status === 201 && response.json.api_token?.api_token_id;
    if (apiTokenId)
      await this.#send({ method: 'DELETE', path: `${API_TOKENS}/${apiTokenId}`, token: request.token! });
    // A response to HEAD has no body.
    if (request.method !== 'HEAD') this.#description.assertDescribed(this.#operation(trial), response);
    return response;
  }

  /** On a busy machine a request may be rejected as overloaded: retry after Retry-After. A persistent 503 is a failure. */
  async #send(request: TestRequest): Promise<TestResponse> {
    for (let attempt = 1; ; attempt++) {
      const response = await send(this.#url, request);
      if (response.status !== 503 || attempt === MAX_ATTEMPTS) return response;
      const retryAfterSeconds = Number(response.headers['retry-after']);
      assert.ok(retryAfterSeconds > 0, '503 without Retry-After');
      // Jitter, so that callers that were rejected together do not retry together.
      await sleep(retryAfterSeconds * 1_000 * (1 + Math.random()));
    }
  }

  #operation({ operationId }: Case): DescribedOperation {
    return this.#description.operation(operationId);
  }

  #request(trial: Case, { known }: Subject): TestRequest {
    const { method, path, requestBody } = this.#operation(trial);
    const { plan, formatting } = trial;
    const text = (value: Json): string => {
      if (value instanceof Dynamic) return known[value.dynamic as keyof typeof known];
      return typeof value === 'string' ? value : jsonText(value);
    };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(text(plan.path[name]!)),
    );
    const query = Object.entries(plan.query).map(
      ([name, value]) => `${name}=${encodeURIComponent(text(value))}`,
    );
    const mediaTypes = Object.keys(requestBody?.content ?? {});
    return {
      method,
      path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
      token: this.#operation(trial).security.length > 0 ? this.#account.token : null,
      headers: {
        ...Object.fromEntries(Object.entries(plan.header).map(([name, value]) => [name, text(value)])),
        ...(mediaTypes.length > 0 && { 'content-type': mediaTypes[formatting % mediaTypes.length] }),
      },
      ...(plan.body !== undefined && { body: bodyText(plan.body, known, formatting) }),
    };
  }

  async #create(id: string): Promise<Subject> {
    const { token, cursor } = this.#account;
    // A unique name reveals the group wherever it appears.
    const name = mintUserGroupToken(0 as Bucket)
      .reveal()
      .slice(20);
    const body = { user_group_id: id, name };
    const { status, json, headers } = await this.#send({ method: 'POST', path: GROUPS, token, body });
    assert.equal(status, 201, 'the group exists already');
    const known = { id, name, token: json.user_group.token, etag: headers.etag ?? '*', cursor };
    return { known, secrets: [known.token, name, `"team_id":${json.user_group.team_id},`] };
  }

  #read(id: string): Promise<TestResponse> {
    return this.#send({ path: pathOf(id), token: this.#account.token });
  }

  async #delete(id: string, token: string): Promise<void> {
    await this.#send({ method: 'DELETE', path: pathOf(id), token });
  }
}

const MAX_ATTEMPTS = 10;
const GROUPS = '/v1/user-groups';
const API_TOKENS = '/v1/api-tokens';
const BROKEN = { status: 400, apply: (request: TestRequest) => request };
/**
 * Maximum length of a body with random formatting: longer bodies are written in the shortest form, because
 * escapes could exceed the body limit.
 */
const MAX_FORMATTED_LENGTH = 32_768;

function pathOf(id: string): string {
  return `${GROUPS}/${encodeURIComponent(id)}`;
}

/** Returns the values of a group that never existed. */
function absent(id: string, { cursor }: Account): Subject {
  return {
    known: { id, name: 'unknown', token: mintUserGroupToken(0 as Bucket).reveal(), etag: '"0-1"', cursor },
    secrets: [],
  };
}

function bodyText(body: Json, known: Subject['known'], formatting: number): string {
  const text = jsonText(body, { known });
  return formatting === 0 || text.length > MAX_FORMATTED_LENGTH
    ? text
    : jsonText(body, { known, formatting: new Random(formatting) });
}

function authorizationOf(
  credential: Credential,
  { token, revoked }: Account,
  groupToken: string,
): string | undefined {
  switch (credential) {
    case 'none':
      return undefined;
    case 'empty':
      return 'Token ';
    case 'unknown':
      return `Token ${mintApiToken().reveal()}`;
    case 'cut short':
      return `Token ${token.slice(0, -1)}`;
    case 'revoked':
      return `Token ${revoked}`;
    case 'of a user group':
      return `Token ${groupToken}`;
    case 'as Basic':
      return `Basic ${token}`;
    case 'without a scheme':
      return token;
    default:
      return credential satisfies never;
  }
}

function assertStatus({ status, json }: TestResponse, ...expected: number[]): void {
  assert.ok(expected.includes(status), `${status} ${json?.code ?? ''}, expected ${expected.join(' or ')}`);
}

function assertHides({ text, headers }: TestResponse, secrets: readonly string[]): void {
  const shown = text + JSON.stringify(headers);
  assert.ok(!secrets.some((secret) => shown.includes(secret)), 'the response reveals data of another caller');
}

function isCreation({ status, json }: TestResponse): boolean {
  return json?.user_group !== undefined && (status === 201 || json.new_user_group === true);
}
