// The bodies that create or change a user group.

import * as field from '../field.ts';
import type { JsonDocument } from '../json/strict-json.ts';
import { bodyType } from '../request-body.ts';
import { Secret } from '../secret.ts';
import type { SettableFields } from './user-group.ts';

/** Absent fields are unchanged; null clears. */
export type UserGroupFields = Partial<SettableFields>;

export interface UserGroupBody extends UserGroupFields {
  userGroupId: string;
}

/** A line of an import. */
export interface ImportedUserGroupBody extends UserGroupBody {
  name: string;
  /** Absent: unchanged, and false for a new group. */
  suspended?: boolean;
  /** null to issue a new one. */
  token: Secret | null;
}

export const settableSchemas = {
  name: field.name,
  mapping: field.mapping,
  properties: field.properties,
} as const satisfies Record<keyof SettableFields, object>;

export const userGroupRenameBody = bodyType({
  name: 'UserGroupRename',
  fields: { user_group_id: { ...field.userGroupId, description: 'The new id.' } },
  required: ['user_group_id'],
  convert: ({ value }) => ({ userGroupId: value.user_group_id }),
});

export const userGroupBody = bodyType({
  name: 'UserGroupRequest',
  fields: {
    name: field.name,
    user_group_id: field.userGroupId,
    mapping: field.mapping,
    properties: field.properties,
  },
  required: ['user_group_id'],
  convert: (document): UserGroupBody => ({
    userGroupId: document.value.user_group_id,
    ...userGroupFields(document),
  }),
});

export const importedUserGroupBody = bodyType({
  name: 'ImportedUserGroup',
  fields: {
    user_group_id: field.userGroupId,
    ...settableSchemas,
    suspended: { type: 'boolean', description: 'Whether the group is suspended: its tokens do not resolve.' },
    token: field.importedToken,
  },
  required: ['user_group_id', 'name'],
  environmentSource: '--environment',
  convert: (document): ImportedUserGroupBody => {
    const { name, user_group_id: userGroupId, suspended, token } = document.value;
    return {
      userGroupId,
      ...userGroupFields(document),
      name,
      ...(suspended !== undefined && { suspended }),
      token: token === undefined ? null : new Secret(token),
    };
  },
});

/** The sent fields of a user group; `mapping` and `properties` as exact text. */
export function userGroupFields({
  value: { name },
  members,
}: JsonDocument<{ name?: string }>): UserGroupFields {
  const fields: UserGroupFields = {};
  if (name !== undefined) fields.name = name;
  for (const key of ['mapping', 'properties'] as const) {
    const text = members.get(key);
    if (text !== undefined) fields[key] = text === 'null' ? null : text;
  }
  return fields;
}
