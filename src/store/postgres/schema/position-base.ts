// The base of event positions. Transaction ids start again when the database is restored into another cluster; the base
// then continues after the last event, so that positions and cursors of readers stay in order.

import type { SchemaSession } from './session.ts';

export async function updatePositionBase({ ask, change }: SchemaSession): Promise<void> {
  const [cluster] = await ask('select system_identifier from pg_control_system()');
  const identifier = cluster![0];
  const [stored] = await ask('select system_identifier from event_positions');
  if (stored === undefined) {
    await change(
      `insert into event_positions (only_row, base, system_identifier) values (true, 0, $1)
        on conflict (only_row) do nothing`,
      [identifier],
    );
    return;
  }
  if (stored[0] === identifier) return;
  const [last] = await ask('select coalesce(max(position), 0) from events');
  await change('update event_positions set base = $1, system_identifier = $2 where system_identifier <> $2', [
    last![0],
    identifier,
  ]);
}
