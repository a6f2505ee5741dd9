import { USER_GROUP } from '../../entities.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor } from '../executor.ts';
import { sentRows, toArrays } from '../sent-rows.ts';
import { addImportedTokens, heldImportedTokens } from './imported-token.ts';

export const COPY = statement('copy_user_groups')`
  insert into user_groups (${USER_GROUP.names})
  select ${USER_GROUP.names} from ${sentRows(USER_GROUP)}
  on conflict (bucket, workspace_id, environment, provided_id) do nothing
  returning team_id`;

export const copyUserGroups: CommandExecutor<'copyUserGroups'> = async (session, { userGroups }) => {
  await session.query(COPY, toArrays(USER_GROUP, userGroups));
  await addImportedTokens(session, userGroups.flatMap(heldImportedTokens));
};
