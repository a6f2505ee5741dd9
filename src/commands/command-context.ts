import { operationSettings } from '../config.ts';
import { loadKeyRing, registerActiveKey } from '../key-ring-source.ts';
import { type Context, createContext, type KeylessContext } from '../operations/context.ts';
import type { OpenDatabase } from './option/database-option.ts';

/** Returns the context of a command, whose changes are events too. */
export function commandContext({ store, config }: Pick<OpenDatabase, 'store' | 'config'>): KeylessContext {
  return createContext({ ...operationSettings(config), store, via: 'command_line' });
}

/** Also has the keys. `dryRun` writes nothing: the active key is not registered. */
export async function contextWithKeys(
  database: Pick<OpenDatabase, 'store' | 'config'>,
  dryRun = false,
): Promise<Context> {
  const { store, config } = database;
  const keyRing = await loadKeyRing(config, store);
  if (!dryRun) await registerActiveKey(keyRing, store, Date.now());
  return { ...commandContext(database), keyRing };
}
