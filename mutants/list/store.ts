import type { Mutant } from '../mutant.ts';

const admission = 'src/store/admission.ts';
const batchedStore = 'src/store/batching-store.ts';
const batcher = 'src/store/batcher.ts';
const migration = 'src/store/migration.ts';

export const store: readonly Mutant[] = [
  {
    name: 'a batch has the oldest items, whichever tenant they are of',
    file: batcher,
    find: 'this.#queue = inTurns(this.#queue);',
    replace: '{}',
    tests: ['test/store/batcher.test.ts'],
  },
  {
    name: 'a tenant is rejected because of the requests of another',
    file: admission,
    find: 'waitMs(batcher, batcher.queueOf(tenantOf()))',
    replace: 'waitMs(batcher)',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'batch: a full queue admits one more command',
    file: admission,
    find: 'if (queued >= maxQueued) return true;',
    replace: 'if (queued > maxQueued) return true;',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'batch: the wait in a slow queue is unlimited',
    file: admission,
    find: 'return waitMs(batcher, batcher.queueOf(tenantOf())) > maxWaitMs;',
    replace: 'return false;',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'batch: a failed command fails the others in its batch',
    file: batcher,
    find: 'if (batch.length === 1 || error instanceof StoreUnavailable) {',
    replace: 'if (true) {',
    tests: ['test/store/store.test.ts'],
  },
  {
    name: 'batch: every command gets the result of the first',
    file: batcher,
    find: 'resolve(results[index] as Result);',
    replace: 'resolve(results[0] as Result);',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'batch: commands of different kinds share a batch',
    file: batcher,
    find: 'if (isOfOneKind && entry.item.kind !== kind) {',
    replace: 'if (false) {',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'batch: commands are started after their deadline',
    file: batcher,
    find: 'return startBy >= now;',
    replace: 'return true;',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'prefetch: a write keeps a prefetched result',
    file: batchedStore,
    find: '// The write makes it stale.\n    this.#prefetched = null;',
    replace: '',
    tests: ['test/user-group/interleaving.test.ts'],
    equivalent:
      'every prefetched operation reads before it writes, which consumes the result; the reset protects operations that do not',
  },
  {
    name: 'prefetch: a wait keeps a prefetched result',
    file: batchedStore,
    find: '    this.#prefetched = null;\n    return this.#startBy',
    replace: '    return this.#startBy',
    tests: ['test/user-group/patch.test.ts'],
  },
  {
    name: 'overload: writes are admitted however long the queue is',
    file: admission,
    find: "if (access === 'read' || !exceeds(this.#writes, MAX_WAIT_MS, tenantOf)) return true;",
    replace: 'return true;',
    tests: ['test/store/batching.test.ts'],
  },
  {
    name: 'lists do not yield to other calls',
    file: admission,
    find: 'const isAlone = performance.now() - this.#otherWorkAt >= OTHER_WORK_WINDOW_MS;',
    replace: 'const isAlone = true;',
    tests: ['test/load/overload.test.ts'],
  },
  {
    name: 'a schema that is too new is accepted',
    file: migration,
    find: 'if (number <= newest) return;',
    replace: 'return;',
    tests: ['test/process/migrate.test.ts'],
  },
  {
    name: 'the schema of the next version is refused',
    file: migration,
    find: 'const SERVED_BEYOND = 1;',
    replace: 'const SERVED_BEYOND = 0;',
    tests: ['test/process/next-schema.test.ts'],
  },
  {
    name: 'a process whose schema became too new stays ready',
    file: 'src/app.ts',
    find: 'migrations.refuseTooNew(schema);',
    replace: 'void schema;',
    tests: ['test/process/next-schema.test.ts'],
  },
];
