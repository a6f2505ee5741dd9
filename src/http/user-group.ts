// The three operations of the specification. Their answers have just the fields that it lists, in its order.

import type { RotateBody, UserGroupBody } from '../domain/body.ts';
import { type UserGroup, versionTag } from '../domain/user-group.ts';
import type { OpenUserGroup } from '../operations/context.ts';
import { getOrCreateUserGroup } from '../operations/get-or-create.ts';
import { rotateToken } from '../operations/rotate.ts';
import { updateUserGroup } from '../operations/update.ts';
import { Problem } from '../problem.ts';
import type { Call } from './operation.ts';

export async function getOrCreate(call: Call<UserGroupBody>): Promise<string> {
  return (await answerGetOrCreate(call)).text;
}

/** The same operation for clients that cannot send a body with GET; 201 when it has created. */
export async function createOrGet(call: Call<UserGroupBody>): Promise<string> {
  const { created, text } = await answerGetOrCreate(call);
  if (created) call.reply.code(201);
  return text;
}

async function answerGetOrCreate(call: Call<UserGroupBody>): Promise<{ created: boolean; text: string }> {
  const { context, caller, body, reply } = call;
  const { created, drift, ...group } = await getOrCreateUserGroup(context, caller, body);
  reply.header('etag', entityTag(group.userGroup));
  if (drift.length > 0) reply.header('user-group-drift', drift.join(', '));
  const properties = body.properties === undefined ? '' : `,"properties":${group.userGroup.properties}`;
  const text = `{"success":1,"new_user_group":${created},"user_group":{${identity(group)}${properties}}}`;
  return { created, text };
}

export async function update({
  context,
  caller,
  body,
  request,
  reply,
}: Call<UserGroupBody>): Promise<string> {
  const group = await updateUserGroup(context, caller, body, ifMatch(request.headers['if-match']));
  const { properties, environment } = group.userGroup;
  reply.header('etag', entityTag(group.userGroup));
  return `{"success":1,"user_group":{${identity(group)},"properties":${properties},"api_environment_tag":"${environment}"}}`;
}

export async function rotate({ context, caller, body, reply }: Call<RotateBody>): Promise<string> {
  const group = await rotateToken(context, caller, body);
  reply.header('etag', entityTag(group.userGroup));
  return `{"success":1,"user_group":{${identity(group)},"api_environment_tag":"${group.userGroup.environment}"}}`;
}

function identity({ userGroup, token }: OpenUserGroup): string {
  const name = JSON.stringify(userGroup.name);
  const providedId = JSON.stringify(userGroup.providedId);
  return `"team_id":${userGroup.teamId},"token":"${token.reveal()}","name":${name},"provided_id":${providedId}`;
}

function entityTag(userGroup: UserGroup): string {
  return `"${versionTag(userGroup)}"`;
}

const ENTITY_TAGS = /^[ \t]*(?:W\/)?"[^"]*"(?:[ \t]*,[ \t]*(?:W\/)?"[^"]*")*[ \t]*$/;

/** The versions that `If-Match` names; undefined where any will do. A weak tag never matches (RFC 9110 §13.1.1). */
function ifMatch(header: string | undefined): string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  if (!ENTITY_TAGS.test(header)) {
    throw new Problem(
      'invalid_request',
      'If-Match must be * or a list of entity tags in double quotes, as ETag shows them.',
    );
  }
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)]
    .filter(([, weak]) => weak === undefined)
    .map(([, , tag]) => tag!);
}
