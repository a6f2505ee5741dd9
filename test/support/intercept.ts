// Wraps a real store with a hook in the middle of an operation, which makes a race reproducible.

import type { BatchingStore } from '../../src/store/batching-store.ts';
import type { Command, CommandKind, CommandResult, Query } from '../../src/store/port.ts';

interface Interception {
  /** Runs once, before the first query of the operation. */
  beforeFirstRead?: () => Promise<unknown>;
  /** Runs once, after the first query of the operation and before the operation sees the result. */
  afterFirstRead?: (query: Query) => Promise<unknown>;
  /** Replaces the first command of the operation. */
  firstWrite?: (command: Command, store: BatchingStore) => Promise<CommandResult>;
  /** Kind of that command; any if absent. */
  kind?: CommandKind;
}

export function intercept(
  store: BatchingStore,
  { beforeFirstRead, afterFirstRead, firstWrite, kind }: Interception,
): BatchingStore {
  let reads = 0;
  let writes = 0;
  const intercepted: Partial<Record<string | symbol, unknown>> = {
    read: async (query: Query) => {
      const isFirst = reads++ === 0;
      if (isFirst) await beforeFirstRead?.();
      const result = await store.read(query);
      if (isFirst) await afterFirstRead?.(query);
      return result;
    },
    write: (command: Command) => {
      const isFirst = (kind ?? command.kind) === command.kind && writes++ === 0;
      return isFirst && firstWrite ? firstWrite(command, store) : store.write(command);
    },
  };
  return new Proxy(store, {
    get: (target, name) => {
      const value = intercepted[name] ?? Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
