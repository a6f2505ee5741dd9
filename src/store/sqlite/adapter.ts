// The parts of the adapter that src/database.ts uses.

export { type AlreadyServed, lockForServing } from './file/lock.ts';
export { measureStorage, recordBackup } from './file/storage.ts';
export { type BackupUnwritable, backupFile } from './schema/backup.ts';
export { inspectFile } from './schema/inspect.ts';
export { migrations } from './schema/migrate.ts';
export { type BackupInvalid, restoreFile } from './schema/restore.ts';
export { openCommandStore, openServingStore, openThreadStore } from './store.ts';
export type { ConnectWriter } from './writer/remote-writer.ts';
export type { WriterConnection } from './writer/writer.ts';
