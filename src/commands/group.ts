import { Command, InvalidArgumentError, Option } from 'commander';
import type { Caller } from '../domain/api-token.ts';
import { parseInstant, timestamp, timestampOrNull } from '../domain/instant.ts';
import { jsonText, objectText, textMembers } from '../domain/json/json-tree.ts';
import type { JsonText } from '../domain/json/strict-json.ts';
import type { Secret } from '../domain/secret.ts';
import { didYouMean } from '../domain/suggest.ts';
import { environments } from '../domain/tenant.ts';
import {
  previousTokenUntil,
  settableTexts,
  type UserGroup,
  userGroupKey,
  versionTag,
} from '../domain/user-group/user-group.ts';
import { userGroupRenameBody } from '../domain/user-group/user-group-body.ts';
import { loadKeyRing } from '../key-ring-source.ts';
import type { Context } from '../operations/context.ts';
import { openStoredToken } from '../operations/database/open-stored-token.ts';
import { atCurrentConfig } from '../operations/document/environment-config.ts';
import { deleteUserGroup } from '../operations/user-group/delete.ts';
import { type ListQuery, userGroupPages } from '../operations/user-group/list.ts';
import { findUserGroup } from '../operations/user-group/read.ts';
import { renameUserGroup } from '../operations/user-group/rename.ts';
import { rotateTokenById } from '../operations/user-group/rotate.ts';
import { suggestUserGroup } from '../operations/user-group/suggest.ts';
import { resumeUserGroup, suspendUserGroup } from '../operations/user-group/suspend.ts';
import { Problem } from '../problem.ts';
import { commandContext, contextWithKeys } from './command-context.ts';
import { NotFound, UsageError } from './exit-code.ts';
import { parseGracePeriod } from './option/duration.ts';
import { onPlace, type Place, type PlaceOptions } from './option/workspace-option.ts';
import { confirmByTyping } from './terminal/confirm.ts';
import { printJson, printList, printResult, printTable } from './terminal/output.ts';

const LIST_PAGE = 1_000;

type TokenOptions = PlaceOptions & { showToken?: boolean };
type ListOptions = PlaceOptions &
  Pick<ListQuery, 'search' | 'match' | 'dataSource' | 'seenBefore'> & { suspended?: 'true' | 'false' };
/** The grace period is in milliseconds. */
type RotateOptions = TokenOptions & { gracePeriod?: number };
type DeleteOptions = PlaceOptions & { yes?: boolean };

export function groupCommand(): Command {
  return new Command('group')
    .summary('list, show, rotate, rename, suspend, resume and delete user groups')
    .description(
      'User groups are the customers of a workspace. These commands can run while the service is running; changes take ' +
        'effect with its next request.',
    )
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(rotateCommand())
    .addCommand(renameCommand())
    .addCommand(suspendCommand())
    .addCommand(resumeCommand())
    .addCommand(deleteCommand());
}

function listCommand(): Command {
  const command = new Command('list')
    .summary('list the user groups of a workspace and environment, without their tokens')
    .description(
      'Lists the user groups that meet every condition, ordered by id; a search by prefix lists those whose id matches ' +
        'before those of which only the name matches.',
    )
    .option('--search <text>', 'only user groups whose id or name starts with the text')
    .addOption(
      new Option('--match <how>', 'how --search matches: contains ignores case and accents').choices([
        'prefix',
        'contains',
      ]),
    )
    .option(
      '--data-source <id>',
      'only user groups that use the data source, also as the default of a schema',
    )
    .addOption(
      new Option('--suspended [boolean]', 'only suspended user groups, or with false only the others')
        .choices(['true', 'false'])
        .preset('true'),
    )
    .option(
      '--seen-before <timestamp>',
      'only user groups that were last seen before it, or never, such as 2026-03-05T16:00:00Z',
      parseTimestamp,
    );
  return onPlace(command, 'the user group', list);
}

async function list(place: Place, options: ListOptions): Promise<void> {
  const { workspace, environment, json: _, databaseUrl: __, suspended, ...conditions } = options;
  if (conditions.match !== undefined && conditions.search === undefined)
    throw new UsageError('--match requires --search');
  const caller = await atCurrentConfig(place.store, place.caller);
  const pages = userGroupPages(commandContext(place), caller, {
    limit: LIST_PAGE,
    ...conditions,
    ...(suspended !== undefined && { suspended: suspended === 'true' }),
  });
  const columns = {
    ID: 'user_group_id',
    STATUS: ({ suspended_at }: GroupFields) => (suspended_at === null ? 'active' : 'suspended'),
    'LAST SEEN': 'last_seen_at',
    CREATED: 'created_at',
    NAME: 'name',
  } as const;
  const toFields = (userGroup: UserGroup) => fieldsBesideJson(userGroup, options, null);
  await printList(options, pages, toFields, columns, (userGroup) => groupJson(userGroup, options, null));
}

