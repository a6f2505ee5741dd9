// Brings user groups from elsewhere with the tokens that they have, a line each. A line can be imported again: what
// is there already is left as it is. Lines that are imported in one turn of the event loop are one batch, but those of
// one group, which are imported in their order.

import {
  type ImportedUserGroupBody,
  importedUserGroupBody,
  invalidField,
  type UserGroupFields,
} from '../domain/body.ts';
import type { Secret } from '../domain/secret.ts';
import {
  addressOfUserGroupToken,
  digestOf,
  digestOfImportedToken,
  mintUserGroupToken,
  type TokenAddress,
  type TokenDigest,
} from '../domain/token.ts';
import { type Environment, keyOf, spell, type UserGroup, type UserGroupKey } from '../domain/user-group.ts';
import { type FieldError, Problem } from '../problem.ts';
import type { Command, CommandResult } from '../store/store.ts';
import type { Context } from './context.ts';
import { findByToken } from './find-by-token.ts';
import { driftOf, newUserGroup } from './get-or-create.ts';

export interface Importing {
  context: Pick<Context, 'store' | 'keyRing' | 'teamIds' | 'turns' | 'clock'>;
  workspaceId: number;
  environment: Environment;
  /** Whether a line replaces the fields of a group that is there and differs from it. */
  replaces: boolean;
}

export type LineResult = { result: 'created' | 'updated' | 'unchanged' } | RefusedLine;

export interface RefusedLine {
  result: 'refused';
  code: string;
  errors: readonly FieldError[];
}

/** The token that a line brings, and where it is looked up. */
interface BroughtToken {
  token: Secret;
  claim: TokenDigest;
  /** Where it is if it was issued here. */
  issued: TokenAddress | null;
}

/** Imports the group of a line, or says why not. Throws `StoreUnavailable`: then the line may be imported or not. */
export function importLine(importing: Importing, line: Buffer): Promise<LineResult> {
  return orRefusal(line, (body, brought) => {
    const { turns, store } = importing.context;
    const key = keyOf(importing.workspaceId, importing.environment, body.userGroupId);
    return turns.take(spell(key), store, () => importGroup(importing, key, body, brought));
  });
}

async function importGroup(
  importing: Importing,
  key: UserGroupKey,
  body: ImportedUserGroupBody,
  brought: BroughtToken | null,
): Promise<LineResult> {
  const stored = await importing.context.store.read({ kind: 'findUserGroup', key });
  if (stored !== null) return reconcile(importing, key, body, brought, stored);
  const made = await create(importing.context, key, body, brought);
  if (made === 'token_taken') return tokenTaken();
  return made.created ? { result: 'created' } : reconcile(importing, key, body, brought, made.userGroup);
}

/** What `importLine` would say, had the lines before it not been imported. `workspaceId` is null for a new workspace. */
export function previewLine(
  {
    context,
    workspaceId,
    environment,
    replaces,
  }: Pick<Importing, 'environment' | 'replaces'> & {
    context: Pick<Context, 'store'>;
    workspaceId: number | null;
  },
  line: Buffer,
): Promise<LineResult> {
  return orRefusal(line, async (body, brought) => {
    const key = workspaceId === null ? null : keyOf(workspaceId, environment, body.userGroupId);
    const stored = key && (await context.store.read({ kind: 'findUserGroup', key }));
    if (stored !== null) return compare(body, brought, stored, replaces);
    const holder = brought && (await findByToken(context.store, brought.token.reveal()));
    return holder === null ? { result: 'created' } : tokenTaken();
  });
}

async function orRefusal(
  line: Buffer,
  work: (body: ImportedUserGroupBody, brought: BroughtToken | null) => Promise<LineResult>,
): Promise<LineResult> {
  try {
    const body = importedUserGroupBody.read(line);
    return await work(body, body.token && broughtToken(body.token));
  } catch (error) {
    if (!(error instanceof Problem) || error.errors.length === 0) throw error;
    return { result: 'refused', code: error.code, errors: error.errors };
  }
}

