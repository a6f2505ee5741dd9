import type { Config } from '../config.ts';
import { loadKeyRing, registerActiveKey } from '../key-ring-source.ts';
import { type Context, createContext } from '../operations/context.ts';
import { EnvironmentConfigs } from '../operations/document/environment-config.ts';
import type { EventContext } from '../operations/event/event.ts';
import type { BatchingStore } from '../store/batching-store.ts';

/** Returns the context of commands that change something: their changes are events too. */
export function commandContext(store: BatchingStore, { eventRetentionDays }: Config): EventContext {
  return {
    store,
    clock: Date.now,
    configs: new EnvironmentConfigs(),
    origin: { via: 'command_line', requestId: null },
    eventRetentionDays,
  };
}

/** Also has the keys, to encrypt and decrypt. `dryRun` writes nothing: the active key is not registered. */
export async function contextWithKeys(
  store: BatchingStore,
  config: Config,
  dryRun = false,
): Promise<Context> {
  const { defaultGracePeriodSeconds, eventRetentionDays, webhookAllowPrivate } = config;
  const keyRing = await loadKeyRing(config, store);
  if (!dryRun) await registerActiveKey(keyRing, store, Date.now());
  return createContext({
    store,
    keyRing,
    defaultGracePeriodSeconds,
    eventRetentionDays,
    allowsPrivateWebhooks: webhookAllowPrivate === 'on',
    via: 'command_line',
  });
}