function showCommand(): Command {
  const command = new Command('show')
    .summary('show everything stored of a user group')
    .addOption(showTokenOption());
  return withUserGroup(command, async ({ store, userGroup, config }, options: TokenOptions) => {
    const token = options.showToken ? openStoredToken(userGroup, await loadKeyRing(config, store)) : null;
    if (options.json) printJson(groupJson(userGroup, options, token));
    else printTable(['FIELD', 'VALUE'], printedFields(userGroup, options, token));
  });
}

function rotateCommand(): Command {
  const command = new Command('rotate')
    .summary('replace the token of a user group')
    .description(
      'Replaces the token of a user group. Pages embedded with the old token stop working when its grace period ends; ' +
        'get-or-create returns the new token from now on. A token that an earlier rotation replaced is no longer valid in either case.',
    )
    .option(
      '--grace-period <duration>',
      'how long the old token still resolves, such as 1h or 7d, at most 30d; 0 for not at all (default: UGS_DEFAULT_GRACE_PERIOD_SECONDS)',
      parseGracePeriod,
    )
    .addOption(showTokenOption());
  return withUserGroup(command, rotate);
}

async function rotate(found: Found, options: RotateOptions): Promise<void> {
  const { caller, id } = found;
  const { gracePeriod, showToken } = options;
  const context = await contextWithKeys(found);
  const seconds = gracePeriod === undefined ? undefined : gracePeriod / 1_000;
  const { userGroup: rotated, token } = await rotateTokenById(context, caller, id, seconds, undefined);
  const until = rotated.previousTokenExpiresAt;
  const result = {
    user_group_id: id,
    previous_token_expires_at: timestampOrNull(until),
    ...(showToken && { token: token.reveal() }),
  };
  const old =
    until === null ? 'The old token is no longer valid' : `The old token resolves until ${timestamp(until)}`;
  const shown = showToken ? `\n\n${token.reveal()}` : '';
  printResult(options, result, `Rotated the token of user group ${id}. ${old}.${shown}`);
}

function renameCommand(): Command {
  const command = new Command('rename')
    .summary('give a user group another id')
    .description(
      'Gives a user group another id. It keeps its token and everything else; data sources that are reserved for it stay so. ' +
        'The old id is free: a program that asks for it creates another user group.',
    );
  return withUserGroup(command, async (found, options: PlaceOptions, newId: string) => {
    const { caller, id } = found;
    await rename(await contextWithKeys(found), caller, id, newId);
    const result = { user_group_id: newId, previous_user_group_id: id };
    printResult(options, result, `Renamed user group ${id} to ${newId}.`);
  }).argument('<new-id>', 'its new user_group_id');
}

/** Throws `UsageError` for a new id that is not valid, or that another group has. */
async function rename(context: Context, caller: Caller, id: string, newId: string): Promise<void> {
  try {
    const body = userGroupRenameBody.read(Buffer.from(JSON.stringify({ user_group_id: newId })));
    await renameUserGroup(context, caller, id, body.userGroupId, undefined);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'invalid_request') throw new UsageError(error.message);
    if (error.code === 'user_group_exists')
      throw new UsageError(`user group ${newId} already exists; choose another id`);
    throw error;
  }
}

function suspendCommand(): Command {
  const command = new Command('suspend')
    .summary('suspend a user group: its tokens no longer resolve')
    .description(
      'Suspends a user group. Its tokens are rejected like invalid ones from the next request on, until "group resume". The ' +
        'group itself can still be read, changed and rotated.',
    );
  return withSuspension(command, true);
}

function resumeCommand(): Command {
  const command = new Command('resume').summary(
    'resume a suspended user group: the same tokens resolve again',
  );
  return withSuspension(command, false);
}

function withSuspension(command: Command, suspended: boolean): Command {
  const [apply, done] = suspended ? [suspendUserGroup, 'Suspended'] : [resumeUserGroup, 'Resumed'];
  return withUserGroup(command, async (found, options: PlaceOptions) => {
    const { caller, id } = found;
    await apply(commandContext(found), caller, id);
    printResult(options, { user_group_id: id, suspended }, `${done} user group ${id}.`);
  });
}

