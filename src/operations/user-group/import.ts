// Imports user groups from another system with their existing tokens, one per line. Importing a line is
// idempotent: an existing group is not changed. Lines imported in the same turn of the event loop form one
// batch, except that lines of the same group are imported in order.

import type { Caller } from '../../domain/api-token.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Tenant } from '../../domain/tenant.ts';
import {
  addressOfUserGroupToken,
  digestOfImportedToken,
  digestToken,
  mintUserGroupToken,
  PresentedToken,
  type TokenAddress,
  type TokenDigest,
} from '../../domain/token.ts';
import {
  keyToString,
  type SettableFields,
  type UserGroup,
  type UserGroupKey,
  userGroupKey,
  versionTag,
} from '../../domain/user-group/user-group.ts';
import {
  type ImportedUserGroupBody,
  importedUserGroupBody,
} from '../../domain/user-group/user-group-body.ts';
import { Problem } from '../../problem.ts';
import type { Command, CommandResult } from '../../store/port.ts';
import type { Context } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';
import { changedTooOften, MAX_ATTEMPTS } from '../refusals.ts';
import { WorkspaceDeleted } from '../workspace/workspace.ts';
import { findByToken } from './find-by-token.ts';
import { computeDrift, newUserGroup } from './get-or-create.ts';
import { type LineResult, type RefusedLine, refusedLine } from './line-result.ts';
import { writeUpdate } from './update.ts';
import { checkPolicies, previewRules, type Rules } from './violations.ts';

interface ImportJob {
  context: Context;
  caller: Caller;
  /** Whether a line replaces the differing fields of an existing group. */
  replaces: boolean;
}

/** Token of a line, and the addresses under which it is looked up. */
interface ImportedToken {
  token: Secret;
  claim: TokenDigest;
  /** Address of the token if this service issued it. */
  issued: TokenAddress | null;
}

interface ImportedLine {
  key: UserGroupKey;
  body: ImportedUserGroupBody;
  imported: ImportedToken | null;
}

/**
 * Imports the group of a line, or returns why the line is refused. Throws `WorkspaceDeleted`, or
 * `StoreUnavailable` if it is unknown whether the line was imported.
 */
export function importLine(job: ImportJob, line: Buffer): Promise<LineResult> {
  return orRefusal(line, (body, imported) => {
    const { groupMutex, store } = job.context;
    const key = userGroupKey(job.caller, body.userGroupId);
    return groupMutex.runExclusive(keyToString(key), store, () => importGroup(job, { key, body, imported }));
  });
}

async function importGroup(job: ImportJob, line: ImportedLine): Promise<LineResult> {
  // Lines of one group are serialized in this process; requests and other processes can interfere.
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const result = await importOnce(job, line);
    if (result !== 'changed') return result;
  }
  throw changedTooOften();
}

/** Returns `changed` if the group changed between two statements. */
async function importOnce(job: ImportJob, line: ImportedLine): Promise<LineResult | 'changed'> {
  const stored = await job.context.store.read({ kind: 'findUserGroup', key: line.key });
  if (stored !== null) return reconcile(job, line, stored);
  const result = await create(job, line);
  if (result === 'token_taken') return tokenTaken();
  if (result === 'workspace_not_found') throw new WorkspaceDeleted();
  return result.created ? { result: 'created' } : reconcile(job, line, result.userGroup);
}

interface ImportPreview {
  context: Pick<Context, 'store' | 'propertyValidator'>;
  /** null for a new workspace. */
  tenant: Tenant | null;
  rules: Rules;
  replaces: boolean;
}

/** Returns what `importLine` would return if no preceding line had been imported. */
export function previewLine(preview: ImportPreview, line: Buffer): Promise<LineResult> {
  const { context, tenant, rules } = preview;
  return orRefusal(line, async (body, imported) => {
    const result = await previewChange(preview, body, imported);
    if (tenant !== null) await previewLineRules(context, tenant, rules, body, result);
    return result;
  });
}

async function previewChange(
  { context, tenant, replaces }: ImportPreview,
  body: ImportedUserGroupBody,
  imported: ImportedToken | null,
): Promise<LineResult> {
  const key = tenant && userGroupKey(tenant, body.userGroupId);
  const stored = key && (await context.store.read({ kind: 'findUserGroup', key }));
  if (stored !== null) return compare(body, imported, stored, replaces);
  const holder =
    imported && (await findByToken(context.store, new PresentedToken(imported.token.reveal()), null));
  return holder === null ? { result: 'created' } : tokenTaken();
}

/** Throws `mapping_invalid` and `properties_invalid` if the rules refuse the planned change. */
export async function previewLineRules(
  context: Pick<Context, 'propertyValidator'>,
  tenant: Tenant,
  rules: Rules,
  body: ImportedUserGroupBody,
  { result }: LineResult,
): Promise<void> {
  if (result !== 'created' && result !== 'updated') return;
  const { userGroupId, mapping = null, properties = null } = body;
  const fields = result === 'created' ? { mapping, properties } : body;
  await previewRules(context, tenant, rules, userGroupId, fields);
}

