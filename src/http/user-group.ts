// The three operations of the specification. Their answers have just the fields that it lists, in its order.

import type { RotateBody, UserGroupBody } from '../domain/body.ts';
import type { OpenUserGroup } from '../operations/context.ts';
import { getOrCreateUserGroup } from '../operations/get-or-create.ts';
import { rotateToken } from '../operations/rotate.ts';
import { updateUserGroup } from '../operations/update.ts';
import { ifMatch, setEntityTag } from './entity-tag.ts';
import type { Call } from './operation.ts';

export function getOrCreate(call: Call<UserGroupBody>): Promise<string> {
  return answerGetOrCreate(call, 200);
}

/** The same operation for clients that cannot send a body with GET; 201 when it has created. */
export function createOrGet(call: Call<UserGroupBody>): Promise<string> {
  return answerGetOrCreate(call, 201);
}

async function answerGetOrCreate(
  { context, caller, body, reply }: Call<UserGroupBody>,
  statusOfNew: number,
): Promise<string> {
  const group = await getOrCreateUserGroup(context, caller, body);
  const { created, drift, userGroup } = group;
  if (created) reply.code(statusOfNew);
  setEntityTag(reply, userGroup);
  if (drift.length > 0) reply.header('user-group-drift', drift.join(', '));
  const properties = body.properties === undefined ? '' : `,"properties":${userGroup.properties}`;
  return `{"success":1,"new_user_group":${created},"user_group":{${identity(group)}${properties}}}`;
}

export async function update({
  context,
  caller,
  body,
  request,
  reply,
}: Call<UserGroupBody>): Promise<string> {
  const group = await updateUserGroup(context, caller, body, ifMatch(request));
  const { properties, environment } = group.userGroup;
  setEntityTag(reply, group.userGroup);
  return `{"success":1,"user_group":{${identity(group)},"properties":${properties},"api_environment_tag":"${environment}"}}`;
}

export async function rotate({ context, caller, body, reply }: Call<RotateBody>): Promise<string> {
  const group = await rotateToken(context, caller, body);
  setEntityTag(reply, group.userGroup);
  return `{"success":1,"user_group":{${identity(group)},"api_environment_tag":"${group.userGroup.environment}"}}`;
}

function identity({ userGroup, token }: OpenUserGroup): string {
  const name = JSON.stringify(userGroup.name);
  const providedId = JSON.stringify(userGroup.providedId);
  return `"team_id":${userGroup.teamId},"token":${JSON.stringify(token.reveal())},"name":${name},"provided_id":${providedId}`;
}
