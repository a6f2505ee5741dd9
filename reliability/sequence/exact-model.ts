// Predicts the exact bytes of each response from all earlier requests. Values that the service chooses (ids,
// tokens, timestamps) are taken from the first response that contains them: ids and tokens must be new, and
// timestamps must lie within the duration of the call.

import assert from 'node:assert/strict';
import { parse, stringify } from 'lossless-json';
import type { Environment } from '../../src/domain/tenant.ts';
import type { TestResponse } from '../../test/support/http.ts';
import { assertProblem } from '../../test/support/problem.ts';
import { type Group, type Operation, perform } from '../support/model.ts';

/** Mapping and properties are JSON text; absent fields are not sent. */
export type Fields = Partial<Pick<Group, 'name' | 'mapping' | 'properties'>>;

/** `outdated` names a version that the group never had. */
export type IfMatch = 'absent' | 'current' | 'outdated';

export type Call =
  | { kind: 'get or create'; isV1: boolean; fields: Fields }
  | { kind: 'update'; fields: Fields; ifMatch: IfMatch }
  | { kind: 'patch'; fields: Fields; ifMatch: IfMatch }
  | { kind: 'rotate'; token: string; graceSeconds: number }
  | { kind: 'resolve'; token: string }
  | { kind: 'read' }
  | { kind: 'delete'; ifMatch: IfMatch }
  | { kind: 'rename'; to: string; ifMatch: IfMatch };

type CallOfOneId = Exclude<Call, { kind: 'rename' }>;

/** When a call was sent and when its response arrived, in milliseconds. */
interface Span {
  from: number;
  to: number;
}

/** A timestamp taken by the service during a call; initially only the span of the call is known. */
class Instant {
  readonly #span: Span;
  #text: string | null = null;

  constructor({ from, to }: Span, laterSeconds = 0) {
    this.#span = { from: from + laterSeconds * 1_000, to: to + laterSeconds * 1_000 };
  }

  /** Returns the only text that responses may contain for the timestamp. */
  format(text: string): string {
    if (this.#text === null) {
      const at = Date.parse(text);
      assert.ok(
        at >= this.#span.from && at <= this.#span.to,
        `${text} is not within the duration of the call`,
      );
      this.#text = new Date(at).toISOString();
    }
    return this.#text;
  }
}

type KnownGroup = Group & {
  id: string;
  environment: Environment;
  createdAt: Instant;
  updatedAt: Instant;
  /** Time at which the replaced token expires. */
  expiresAt: Instant | null;
};

interface Rename {
  from: string;
  teamId: number | null;
}

/** Values issued to callers of all workspaces and environments: none is ever issued twice. */
export class Issued {
  readonly teamIds = new Set<number>();
  /** Ordered from oldest to newest. */
  readonly tokens: string[] = [];
}

/** Models one workspace and environment, which calls in others do not affect. */
export class ExactModel {
  readonly #environment: Environment;
  readonly #issued: Issued;
  readonly #groups = new Map<string, KnownGroup>();
  /** Last rename from or to each id. */
  readonly #renames = new Map<string, Rename>();

  constructor(environment: Environment, issued: Issued) {
    this.#environment = environment;
    this.#issued = issued;
  }

  /** Returns the value for `If-Match`; if the group does not exist, a tag that no group has. */
  etagOf(id: string): string {
    const group = this.#groups.get(id);
    return group === undefined ? '"0-1"' : etagOf(group);
  }

  /** Fails if the response is not the expected one. */
  check(id: string, call: Call, response: TestResponse, span: Span): void {
    if (call.kind === 'rename') this.#checkRename(id, call, response, span);
    else this.#checkOneId(id, call, response, span);
  }

