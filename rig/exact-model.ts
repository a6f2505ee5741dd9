// What the service answers, byte for byte, given all that it was asked before. What only the service can choose (ids,
// tokens, instants) is learnt from the answer that first shows it, and has to be new then, or of its time.

import assert from 'node:assert/strict';
import { parse, stringify } from 'lossless-json';
import type { TestAnswer } from '../test/http.ts';
import { assertProblem } from '../test/problem.ts';
import { type Group, type Operation, perform } from './model.ts';

/** Mapping and properties are JSON text; what is absent is not sent. */
export type Fields = Partial<Pick<Group, 'name' | 'mapping' | 'properties'>>;

/** `outdated`: a version that the group has never had. */
export type IfMatch = 'absent' | 'current' | 'outdated';

export type Call =
  | { kind: 'get or create'; isV1: boolean; fields: Fields }
  | { kind: 'update'; fields: Fields; ifMatch: IfMatch }
  | { kind: 'patch'; fields: Fields; ifMatch: IfMatch }
  | { kind: 'rotate'; token: string; graceSeconds: number }
  | { kind: 'resolve'; token: string }
  | { kind: 'read' }
  | { kind: 'delete'; ifMatch: IfMatch };

/** When a call was sent, and when it was answered: in milliseconds. */
export interface Span {
  from: number;
  to: number;
}

/** An instant of the service's clock, of which at first only the call is known in which it was taken. */
class Instant {
  readonly #span: Span;
  #text: string | null = null;

  constructor({ from, to }: Span, laterSeconds = 0) {
    this.#span = { from: from + laterSeconds * 1_000, to: to + laterSeconds * 1_000 };
  }

  /** The one text that may be shown for it. */
  shownAs(text: string): string {
    if (this.#text === null) {
      const at = Date.parse(text);
      assert.ok(at >= this.#span.from && at <= this.#span.to, `${text} is no instant of the call`);
      this.#text = new Date(at).toISOString();
    }
    return this.#text;
  }
}

type KnownGroup = Group & {
  id: string;
  createdAt: Instant;
  updatedAt: Instant;
  /** Of the replaced token. */
  expiresAt: Instant | null;
};

export class ExactModel {
  readonly #groups = new Map<string, KnownGroup>();
  readonly #teamIds = new Set<number>();
  /** Every token that was ever told, the newest last. */
  readonly tokens: string[] = [];

  /** What `If-Match` asks for; a tag that no group has where there is no group. */
  etagOf(id: string): string {
    const group = this.#groups.get(id);
    return group === undefined ? '"0-1"' : etagOf(group);
  }

  /** Fails where the answer is not the one that is due. */
  check(id: string, call: Call, answer: TestAnswer, span: Span): void {
    const group = 'token' in call ? this.#ownerOf(call.token) : this.#groups.get(id);
    const isOutdated = group !== undefined && 'ifMatch' in call && call.ifMatch === 'outdated';
    const [verdict, after] = perform(group ?? null, operationOf(call, group));
    if (isOutdated) assertProblem(answer, 'version_mismatch');
    else if (verdict === 'absent')
      assertProblem(answer, 'token' in call ? 'user_group_token_not_found' : 'user_group_not_found');
    else if (after === null) {
      this.#groups.delete(id);
      assert.deepEqual([answer.status, answer.text], [204, '']);
    } else {
      const known = this.#learn(id, call, { before: group, after }, answer, span);
      assertShows(answer, call, known, verdict === 'created');
    }
  }

  /** The pages of a list of the groups whose ids begin so. */
  checkPages(prefix: string, limit: number, pages: readonly TestAnswer[]): void {
    const groups = [...this.#groups.values()]
      .filter(({ id }) => id.startsWith(prefix))
      .sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
    for (const { status, text } of pages) assert.equal(status, 200, text);
    assert.equal(pages.length, Math.max(1, Math.ceil(groups.length / limit)));
    for (const [index, { text, json }] of pages.entries()) {
      const here = groups.slice(index * limit, (index + 1) * limit);
      const texts = here.map((group, at) => storedText(group, '', json.user_groups[at]));
      const cursor = index === pages.length - 1 ? null : json.next_cursor;
      assert.equal(text, `{"success":1,"user_groups":[${texts}],"next_cursor":${JSON.stringify(cursor)}}`);
    }
  }

  #ownerOf(token: string): KnownGroup | undefined {
    return [...this.#groups.values()].find(
      (group) => group.token === token || group.replaced?.token === token,
    );
  }