function broughtToken(token: Secret): BroughtToken {
  const claim = digestOfImportedToken(token.reveal());
  if (claim !== null) return { token, claim, issued: addressOfUserGroupToken(token.reveal()) };
  throw invalidField(
    '/token',
    'has the form of a token of this service and is none of a user group: it is mistyped, or an API token',
  );
}

async function create(
  context: Importing['context'],
  key: UserGroupKey,
  body: ImportedUserGroupBody,
  brought: BroughtToken | null,
): Promise<Exclude<CommandResult<'importUserGroup'>, 'unsettled'>> {
  const command = await commandWithNewId(context, key, body, brought);
  const made = await context.store.write(command);
  if (made !== 'unsettled') return made;
  context.teamIds.end(command.lease);
  return create(context, key, body, brought);
}

async function commandWithNewId(
  context: Importing['context'],
  key: UserGroupKey,
  body: ImportedUserGroupBody,
  brought: BroughtToken | null,
): Promise<Command<'createUserGroup' | 'importUserGroup'>> {
  if (brought === null) {
    const token = mintUserGroupToken(key.bucket);
    const sealed = { token, tokenDigest: digestOf(token.reveal()) };
    return { kind: 'createUserGroup', ...(await newUserGroup(context, key, body, sealed)) };
  }
  const { token, claim, issued } = brought;
  // A token that was issued here and names the bucket of this group is found like any other.
  const tokenDigest = issued?.bucket === key.bucket ? issued.digest : claim;
  const userGroup = await newUserGroup(context, key, body, { token, tokenDigest });
  return { kind: 'importUserGroup', ...userGroup, claim, issued };
}

/** Makes the group that is there what the line says, where that is asked for. */
async function reconcile(
  { context, replaces }: Importing,
  key: UserGroupKey,
  body: ImportedUserGroupBody,
  brought: BroughtToken | null,
  stored: UserGroup,
): Promise<LineResult> {
  const result = compare(body, brought, stored, replaces);
  if (result.result !== 'updated') return result;
  const { userGroupId: _, token: __, ...fields } = body;
  const updated = await context.store.write({
    kind: 'updateUserGroup',
    key,
    ...fields,
    now: context.clock(),
  });
  return typeof updated === 'object' ? result : deleted();
}

function compare(
  body: UserGroupFields,
  brought: BroughtToken | null,
  stored: UserGroup,
  replaces: boolean,
): LineResult {
  if (brought !== null && !isTokenOf(stored, brought)) return tokenDiffers();
  const drift = driftOf(body, stored);
  if (drift.length === 0) return { result: 'unchanged' };
  return replaces ? { result: 'updated' } : userGroupDiffers(drift);
}

/** Also of a token that was rotated since: an import takes no rotation back. */
function isTokenOf(
  { tokenDigest, previousTokenDigest }: UserGroup,
  { claim, issued }: BroughtToken,
): boolean {
  return [claim, issued?.digest].some((digest) => digest === tokenDigest || digest === previousTokenDigest);
}

function tokenTaken(): RefusedLine {
  return refused('token_taken', [
    [
      '/token',
      'belongs to another user group, and no token serves two: find out whose it is, or leave it out to have a new one made',
    ],
  ]);
}

function tokenDiffers(): RefusedLine {
  return refused('token_differs', [
    [
      '/token',
      'is not the one that the user group has, and an import replaces none: leave it out, or delete the user group first',
    ],
  ]);
}

function userGroupDiffers(fields: readonly string[]): RefusedLine {
  const detail = 'differs from what the user group has: --update replaces it';
  return refused(
    'user_group_differs',
    fields.map((field) => [`/${field}`, detail]),
  );
}

function deleted(): RefusedLine {
  return refused('user_group_not_found', [
    ['/user_group_id', 'was deleted by somebody while it was imported: import it again'],
  ]);
}

function refused(code: string, errors: readonly (readonly [pointer: string, detail: string])[]): RefusedLine {
  return { result: 'refused', code, errors: errors.map(([pointer, detail]) => ({ pointer, detail })) };
}
