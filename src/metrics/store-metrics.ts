// Metrics of the database: its batches, connections and, on SQLite, its file, disk and last backup.

import type { Registry } from 'prom-client';
import type { ConnectionCounts } from '../database.ts';
import type { BatchObserver } from '../store/batcher.ts';
import type { BatchObservers, Queue } from '../store/batching-store.ts';
import type { FileStorage } from '../store/port.ts';
import { addGauge, addLabelledGauge, orNaN } from './gauge.ts';
import { Histogram } from './histogram.ts';

const SECONDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Returns an observer for the batches of each queue. */
export function batchMetrics(registry: Registry): BatchObservers {
  const sizes = new Histogram<'queue'>(registry, {
    name: 'user_group_service_batch_size',
    help: 'Queries or commands that were sent to the database together.',
    buckets: SIZES,
  });
  const durations = new Histogram<'queue'>(registry, {
    name: 'user_group_service_batch_duration_seconds',
    help: 'Duration of a batch in the database, including failed ones.',
    buckets: SECONDS,
  });
  const observer = (queue: Queue): BatchObserver => {
    const [size, duration] = [sizes.series({ queue }), durations.series({ queue })];
    return (items, durationMs) => {
      size.observe(items);
      duration.observe(durationMs / 1_000);
    };
  };
  return { read: observer('read'), list: observer('list'), write: observer('write') };
}

export function addConnections(registry: Registry, counts: () => ConnectionCounts): void {
  addLabelledGauge(registry, {
    name: 'user_group_service_database_connections',
    help: 'Connections to PostgreSQL by state: busy or idle.',
    label: 'state',
    read: () => {
      const { open, idle } = counts();
      return { busy: open - idle, idle };
    },
  });
  addGauge(registry, {
    name: 'user_group_service_database_connections_max',
    help: 'Maximum number of connections to PostgreSQL.',
    read: () => counts().max,
  });
  addGauge(registry, {
    name: 'user_group_service_database_connections_waiting',
    help: 'Batches that wait for a free connection to PostgreSQL.',
    read: () => counts().waiting,
  });
}

export function addStorage(registry: Registry, measure: () => Promise<FileStorage>): void {
  addLabelledGauge(registry, {
    name: 'user_group_service_database_bytes',
    help: 'Size of the SQLite database and of its write-ahead log.',
    label: 'file',
    read: () =>
      measure().then(
        ({ databaseBytes, logBytes }) => ({ database: databaseBytes, wal: logBytes }),
        () => ({ database: Number.NaN, wal: Number.NaN }),
      ),
  });
  addGauge(registry, {
    name: 'user_group_service_database_disk_free_bytes',
    help: 'Free space on the disk of the SQLite database.',
    read: orNaN(async () => (await measure()).diskFreeBytes),
  });
  addGauge(registry, {
    name: 'user_group_service_backup_timestamp_seconds',
    help: 'When the SQLite database was last backed up; 0 if never.',
    read: orNaN(async () => ((await measure()).backedUpAt ?? 0) / 1_000),
  });
}