function deleteCommand(): Command {
  const command = new Command('delete')
    .summary('delete a user group and its token')
    .description(
      'Deletes a user group. Its token is no longer valid from the next request on and cannot be restored: a group that is created ' +
        'with the same id gets another token. Asks for confirmation, unless --yes is set.',
    )
    .option('--yes', 'delete without asking for confirmation');
  return withUserGroup(command, async (found, options: DeleteOptions) => {
    const { caller, id, userGroup } = found;
    if (!options.yes) await confirmDeletion(userGroup, options);
    // Another group may have got the id since this one was confirmed.
    const precondition = options.yes ? undefined : { ifMatch: [versionTag(userGroup)] };
    await deleteUserGroup(commandContext(found), caller, id, precondition).catch((error) => {
      if (!(error instanceof Problem && error.code === 'version_mismatch')) throw error;
      throw new UsageError(`user group ${id} was changed at this moment; run the command again`);
    });
    printResult(options, { user_group_id: id, status: 'deleted' }, `Deleted user group ${id}.`);
  });
}

function confirmDeletion(
  { providedId, name }: UserGroup,
  { workspace, environment }: PlaceOptions,
): Promise<void> {
  return confirmByTyping(
    providedId,
    `This deletes user group ${providedId} (${name}) of workspace ${workspace}, ${environment}. Its token cannot be ` +
      'restored.\nType the id of the user group to confirm: ',
  );
}

function showTokenOption(): Option {
  return new Option('--show-token', 'print the token too, which requires the key ring');
}

interface Found extends Place {
  id: string;
  userGroup: UserGroup;
}

/** Adds the id of a group as an argument, the options of its place, and an action that works on the group. */
function withUserGroup<Options extends PlaceOptions, Arguments extends unknown[]>(
  command: Command,
  work: (found: Found, options: Options, ...args: Arguments) => Promise<void>,
): Command {
  command.argument('<id>', 'user_group_id of the user group');
  const workOnGroup = async (place: Place, options: Options, id: string, ...args: Arguments) => {
    try {
      const userGroup = await findUserGroup(place, place.caller, id);
      await work({ ...place, id, userGroup }, options, ...args);
    } catch (error) {
      // Not found, or deleted concurrently.
      if (!(error instanceof Problem && error.code === 'user_group_not_found')) throw error;
      throw await unknownUserGroup(place, id, options);
    }
  };
  return onPlace(command, 'the user group', workOnGroup);
}

async function unknownUserGroup(
  { store, caller }: Place,
  id: string,
  { workspace, environment }: PlaceOptions,
): Promise<NotFound> {
  const other = environments.find((each) => each !== environment)!;
  const key = userGroupKey({ ...caller, environment: other }, id);
  const isInOther = (await store.read({ kind: 'findUserGroup', key })) !== null;
  const suggestion = isInOther ? null : await suggestUserGroup(store, caller, id);
  const hint = isInOther
    ? `it exists in ${other}: add --environment ${other}`
    : 'run "group list" to see the user groups';
  return new NotFound(
    `user group ${id} does not exist in workspace ${workspace}, ${environment}${didYouMean(suggestion)}; ${hint}`,
  );
}

/** Writes everything stored, in the format of export; `mapping` and `properties` exactly as stored. */
function groupJson(userGroup: UserGroup, options: PlaceOptions, token: Secret | null): JsonText {
  const { user_group_id, name: _, ...others } = fieldsBesideJson(userGroup, options, token);
  return objectText([
    ['user_group_id', jsonText(user_group_id)],
    ...textMembers(settableTexts(userGroup)),
    ...Object.entries(others).map(([name, value]) => [name, jsonText(value)] as const),
  ]);
}

function printedFields(
  userGroup: UserGroup,
  options: PlaceOptions,
  token: Secret | null,
): (readonly [name: string, value: string])[] {
  const { name: _, ...texts } = settableTexts(userGroup);
  const fields = { ...fieldsBesideJson(userGroup, options, token), ...texts };
  return Object.entries(fields).map(([name, value]) => [name, String(value ?? '-')]);
}

type GroupFields = ReturnType<typeof fieldsBesideJson>;

function fieldsBesideJson(
  userGroup: UserGroup,
  { workspace, environment }: PlaceOptions,
  token: Secret | null,
) {
  return {
    user_group_id: userGroup.providedId,
    name: userGroup.name,
    ...(token !== null && { token: token.reveal() }),
    team_id: userGroup.teamId,
    workspace,
    environment,
    version: userGroup.version,
    created_at: timestamp(userGroup.createdAt),
    updated_at: timestamp(userGroup.updatedAt),
    suspended_at: timestampOrNull(userGroup.suspendedAt),
    last_seen_at: timestampOrNull(userGroup.lastSeenAt),
    previous_token_expires_at: timestampOrNull(previousTokenUntil(userGroup, Date.now())),
  };
}

/** Returns milliseconds since 1970. */
function parseTimestamp(text: string): number {
  const instant = parseInstant(text);
  if (instant === null)
    throw new InvalidArgumentError('It must be an RFC 3339 timestamp, such as 2026-03-05T16:00:00Z.');
  return instant;
}
