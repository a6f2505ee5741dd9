// The checks: what must hold of the answers to a case, and of the user group that it is about. They are called what
// Schemathesis and RESTler call them.

import assert from 'node:assert/strict';
import type { Bucket } from '../src/domain/bucket.ts';
import { mintApiToken, mintUserGroupToken } from '../src/domain/token.ts';
import type { ApiDescription, DescribedOperation } from '../test/api-description.ts';
import { send, type TestAnswer, type TestRequest } from '../test/http.ts';
import { type Case, type Check, type Credential, isReal, methodsAt, type Tenant } from './fuzz-case.ts';
import { faultType } from './fuzz-fault.ts';
import { Dynamic, type Json, jsonText } from './fuzz-json.ts';
import { Random } from './random.ts';

/** API tokens of one who sends cases, and of others, who must see nothing of it. */
export interface Account {
  token: string;
  revoked: string;
  others: Readonly<Record<Tenant, string>>;
  /** Of the list of the account's user groups. */
  cursor: string;
}

/** What is sent about the group of a case, and what only its own account may see. */
interface Subject {
  known: Readonly<Record<'id' | 'token' | 'etag' | 'cursor', string>>;
  /** In answers; nothing where there is no group. */
  secrets: readonly string[];
}

type CaseOf<C extends Check> = Extract<Case, { check: C }>;

export class Checker {
  readonly #url: string;
  readonly #description: ApiDescription;
  readonly #account: Account;
  readonly #seen: (operationId: string, status: number) => void;

  constructor(options: {
    url: string;
    description: ApiDescription;
    account: Account;
    /** Is told of each answer. */
    seen: (operationId: string, status: number) => void;
  }) {
    this.#url = options.url;
    this.#description = options.description;
    this.#account = options.account;
    this.#seen = options.seen;
  }