export async function orRefusal(
  line: Buffer,
  work: (body: ImportedUserGroupBody, imported: ImportedToken | null) => Promise<LineResult>,
): Promise<LineResult> {
  try {
    const body = importedUserGroupBody.read(line);
    return await work(body, body.token && parseImportedToken(body.token));
  } catch (error) {
    if (!(error instanceof Problem) || error.errors.length === 0) throw error;
    return { result: 'refused', code: error.code, errors: error.errors };
  }
}

function parseImportedToken(token: Secret): ImportedToken {
  const claim = digestOfImportedToken(token.reveal());
  if (claim !== null) return { token, claim, issued: addressOfUserGroupToken(token.reveal()) };
  throw invalidField(
    '/token',
    'has the format of a token of this service but is not a user group token: it is mistyped, or it is an API token',
  );
}

async function create(
  job: ImportJob,
  line: ImportedLine,
): Promise<Exclude<CommandResult<'importUserGroup'>, 'unsettled'>> {
  const { context, caller } = job;
  const { key, body } = line;
  const { mapping = null, properties = null } = body;
  await checkPolicies(context, caller, body.userGroupId, { mapping, properties });
  const command = await commandWithNewId(context, line);
  const event = await userGroupEvent(context, caller, 'user_group.created', key);
  const result = await context.store.write({ ...command, event });
  if (result !== 'unsettled') return result;
  context.teamIds.discard(command.lease);
  return create(job, line);
}

async function commandWithNewId(
  context: Context,
  { key, body, imported }: ImportedLine,
): Promise<Command<'importUserGroup'>> {
  const { token, claim, issued } = imported ?? {
    token: mintUserGroupToken(key.bucket),
    claim: null,
    issued: null,
  };
  // A token that this service issued for the bucket of this group is looked up like any other token.
  const isAddressed = claim === null || issued?.bucket === key.bucket;
  const tokenDigest = isAddressed ? digestToken(token.reveal()) : claim;
  const userGroup = await newUserGroup(context, key, body, { token, tokenDigest });
  return { kind: 'importUserGroup', ...userGroup, claim, issued };
}

/**
 * Compares the existing group with the line, and updates it if `replaces` is set and it is still the same: another group
 * may have another token.
 */
async function reconcile(
  { context, caller, replaces }: ImportJob,
  { key, body, imported }: ImportedLine,
  stored: UserGroup,
): Promise<LineResult | 'changed'> {
  const result = compare(body, imported, stored, replaces);
  if (result.result !== 'updated') return result;
  const { userGroupId, token: _, suspended, ...fields } = body;
  await checkPolicies(context, caller, userGroupId, fields);
  const suspendedAt = suspended ? context.clock() : null;
  const precondition = { ifMatch: [versionTag(stored)] };
  const change = { ...fields, ...(suspended !== undefined && { suspendedAt }), precondition };
  const updated = await writeUpdate(context, caller, key, change);
  if (updated === 'version_mismatch') return 'changed';
  return updated === 'not_found' ? deleted() : result;
}

function compare(
  body: ImportedUserGroupBody,
  imported: ImportedToken | null,
  stored: UserGroup,
  replaces: boolean,
): LineResult {
  if (imported !== null && !hasToken(stored, imported)) return tokenDiffers();
  return compareFields(body, stored, replaces);
}

/** Compares the fields that a line may change. */
export function compareFields(
  body: ImportedUserGroupBody,
  stored: SettableFields & Pick<UserGroup, 'suspendedAt'>,
  replaces: boolean,
): LineResult {
  const drift: string[] = computeDrift(body, stored);
  const isSuspended = stored.suspendedAt !== null;
  if (body.suspended !== undefined && body.suspended !== isSuspended) drift.push('suspended');
  if (drift.length === 0) return { result: 'unchanged' };
  return replaces ? { result: 'updated' } : userGroupDiffers(drift);
}

/** Whether the group has the token, also as its previous one: an import does not undo a rotation. */
function hasToken(
  { tokenDigest, previousTokenDigest }: UserGroup,
  { claim, issued }: ImportedToken,
): boolean {
  return [claim, issued?.digest].some((digest) => digest === tokenDigest || digest === previousTokenDigest);
}

function tokenTaken(): RefusedLine {
  const detail =
    'is a duplicate: the token belongs to another user group. Correct it, or omit it to generate a new token';
  return refusedLine('token_taken', detail, '/token');
}

function tokenDiffers(): RefusedLine {
  const detail =
    'differs from the token of the user group, and an import never replaces a token: omit it, or delete the user group first';
  return refusedLine('token_differs', detail, '/token');
}

function userGroupDiffers(fields: readonly string[]): RefusedLine {
  const detail = 'differs from the stored value: use --update to replace it';
  return refusedLine('user_group_differs', detail, ...fields.map((field) => `/${field}`));
}

function deleted(): RefusedLine {
  const detail = 'names a user group that was deleted concurrently: import the line again';
  return refusedLine('user_group_not_found', detail, '/user_group_id');
}
