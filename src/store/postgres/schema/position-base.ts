// The base of event positions. Transaction ids start again when the database is restored into another cluster; the base
// then continues after the last event, so that positions and cursors of readers stay in order.

import { environments } from '../../../domain/tenant.ts';
import { POSITIONS } from '../event/record.ts';
import { hasCitus } from './citus.ts';
import type { SchemaSession } from './session.ts';

/** Cluster identifier if the role may not read it. */
const UNKNOWN = '';

/** Searches by environment, because positions alone are not indexed. Citus does not support the correlated subquery. */
const LAST_POSITION = `select coalesce(max((select max(position) from events
    where events.workspace_id = workspaces.workspace_id and events.environment = named.environment)), 0)
  from workspaces, unnest($1::text[]) as named (environment)`;

export async function updatePositionBase(session: SchemaSession): Promise<void> {
  const { ask, change } = session;
  const identifier = await clusterIdentifier(session);
  const [stored] = await ask('select system_identifier, base, deleted_to from event_positions');
  if (stored === undefined) {
    await change(
      `insert into event_positions (only_row, base, system_identifier, deleted_to) values (true, 0, $1, 0)
        on conflict (only_row) do nothing`,
      [identifier],
    );
    return;
  }
  const [storedIdentifier, base, deletedTo] = stored as [string, number, number];
  const isKnown = storedIdentifier === identifier && identifier !== UNKNOWN;
  const isDistributed = await hasCitus(session);
  // Too slow for every start: Citus queries all nodes for each environment.
  if (isKnown && isDistributed) return;
  const position = await (isDistributed ? lastPositionOnCitus : lastPosition)(session);
  const last = Math.floor(Math.max(deletedTo, position) / POSITIONS);
  // The identifier may be unknown, and a physical copy of the cluster has the same: then all that can be known is whether
  // positions would start again.
  const isSame = isKnown || identifier === UNKNOWN;
  if (isSame && last < base + (await nextTransaction(session))) return;
  // Checks the old base: another process may have raised it.
  await change(
    'update event_positions set base = $1, system_identifier = $2 where system_identifier = $3 and base = $4',
    [Math.max(base, last + 1), identifier, storedIdentifier, base],
  );
}

async function clusterIdentifier({ ask }: SchemaSession): Promise<string> {
  const [privilege] = await ask("select has_function_privilege('pg_control_system()', 'execute')::integer");
  if (privilege![0] === 0) return UNKNOWN;
  const [cluster] = await ask('select system_identifier::text from pg_control_system()');
  return cluster![0] as string;
}

/** Returns 0 without events. */
async function lastPosition({ ask }: SchemaSession): Promise<number> {
  const [row] = await ask(LAST_POSITION, [environments]);
  return row![0] as number;
}

/** Returns 0 without events. */
async function lastPositionOnCitus({ ask }: SchemaSession): Promise<number> {
  let last = 0;
  let tenant: unknown[] = [0, ''];
  for (;;) {
    const [next] = await ask(
      `select workspace_id, environment from events where (workspace_id, environment) > ($1, $2)
        order by workspace_id, environment limit 1`,
      tenant,
    );
    if (next === undefined) return last;
    tenant = next;
    const [row] = await ask(
      'select max(position) from events where workspace_id = $1 and environment = $2',
      tenant,
    );
    last = Math.max(last, (row![0] as number | null) ?? 0);
  }
}

async function nextTransaction({ ask }: SchemaSession): Promise<number> {
  const [row] = await ask('select pg_snapshot_xmax(pg_current_snapshot())::text::bigint');
  return row![0] as number;
}