  /** Throws where something does not hold. Leaves no group of the id, whoever has made one. */
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
        return this.#asksForCredentials(trial, subject);
      case 'unsupported method':
        return this.#refusesMethod(trial, subject);
      case 'use after free':
        return this.#forgets(trial, subject);
      case 'namespace':
        return this.#keepsApart(trial, subject);
      default:
        return trial satisfies never;
    }
  }

  /** What is created can be read at once, too. */
  async #acceptsPositiveData(trial: CaseOf<'positive data acceptance'>, subject: Subject): Promise<void> {
    const answer = await this.#ask(trial, this.#request(trial, subject));
    const isAccepted = answer.status < 300;
    const needsGroup = !trial.exists && this.#operation(trial).security.length > 0;
    if (!isReal(trial.plan)) assertStatus(answer, 400, 404, 412);
    else if (!isAccepted && needsGroup) assertStatus(answer, 404, 412);
    else assert.ok(isAccepted, `${answer.status} ${answer.json?.code}: ${answer.json?.detail}`);
    if (answer.json?.new_user_group)
      assert.equal((await this.#read(trial.id)).status, 200, 'created, and not there');
  }

  /** Nor does it leave a resource that a refused request has made: RESTler's leakage. */
  async #rejectsNegativeData(trial: CaseOf<'negative data rejection'>, subject: Subject): Promise<void> {
    const good = this.#request(trial, subject);
    const { status, apply } = trial.fault === undefined ? BROKEN : faultType(trial.fault);
    await this.#refuses(trial, apply(good), status);
  }

  async #asksForCredentials(trial: CaseOf<'ignored auth'>, subject: Subject): Promise<void> {
    const { headers, ...good } = this.#request(trial, subject);
    const authorization = credentialOf(trial.credential, this.#account, subject.known.token);
    const answer = await this.#refuses(
      trial,
      { ...good, token: null, headers: { ...headers, authorization } },
      401,
    );
    assertHides(answer, subject.secrets);
  }

  async #refusesMethod(trial: CaseOf<'unsupported method'>, subject: Subject): Promise<void> {
    const { method } = trial;
    const answer = await this.#refuses(trial, { ...this.#request(trial, subject), method }, 405);
    const allowed = methodsAt(this.#operation(trial), this.#description.operations);
    assert.deepEqual(answer.headers.allow?.split(', ').sort(), allowed.sort());
  }

  /** A group that is deleted is gone, with its token and its version. */
  async #forgets(trial: CaseOf<'use after free'>, subject: Subject): Promise<void> {
    await this.#delete(trial.id, this.#account.token);
    const answer = await this.#ask(trial, this.#request(trial, subject));
    assertHides(answer, subject.secrets);
    const names = Object.values({ ...trial.plan.path, ...(trial.plan.body as object) });
    const isOfGroup = names.some((value) => value instanceof Dynamic);
    if (isOfGroup && !answer.json?.new_user_group) assertStatus(answer, 404, 412);
  }

  async #keepsApart(trial: CaseOf<'namespace'>, subject: Subject): Promise<void> {
    const before = await this.#read(trial.id);
    const token = this.#account.others[trial.tenant];
    const answer = await this.#ask(trial, { ...this.#request(trial, subject), token });
    assertHides(answer, subject.secrets);
    assert.equal((await this.#read(trial.id)).text, before.text, 'changed from elsewhere');
  }

  async #refuses(trial: Case, request: TestRequest, status: number): Promise<TestAnswer> {
    const before = await this.#read(trial.id);
    const answer = await this.#ask(trial, request);
    assertStatus(answer, status);
    const after = await this.#read(trial.id);
    // A refusal has a request id of its own.
    assert.equal(after.status, before.status, 'a refused request has left something');
    if (before.status === 200)
      assert.equal(after.text, before.text, 'a refused request has changed something');
    return answer;
  }

  /** The checks of every answer: no server error; status, content type, headers and body as they are described. */
  async #ask(trial: Case, request: TestRequest): Promise<TestAnswer> {
    const answer = await this.#send(request);
    this.#seen(trial.operationId, answer.status);
    assert.ok(answer.status < 500, `${answer.status} ${answer.json?.code}`);
    // An answer to HEAD has no body that could be described.
    if (request.method !== 'HEAD') this.#description.assertDescribed(this.#operation(trial), answer);
    return answer;
  }

  /** A machine that has much else to do may not come to a request in time; that this goes on is no excuse. */
  async #send(request: TestRequest): Promise<TestAnswer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await send(this.#url, request);
      if (answer.status !== 503 || attempt === MAX_ATTEMPTS) return answer;
    }
  }

  #operation({ operationId }: Case): DescribedOperation {
    return this.#description.operation(operationId);
  }

  #request(trial: Case, { known }: Subject): TestRequest {
    const { method, path, requestBody } = this.#operation(trial);
    const { plan, spelling } = trial;
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
        ...(mediaTypes.length > 0 && { 'content-type': mediaTypes[spelling % mediaTypes.length] }),
      },
      ...(plan.body !== undefined && { body: bodyText(plan.body, known, spelling) }),
    };
  }

  async #create(id: string): Promise<Subject> {
    const { token, cursor } = this.#account;
    // A name that nobody else has shows the group wherever it appears.
    const name = mintUserGroupToken(0 as Bucket)
      .reveal()
      .slice(20);
    const body = { user_group_id: id, name };
    const { status, json, headers } = await this.#send({ method: 'POST', path: GROUPS, token, body });
    assert.equal(status, 201, 'there was a group already');
    const known = { id, token: json.user_group.token, etag: headers.etag ?? '', cursor };
    return { known, secrets: [known.token, name, `"team_id":${json.user_group.team_id},`] };
  }

  #read(id: string): Promise<TestAnswer> {
    return this.#send({ path: pathOf(id), token: this.#account.token });
  }

  async #delete(id: string, token: string): Promise<void> {
    await this.#send({ method: 'DELETE', path: pathOf(id), token });
  }
}

const MAX_ATTEMPTS = 10;
const GROUPS = '/v1/user-groups';
const BROKEN = { status: 400, apply: (request: TestRequest) => request };
/** What is longer is written the shortest way: with escapes it could exceed what a body may have. */
const LONGEST_SPELT = 32_768;

function pathOf(id: string): string {
  return `${GROUPS}/${encodeURIComponent(id)}`;
}

/** Of a group that there has never been. */
function absent(id: string, { cursor }: Account): Subject {
  return {
    known: { id, token: mintUserGroupToken(0 as Bucket).reveal(), etag: '"0-1"', cursor },
    secrets: [],
  };
}

function bodyText(body: Json, known: Subject['known'], spelling: number): string {
  const text = jsonText(body, { known });
  return spelling === 0 || text.length > LONGEST_SPELT
    ? text
    : jsonText(body, { known, spelling: new Random(spelling) });
}

function credentialOf(
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
    case 'as Bearer':
      return `Bearer ${token}`;
    case 'without a scheme':
      return token;
    default:
      return credential satisfies never;
  }
}

function assertStatus({ status, json }: TestAnswer, ...expected: number[]): void {
  assert.ok(expected.includes(status), `${status} ${json?.code ?? ''} where ${expected.join(' or ')} is due`);
}

function assertHides({ text, headers }: TestAnswer, secrets: readonly string[]): void {
  const shown = text + JSON.stringify(headers);
  assert.ok(!secrets.some((secret) => shown.includes(secret)), 'the answer shows what is not for the caller');
}
