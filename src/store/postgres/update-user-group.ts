// Updates user groups with one statement, which touches only rows that change. Rows that did not change are read to
// explain why.

import { userGroupChanges } from '../../domain/event.ts';
import { isMet } from '../../domain/precondition.ts';
import type { JsonText } from '../../domain/strict-json.ts';
import { keyToString, type UserGroup } from '../../domain/user-group.ts';
import type { CommandResult, UserGroupUpdate } from '../port.ts';
import { toUserGroup, USER_GROUP_COLUMNS } from '../row-mapping.ts';
import { isUnchanged } from '../user-group-update.ts';
import type { Session, Statement } from './client/pool.ts';
import { record, recordings } from './event.ts';
import { columnsOfPreconditions, MEETS_PRECONDITION } from './precondition.ts';
import { applyOrConflict, columnsOfKeys, explainUnapplied } from './user-group.ts';

/** Qualified, because the other table in the statement has columns of the same names. */
export const STORED_COLUMNS = USER_GROUP_COLUMNS.split(', ')
  .map((column) => `stored.${column}`)
  .join(', ');

// A stored name is never null, so null means "not sent".
export const UPDATE: Statement = {
  name: 'update_user_groups',
  sql: `update user_groups as stored set
      name = coalesce(sent.name, stored.name),
      mapping = case when sent.sets_mapping then sent.mapping else stored.mapping end,
      properties = case when sent.sets_properties then sent.properties else stored.properties end,
      suspended_at = case when sent.sets_suspended then
          case when sent.suspended_at is null then null else coalesce(stored.suspended_at, sent.suspended_at) end
        else stored.suspended_at end,
      version = stored.version + 1,
      updated_at = sent.updated_at
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[],
        $8::boolean[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::boolean[], $14::bigint[])
      as sent (bucket, workspace_id, environment, provided_id, name, sets_mapping, mapping, sets_properties,
        properties, versions, excluded_versions, updated_at, sets_suspended, suspended_at)
    join user_groups as old using (bucket, workspace_id, environment, provided_id)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.provided_id = sent.provided_id
      and ${MEETS_PRECONDITION}
      and (stored.name <> sent.name
        or sent.sets_mapping and stored.mapping is distinct from sent.mapping
        or sent.sets_properties and stored.properties is distinct from sent.properties
        or sent.sets_suspended and (stored.suspended_at is null) <> (sent.suspended_at is null))
      -- A concurrent change fails the condition: what is returned as old is what this statement replaces.
      and old.version = stored.version
    returning ${STORED_COLUMNS}, old.name, old.mapping, old.properties, old.suspended_at`,
};

type Result = CommandResult<'updateUserGroup'>;

/**
 * Keys must be distinct. `locked` has the groups that this transaction has changed, by key: of many updates with the
 * same If-Match the first one decides the others, without a query.
 */
export async function updateUserGroups(
  session: Session,
  commands: readonly UserGroupUpdate[],
  locked: Map<string, UserGroup>,
): Promise<Result[]> {
  const results = new Map<string, Result>();
  for (const command of commands) {
    const group = locked.get(keyToString(command.key));
    const result = group && whyUntouched(command, group);
    if (result) results.set(keyToString(command.key), result);
  }
  const unsettled = commands.filter(({ key }) => !results.has(keyToString(key)));
  await applyOrConflict(unsettled, (rest) => update(session, rest, results, locked));
  return commands.map(({ key }) => results.get(keyToString(key))!);
}

/** Returns the commands whose group changed between the two statements. */
async function update(
  session: Session,
  commands: readonly UserGroupUpdate[],
  results: Map<string, Result>,
  locked: Map<string, UserGroup>,
): Promise<UserGroupUpdate[]> {
  const changes = new Map<string, JsonText | null>();
  for (const row of await session.query(UPDATE, columnsOf(commands))) {
    const userGroup = toUserGroup(row)!;
    const key = keyToString(userGroup);
    results.set(key, userGroup);
    locked.set(key, userGroup);
    changes.set(key, userGroupChanges(toOld(row), userGroup));
  }
  await record(
    session,
    recordings(commands, ({ key }, event) => {
      const updated = changes.has(keyToString(key)) && (results.get(keyToString(key)) as UserGroup);
      return updated ? { event, version: updated.version, changes: changes.get(keyToString(key))! } : null;
    }),
  );
  return explainUnapplied(session, commands, results, whyUntouched);
}

/** null if what is stored now does not explain it. */
function whyUntouched(command: UserGroupUpdate, stored: UserGroup | null): Result | null {
  if (stored === null) return 'not_found';
  if (!isMet(command.precondition, stored)) return 'version_mismatch';
  return isUnchanged(command, stored) ? stored : null;
}

type OldColumns = [
  name: string,
  mapping: JsonText | null,
  properties: JsonText | null,
  suspendedAt: number | null,
];

function toOld(row: readonly unknown[]) {
  const [name, mapping, properties, suspendedAt] = row.slice(-4) as OldColumns;
  return { name, mapping, properties, suspendedAt };
}

function columnsOf(commands: readonly UserGroupUpdate[]): unknown[][] {
  return [
    ...columnsOfKeys(commands),
    commands.map(({ name }) => name),
    commands.map(({ mapping }) => mapping !== undefined),
    commands.map(({ mapping }) => mapping),
    commands.map(({ properties }) => properties !== undefined),
    commands.map(({ properties }) => properties),
    ...columnsOfPreconditions(commands),
    commands.map(({ now }) => now),
    commands.map(({ suspendedAt }) => suspendedAt !== undefined),
    commands.map(({ suspendedAt }) => suspendedAt),
  ];
}