  #checkOneId(id: string, call: CallOfOneId, response: TestResponse, span: Span): void {
    const group = 'token' in call ? this.#ownerOf(call.token) : this.#groups.get(id);
    const isOutdated = group !== undefined && 'ifMatch' in call && call.ifMatch === 'outdated';
    const [verdict, after] = perform(group ?? null, operationOf(call, group));
    if (isOutdated) assertProblem(response, 'version_mismatch');
    else if (verdict === 'absent')
      assertProblem(response, 'token' in call ? 'user_group_token_not_found' : 'user_group_not_found');
    else if (after === null) {
      this.#groups.delete(id);
      assert.deepEqual([response.status, response.text], [204, '']);
    } else {
      const known = this.#update(id, call, { before: group, after }, response, span);
      assertResponse(response, call, known, verdict === 'created');
    }
  }

  #checkRename(id: string, call: Call & { kind: 'rename' }, response: TestResponse, span: Span): void {
    const { to, ifMatch } = call;
    const group = this.#groups.get(id) ?? this.#renamedBefore(id, to);
    const isConditional = ifMatch === 'outdated' || (ifMatch === 'current' && group?.id !== id);
    if (group === undefined) assertProblem(response, 'user_group_not_found');
    else if (isConditional) assertProblem(response, 'version_mismatch');
    else if (group.id === to) assertResponse(response, call, group, false);
    else if (this.#groups.has(to)) assertProblem(response, 'user_group_exists');
    else {
      const renamed = { ...group, id: to, version: group.version + 1, updatedAt: new Instant(span) };
      this.#groups.delete(id);
      this.#groups.set(to, renamed);
      const rename = { from: id, teamId: group.teamId };
      this.#renames.set(id, rename).set(to, rename);
      assertResponse(response, call, renamed, false);
    }
  }

  /** Returns the group if this rename was the last one of both ids. */
  #renamedBefore(from: string, to: string): KnownGroup | undefined {
    const [rename, group] = [this.#renames.get(from), this.#groups.get(to)];
    const isLast = rename?.from === from && rename === this.#renames.get(to);
    return isLast && group?.teamId === rename.teamId ? group : undefined;
  }

  /**
   * Checks the pages of a list: groups whose id starts with the search come first, then those whose name
   * does.
   */
  checkPages(search: string, limit: number, pages: readonly TestResponse[]): void {
    const all = [...this.#groups.values()].sort((a, b) => byBytes(a.id, b.id));
    const byId = all.filter(({ id }) => id.startsWith(search));
    const byName = all
      .filter(({ id, name }) => !id.startsWith(search) && name.startsWith(search))
      .sort((a, b) => byBytes(a.name, b.name));
    const groups = [...byId, ...byName];
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

  #update(
    id: string,
    call: Call,
    { before, after }: { before: KnownGroup | undefined; after: Group },
    { json }: TestResponse,
    span: Span,
  ): KnownGroup {
    const now = new Instant(span);
    const group: KnownGroup = {
      id,
      environment: this.#environment,
      createdAt: now,
      updatedAt: now,
      expiresAt: null,
      ...before,
      ...after,
    };
    const { team_id: teamId, token } = json.user_group;
    if (before === undefined) {
      assert.ok(!this.#issued.teamIds.has(teamId), 'a team_id was issued before');
      this.#issued.teamIds.add(teamId);
      group.teamId = teamId;
    } else if (before.version !== group.version) group.updatedAt = now;
    if (group.token === null) {
      assert.match(token, /^ugt_[0-9A-Za-z]{52}$/);
      assert.ok(!this.#issued.tokens.includes(token), 'a token was issued before');
      this.#issued.tokens.push(token);
      group.token = token;
      group.expiresAt = call.kind === 'rotate' ? new Instant(span, call.graceSeconds) : null;
    }
    this.#groups.set(group.id, group);
    return group;
  }
}

function operationOf(call: CallOfOneId, group: Group | undefined): Operation {
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

/** Applies a JSON merge patch (RFC 7396). */
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

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
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

// ---- The responses, each with its fields in order.

function assertResponse(response: TestResponse, call: Call, group: KnownGroup, isCreated: boolean): void {
  const isV1Create = isCreated && call.kind === 'get or create' && call.isV1;
  assert.equal(response.status, isV1Create ? 201 : 200);
  assert.equal(response.text, textOf(call, group, isCreated, response));
  assert.equal(response.headers.etag, call.kind === 'resolve' ? undefined : etagOf(group));
  assert.equal(response.headers['user-group-drift'], isCreated ? undefined : driftOf(call, group));
}

function textOf(call: Call, group: KnownGroup, isCreated: boolean, { json }: TestResponse): string {
  const { properties, token } = group;
  switch (call.kind) {
    case 'get or create': {
      const shown = 'properties' in call.fields ? `,"properties":${properties}` : '';
      return `{"success":1,"new_user_group":${isCreated},"user_group":{${identityText(group)}${shown}}}`;
    }
    case 'update':
      return `{"success":1,"user_group":{${identityText(group)},"properties":${properties},${tagText(group)}}}`;
    case 'rotate':
      return `{"success":1,"user_group":{${identityText(group)},${tagText(group)}}}`;
    case 'resolve':
      return `{"success":1,"user_group":${viewedText(group)},"token":${tokenText(call.token, group, json.token)}}`;
    default:
      return `{"success":1,"user_group":${storedText(group, `"token":"${token}",`, json.user_group)}}`;
  }
}

function tagText({ environment }: KnownGroup): string {
  return `"api_environment_tag":"${environment}"`;
}

function identityText({ teamId, token, name, id }: KnownGroup): string {
  return `"team_id":${teamId},"token":"${token}","name":${JSON.stringify(name)},"provided_id":${JSON.stringify(id)}`;
}

function viewedText(group: KnownGroup): string {
  const { teamId, id, name, properties, mapping } = group;
  const names = `"provided_id":${JSON.stringify(id)},"name":${JSON.stringify(name)}`;
  return `{"team_id":${teamId},${names},"properties":${properties},"mapping":${mapping},${tagText(group)}}`;
}

function tokenText(token: string, group: KnownGroup, shown: { expires_at: string }): string {
  if (token === group.token) return '{"status":"current","expires_at":null}';
  return `{"status":"retiring","expires_at":"${group.expiresAt!.format(shown.expires_at)}"}`;
}

/** `token` is the member with a trailing comma, or empty. */
function storedText(
  group: KnownGroup,
  token: string,
  shown: { created_at: string; updated_at: string; last_seen_at: string | null },
): string {
  const { teamId, name, id, mapping, properties, version, createdAt, updatedAt } = group;
  return (
    `{"team_id":${teamId},${token}"name":${JSON.stringify(name)},"provided_id":${JSON.stringify(id)},` +
    `"mapping":${mapping},"properties":${properties},${tagText(group)},"version":${version},` +
    `"created_at":"${createdAt.format(shown.created_at)}","updated_at":"${updatedAt.format(shown.updated_at)}",` +
    `"suspended":false,"last_seen_at":${seenText(shown.last_seen_at)}}`
  );
}

/** Checks only the format, because the service writes the time some seconds after a resolve. */
function seenText(lastSeenAt: string | null): string {
  if (lastSeenAt !== null) assert.match(lastSeenAt, /^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/);
  return JSON.stringify(lastSeenAt);
}
