// The calls on /v1/user-groups that read, change, delete and list groups. Their answers have all that is stored.

import type { UserGroupFields } from '../domain/body.ts';
import type { UserGroup } from '../domain/user-group.ts';
import { deleteUserGroup } from '../operations/delete.ts';
import { type ListQuery, listUserGroups } from '../operations/list.ts';
import { patchUserGroup } from '../operations/patch.ts';
import { type ReadResult, readUserGroup } from '../operations/read.ts';
import { ifMatch, setEntityTag } from './entity-tag.ts';
import type { Call } from './operation.ts';
import { userGroupIdOf } from './path.ts';

export async function read({ context, caller, request, reply }: Call): Promise<string> {
  const group = await readUserGroup(context, caller, userGroupIdOf(request));
  setEntityTag(reply, group.userGroup);
  return answer(group);
}

export async function patch(call: Call<UserGroupFields>): Promise<string> {
  const { context, caller, body, request, reply } = call;
  const group = await patchUserGroup(context, caller, userGroupIdOf(request), body, ifMatch(request));
  setEntityTag(reply, group.userGroup);
  return answer(group);
}

/** Answers with 204 and no text. */
export async function remove({ context, caller, request, reply }: Call): Promise<string> {
  await deleteUserGroup(context, caller, userGroupIdOf(request), ifMatch(request));
  reply.code(204);
  return '';
}

export async function list({ context, caller, query }: Call<null, ListQuery>): Promise<string> {
  const { userGroups, nextCursor } = await listUserGroups(context, caller, query);
  const texts = userGroups.map((userGroup) => textOf(userGroup));
  return `{"success":1,"user_groups":[${texts.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}}`;
}

function answer({ userGroup, token }: ReadResult): string {
  const text = textOf(userGroup, token === null ? '' : `"token":${JSON.stringify(token.reveal())},`);
  return `{"success":1,"user_group":${text}}`;
}

/** `token` is the member of that name with the comma behind it, or nothing. */
function textOf(userGroup: UserGroup, token = ''): string {
  const { teamId, name, providedId, mapping, properties, environment, version } = userGroup;
  return (
    `{"team_id":${teamId},${token}"name":${JSON.stringify(name)},"provided_id":${JSON.stringify(providedId)},` +
    `"mapping":${mapping},"properties":${properties},"api_environment_tag":"${environment}","version":${version},` +
    `"created_at":"${timeOf(userGroup.createdAt)}","updated_at":"${timeOf(userGroup.updatedAt)}"}`
  );
}

function timeOf(instant: number): string {
  return new Date(instant).toISOString();
}
