// Ids that the database would issue again, because it was moved with an older table `id_blocks`: logical replication
// stops at a table that has rows already, and goes on with the others.

import { ServerUnfit } from './migrate.ts';
import type { SchemaSession } from './session.ts';

/** The sequences whose ids can be found fast. */
const REUSED = `select sequence from id_blocks
  where sequence = 'workspace_id' and next <= (select max(workspace_id) from workspaces)
    or sequence = 'api_token_id' and next <= (select max(api_token_id) from api_tokens)`;

/** Returns a message; null if no id would be issued again. */
export async function findReusedIds({ ask }: SchemaSession): Promise<string | null> {
  const reused = await ask(REUSED);
  return reused.length === 0
    ? null
    : 'the table id_blocks is older than others: the service would issue ids again that exist';
}

/** Throws `ServerUnfit`: duplicate ids could not be corrected later. */
export async function refuseReusedIds(session: SchemaSession): Promise<void> {
  const message = await findReusedIds(session);
  if (message !== null) throw new ServerUnfit(`${message}: see "PostgreSQL" in docs/back-up.md`);
}