  #learn(
    id: string,
    call: Call,
    { before, after }: { before: KnownGroup | undefined; after: Group },
    { json }: TestAnswer,
    span: Span,
  ): KnownGroup {
    const now = new Instant(span);
    const group: KnownGroup = { id, createdAt: now, updatedAt: now, expiresAt: null, ...before, ...after };
    const { team_id: teamId, token } = json.user_group;
    if (before === undefined) {
      assert.ok(!this.#teamIds.has(teamId), 'a team_id comes back');
      this.#teamIds.add(teamId);
      group.teamId = teamId;
    } else if (before.version !== group.version) group.updatedAt = now;
    if (group.token === null) {
      assert.match(token, /^ugt_[0-9A-Za-z]{52}$/);
      assert.ok(!this.tokens.includes(token), 'a token comes back');
      this.tokens.push(token);
      group.token = token;
      group.expiresAt = call.kind === 'rotate' ? new Instant(span, call.graceSeconds) : null;
    }
    this.#groups.set(group.id, group);
    return group;
  }
}

function operationOf(call: Call, group: Group | undefined): Operation {
  switch (call.kind) {
    case 'get or create': {
      const { name, mapping = null, properties = null } = call.fields;
      return name === undefined ? { kind: 'read' } : { kind: 'create', name, mapping, properties };
    }
    case 'patch':
      return { kind: 'update', fields: merged(call.fields, group) };
    case 'rotate':
      return { kind: 'rotate', token: call.token, isGraceful: call.graceSeconds > 0 };
    default:
      return call;
  }
}

function merged(fields: Fields, group: Group | undefined): Fields {
  const texts = Object.entries(fields).map(([field, text]) => {
    if (field === 'name' || text === null) return [field, text];
    const stored = group?.[field as 'mapping' | 'properties'] ?? 'null';
    return [field, stringify(mergePatch(parse(stored), parse(text)))];
  });
  return Object.fromEntries(texts);
}

/** As RFC 7396 has it. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (
    Object.prototype.toString.call(value) === '[object Object]' &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}

function etagOf({ teamId, version }: Group): string {
  return `"${teamId}-${version}"`;
}

function driftOf(call: Call, group: Group): string | undefined {
  if (call.kind !== 'get or create') return undefined;
  const differing = (['name', 'mapping', 'properties'] as const).filter(
    (field) => call.fields[field] !== undefined && call.fields[field] !== group[field],
  );
  return differing.length === 0 ? undefined : differing.join(', ');
}

// ---- The answers, each with the fields that it has and in their order.

function assertShows(answer: TestAnswer, call: Call, group: KnownGroup, isCreated: boolean): void {
  const isMade = isCreated && call.kind === 'get or create' && call.isV1;
  assert.equal(answer.status, isMade ? 201 : 200);
  assert.equal(answer.text, textOf(call, group, isCreated, answer));
  assert.equal(answer.headers.etag, call.kind === 'resolve' ? undefined : etagOf(group));
  assert.equal(answer.headers['user-group-drift'], isCreated ? undefined : driftOf(call, group));
}

function textOf(call: Call, group: KnownGroup, isCreated: boolean, { json }: TestAnswer): string {
  const { properties, token } = group;
  switch (call.kind) {
    case 'get or create': {
      const shown = 'properties' in call.fields ? `,"properties":${properties}` : '';
      return `{"success":1,"new_user_group":${isCreated},"user_group":{${identityText(group)}${shown}}}`;
    }
    case 'update':
      return `{"success":1,"user_group":{${identityText(group)},"properties":${properties},${TAG}}}`;
    case 'rotate':
      return `{"success":1,"user_group":{${identityText(group)},${TAG}}}`;
    case 'resolve':
      return `{"success":1,"user_group":${viewedText(group)},"token":${tokenText(call.token, group, json.token)}}`;
    default:
      return `{"success":1,"user_group":${storedText(group, `"token":"${token}",`, json.user_group)}}`;
  }
}

const TAG = '"api_environment_tag":"Customer"';

function identityText({ teamId, token, name, id }: KnownGroup): string {
  return `"team_id":${teamId},"token":"${token}","name":${JSON.stringify(name)},"provided_id":${JSON.stringify(id)}`;
}

function viewedText({ teamId, id, name, properties, mapping }: KnownGroup): string {
  const names = `"provided_id":${JSON.stringify(id)},"name":${JSON.stringify(name)}`;
  return `{"team_id":${teamId},${names},"properties":${properties},"mapping":${mapping},${TAG}}`;
}

function tokenText(token: string, group: KnownGroup, shown: { expires_at: string }): string {
  if (token === group.token) return '{"status":"current","expires_at":null}';
  return `{"status":"retiring","expires_at":"${group.expiresAt!.shownAs(shown.expires_at)}"}`;
}

/** `token` is the member with the comma behind it, or nothing. */
function storedText(
  group: KnownGroup,
  token: string,
  shown: { created_at: string; updated_at: string },
): string {
  const { teamId, name, id, mapping, properties, version, createdAt, updatedAt } = group;
  return (
    `{"team_id":${teamId},${token}"name":${JSON.stringify(name)},"provided_id":${JSON.stringify(id)},` +
    `"mapping":${mapping},"properties":${properties},${TAG},"version":${version},` +
    `"created_at":"${createdAt.shownAs(shown.created_at)}","updated_at":"${updatedAt.shownAs(shown.updated_at)}"}`
  );
}
