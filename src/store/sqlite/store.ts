// The SQLite adapter: reads on the calling thread, writes on a worker thread.

import { type EventQuotaOptions, NO_EVENT_QUOTA } from '../../domain/event/quota.ts';
import type { MigrationObserver } from '../migration.ts';
import type { MigratedStore, Store } from '../port.ts';
import { runCommands } from './command-executors.ts';
import { Connection } from './file/connection.ts';
import { fileIdentity, makeFile } from './file/file.ts';
import { runQueries } from './query-executors.ts';
import { migrate, migrations, refuseOtherApplication } from './schema/migrate.ts';
import { type ConnectWriter, RemoteWriter } from './writer/remote-writer.ts';
import { Writer, type WriterConnection, type WriterObserver } from './writer/writer.ts';

interface ServingOptions extends Partial<Pick<WriterObserver, 'onFailedSync'>> {
  eventQuota?: EventQuotaOptions;
  migrationObserver?: MigrationObserver;
}

interface ServingStore extends MigratedStore {
  /** Connects a store of `openThreadStore` for its writes. */
  connectWriter: () => WriterConnection;
}

/**
 * Opens the file for a serving process and migrates it. Throws `StoreUnavailable`.
 *
 * The reading connection stays open even while writes fail: it keeps SQLite aware of where the last commit in the log
 * ends. A connection that opens the log on its own treats every complete frame as committed, which after a failed sync
 * is more than what is on disk.
 */
export function openServingStore(
  path: string,
  { eventQuota = NO_EVENT_QUOTA, migrationObserver = {}, onFailedSync = () => {} }: ServingOptions = {},
): ServingStore {
  const file = makeFile(path);
  const { connection, newerVersion } = open(file, migrationObserver, (opened) => opened.syncLog());
  const writer = new Writer(
    { file, identity: fileIdentity(file), eventBytesPerDay: eventQuota.bytesPerDay },
    { onReduced: eventQuota.onReduced, onFailedSync },
  );
  return { newerVersion, ...storeOf(connection, writer), connectWriter: () => writer.connect() };
}

/** Opens a file that another thread of this process serves. Its writer executes the writes. */
export function openThreadStore(path: string, connectWriter: ConnectWriter): Store {
  const connection = new Connection(path);
  return storeOf(connection, new RemoteWriter(connectWriter));
}

/** Reads through the connection; the writer executes the writes. */
function storeOf(connection: Connection, writer: Writer | RemoteWriter): Store {
  return {
    read: (queries) => runQueries(connection, queries),
    write: (commands) => writer.run(commands),
    close: async () => {
      await writer.close();
      connection.close();
    },
  };
}

/** Opens the file for a command, which may run while a process is serving it. */
export function openCommandStore(path: string, migrationObserver: MigrationObserver): MigratedStore {
  const { connection, newerVersion } = open(makeFile(path), migrationObserver);
  return {
    newerVersion,
    read: (queries) => runQueries(connection, queries),
    write: async (commands) => runCommands(connection, [commands])[0]!,
    close: async () => connection.close(),
  };
}

/** Opens and migrates the file; `prepare` runs before. */
function open(
  file: string,
  observer: MigrationObserver,
  prepare: (connection: Connection) => void = () => {},
): { connection: Connection } & Pick<MigratedStore, 'newerVersion'> {
  const connection = new Connection(file);
  try {
    refuseOtherApplication(file, (sql) => connection.transaction('deferred', () => connection.get(sql)!));
    prepare(connection);
    return { connection, newerVersion: migrations.newerVersion(migrate(connection, observer)) };
  } catch (error) {
    connection.close();
    throw error;
  }
}
