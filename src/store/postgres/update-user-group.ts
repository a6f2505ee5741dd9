// Updating user groups: one statement that touches only the rows that change. The rows that it leaves alone are
// read, to tell why.

import { spell, type UserGroup, versionTag } from '../../domain/user-group.ts';
import { toUserGroup, USER_GROUP_COLUMNS } from '../rows.ts';
import type { CommandResult, UserGroupUpdate } from '../store.ts';
import type { Session, Statement } from './pool.ts';
import { columnsOfKeys, explainLeft, settle } from './user-group.ts';

/** The columns of the row, where another table in the statement has some of the same names. */
export const STORED_COLUMNS = USER_GROUP_COLUMNS.split(', ')
  .map((column) => `stored.${column}`)
  .join(', ');

// A name is never null, so null says that none was sent. The text of a version is made by casts: "||" between a
// number and a text is not immutable, and Citus refuses it in an update.
export const UPDATE: Statement = {
  name: 'update_user_groups',
  sql: `update user_groups as stored set
      name = coalesce(sent.name, stored.name),
      mapping = case when sent.sets_mapping then sent.mapping else stored.mapping end,
      properties = case when sent.sets_properties then sent.properties else stored.properties end,
      version = stored.version + 1,
      updated_at = sent.updated_at
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[],
        $8::boolean[], $9::text[], $10::text[], $11::bigint[])
      as sent (bucket, workspace_id, environment, provided_id, name, sets_mapping, mapping, sets_properties,
        properties, versions, updated_at)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.provided_id = sent.provided_id
      and (sent.versions is null
        or stored.team_id::text || '-' || stored.version::text = any (string_to_array(sent.versions, ',')))
      and (stored.name <> sent.name
        or sent.sets_mapping and stored.mapping is distinct from sent.mapping
        or sent.sets_properties and stored.properties is distinct from sent.properties)
    returning ${STORED_COLUMNS}`,
};

const VERSION_TAG = /^\d+-\d+$/;

type Result = CommandResult<'updateUserGroup'>;

/**
 * No two commands may have the same key. `held` has groups as this transaction has changed them, by their keys: of
 * many updates of one version that meet, the first one tells what becomes of the others.
 */
export async function updateUserGroups(
  session: Session,
  commands: readonly UserGroupUpdate[],
  held: Map<string, UserGroup>,
): Promise<Result[]> {
  const results = new Map<string, Result>();
  for (const command of commands) {
    const group = held.get(spell(command.key));
    const result = group && whyUntouched(command, group);
    if (result) results.set(spell(command.key), result);
  }
  const unsettled = commands.filter(({ key }) => !results.has(spell(key)));
  await settle(unsettled, (rest) => update(session, rest, results, held));
  return commands.map(({ key }) => results.get(spell(key))!);
}

/** Settles commands; returns those whose group changed between the two statements. */
async function update(
  session: Session,
  commands: readonly UserGroupUpdate[],
  results: Map<string, Result>,
  held: Map<string, UserGroup>,
): Promise<UserGroupUpdate[]> {
  for (const row of await session.query(UPDATE, columnsOf(commands))) {
    const userGroup = toUserGroup(row)!;
    results.set(spell(userGroup), userGroup);
    held.set(spell(userGroup), userGroup);
  }
  return explainLeft(session, commands, results, whyUntouched);
}

/** null where nothing of what is stored now explains it. */
function whyUntouched(
  { name, mapping, properties, ifVersion }: UserGroupUpdate,
  stored: UserGroup | null,
): Result | null {
  if (stored === null) return 'not_found';
  if (ifVersion !== undefined && !ifVersion.includes(versionTag(stored))) return 'version_mismatch';
  const isSame =
    (name === undefined || name === stored.name) &&
    (mapping === undefined || mapping === stored.mapping) &&
    (properties === undefined || properties === stored.properties);
  return isSame ? stored : null;
}

function columnsOf(commands: readonly UserGroupUpdate[]): unknown[][] {
  return [
    ...columnsOfKeys(commands),
    commands.map(({ name }) => name),
    commands.map(({ mapping }) => mapping !== undefined),
    commands.map(({ mapping }) => mapping),
    commands.map(({ properties }) => properties !== undefined),
    commands.map(({ properties }) => properties),
    versionsOf(commands),
    commands.map(({ now }) => now),
  ];
}

/** For each command the tags of which one must match, with commas between; undefined where any will do. */
export function versionsOf(commands: readonly Pick<UserGroupUpdate, 'ifVersion'>[]): (string | undefined)[] {
  // What is no tag of ours is that of no version, and might hold a comma.
  return commands.map(({ ifVersion }) => ifVersion?.filter((tag) => VERSION_TAG.test(tag)).join(','));
}
