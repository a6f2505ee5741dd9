// Imports through the API of a running service: each line takes a read, and the calls for what differs.

import { jsonText, NULL, objectText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { invalidField } from '../../domain/request-body.ts';
import {
  type SettableFields,
  type UserGroup,
  type VersionTag,
  versionTag,
} from '../../domain/user-group/user-group.ts';
import type { ImportedUserGroupBody } from '../../domain/user-group/user-group-body.ts';
import { KeyedMutex } from '../../operations/machinery/keyed-mutex.ts';
import { compareFields, orRefusal, previewLineRules } from '../../operations/user-group/import.ts';
import { type LineResult, refusedLine } from '../../operations/user-group/line-result.ts';
import { ServiceClient, type ServiceResponse } from '../service-client.ts';
import type { ServiceObject } from '../service-object.ts';
import type { ExistingUserGroup, ImportSettings, ImportTarget, StartBatch } from './import-target.ts';
import { readRules } from './service-rules.ts';

const WITHOUT_DEADLINE = { inTime: <Result>(result: Promise<Result>) => result };
/** Placeholder: this process checks the rules of only one environment. */
const TENANT = { workspaceId: 0, environment: 'Customer' } as const;
/** Each attempt fails only if the user group was created, changed or deleted in between. */
const MAX_ATTEMPTS = 5;

interface StoredFields extends SettableFields, Pick<UserGroup, 'suspendedAt'> {
  token: string | null;
  version: VersionTag;
}

/** Why the service did not do it; `changed` if the user group changed in between; null if it did. */
type Refusal = LineResult | 'changed' | null;

export class ServiceTarget implements ImportTarget {
  readonly concurrency = 16;
  readonly #client: ServiceClient;
  readonly #settings: ImportSettings;
  readonly #groupMutex = new KeyedMutex();

  constructor(url: string, settings: ImportSettings) {
    this.#client = new ServiceClient(url, 'read-write');
    this.#settings = settings;
  }

  async preview(): Promise<StartBatch> {
    const rules = await readRules(this.#client);
    return async () => (line) =>
      orRefusal(line, async (body) => {
        const result = this.#compare(body, await this.#find(body.userGroupId));
        await previewLineRules(this.#settings, TENANT, rules, body, result);
        return result;
      });
  }

  async start(): Promise<StartBatch> {
    return async () => (line) =>
      orRefusal(line, (body) =>
        this.#groupMutex.runExclusive(body.userGroupId, WITHOUT_DEADLINE, () => this.#import(body)),
      );
  }

  async *userGroups(): AsyncGenerator<ExistingUserGroup[]> {
    for await (const groups of this.#client.pages('/v1/user-groups', 'user_groups'))
      yield groups.map((group) => ({
        id: group.string('provided_id'),
        updatedAt: Date.parse(group.string('updated_at')) + this.#client.clockBehindMs,
        version: versionIn(group),
      }));
  }

  async remove({ id, version }: ExistingUserGroup): ReturnType<ImportTarget['remove']> {
    const response = await this.#client.call('DELETE', userGroupPath(id), { headers: ifMatch(version) });
    const code = response.problem?.code;
    if (code === 'user_group_not_found') return 'not_found';
    if (code === 'version_mismatch') return 'version_mismatch';
    this.#client.bodyOf(response);
    return 'deleted';
  }

  async #import(body: ImportedUserGroupBody): Promise<LineResult> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.#find(body.userGroupId);
      const result = this.#compare(body, stored);
      if (result.result === 'refused' || result.result === 'unchanged') return result;
      const refusal = stored === null ? await this.#create(body) : await this.#update(body, stored);
      if (refusal === null) return result;
      if (refusal !== 'changed') return refusal;
    }
    const detail = 'names a user group that is being changed too often: import the line again';
    return refusedLine('overloaded', detail, '/user_group_id');
  }

  #compare(body: ImportedUserGroupBody, stored: StoredFields | null): LineResult {
    const token = body.token?.reveal();
    if (token !== undefined && token !== stored?.token) return tokenRefused();
    return stored === null ? { result: 'created' } : compareFields(body, stored, this.#settings.replaces);
  }

  async #find(id: string): Promise<StoredFields | null> {
    const response = await this.#client.call('GET', userGroupPath(id));
    if (response.problem?.code === 'user_group_not_found') return null;
    const userGroup = this.#client.bodyOf(response).object('user_group');
    return {
      name: userGroup.string('name'),
      mapping: userGroup.textOrNull('mapping'),
      properties: userGroup.textOrNull('properties'),
      suspendedAt: userGroup.boolean('suspended') ? 0 : null,
      token: userGroup.stringOrNull('token'),
      version: versionIn(userGroup),
    };
  }

  async #create(body: ImportedUserGroupBody): Promise<Refusal> {
    const headers = { 'if-none-match': '*' };
    const response = await this.#client.call('POST', '/v1/user-groups', { body: textOfBody(body), headers });
    return this.#refusal(response) ?? (body.suspended ? this.#suspend(body, response) : null);
  }

  async #update(body: ImportedUserGroupBody, { suspendedAt, version }: StoredFields): Promise<Refusal> {
    // Another group may have another token.
    const headers = ifMatch(version);
    const response = await this.#client.call('PUT', '/api/user', { body: textOfBody(body), headers });
    const isSuspended = suspendedAt !== null;
    const refusal = this.#refusal(response);
    if (refusal !== null || body.suspended === undefined || body.suspended === isSuspended) return refusal;
    return this.#suspend(body, response);
  }

  /** Suspends or resumes the user group that was just written, unless another one has got its id since. */
  async #suspend(
    { userGroupId, suspended }: ImportedUserGroupBody,
    { entityTag }: ServiceResponse,
  ): Promise<Refusal> {
    const path = `${userGroupPath(userGroupId)}/${suspended ? 'suspend' : 'resume'}`;
    const headers = entityTag === null ? {} : { 'if-match': entityTag };
    return this.#refusal(await this.#client.call('POST', path, { headers }));
  }

  #refusal(response: ServiceResponse): Refusal {
    const { problem } = response;
    if (problem === null) return null;
    const { code, errors } = problem;
    if (code === 'version_mismatch' || code === 'user_group_not_found') return 'changed';
    if (errors.length > 0) return { result: 'refused', code, errors };
    throw this.#client.refusal(problem);
  }
}

function versionIn(userGroup: ServiceObject): VersionTag {
  return versionTag({ teamId: userGroup.number('team_id'), version: userGroup.number('version') });
}

function ifMatch(version: VersionTag): Record<string, string> {
  return { 'if-match': `"${version}"` };
}

/** Throws `invalid_request` for an id that URLs resolve as a path segment, even percent-encoded. */
function userGroupPath(id: string): string {
  if (id === '.' || id === '..')
    throw invalidField('/user_group_id', `cannot be "${id}" in a URL: run import without --url`);
  return `/v1/user-groups/${encodeURIComponent(id)}`;
}

/** Writes the fields that the line has; `mapping` and `properties` with exact digits. */
function textOfBody({ userGroupId, name, mapping, properties }: ImportedUserGroupBody): JsonText {
  const fields: Record<keyof SettableFields, JsonText | undefined> = {
    name: jsonText(name),
    mapping: mapping === null ? NULL : mapping,
    properties: properties === null ? NULL : properties,
  };
  return objectText([['user_group_id', jsonText(userGroupId)], ...Object.entries(fields)]);
}

function tokenRefused(): LineResult {
  const detail =
    'is not the token of this user group, and tokens are imported into the database only: omit it, or run import without --url';
  return refusedLine('token_differs', detail, '/token');
}
