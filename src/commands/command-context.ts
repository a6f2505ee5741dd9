import type { Config } from '../config.ts';
import { EnvironmentConfigs } from '../operations/document/environment-config.ts';
import type { EventContext } from '../operations/event/event.ts';
import type { BatchingStore } from '../store/batching-store.ts';

/** For commands that change something: their changes are events too. */
export function commandContext(store: BatchingStore, { eventRetentionDays }: Config): EventContext {
  return {
    store,
    clock: Date.now,
    configs: new EnvironmentConfigs(),
    origin: { via: 'command_line', requestId: null },
    keepsEvents: eventRetentionDays > 0,
  };
}
