// Metrics of the file of a SQLite database, its disk and its last backup.

import type { Registry } from 'prom-client';
import type { FileStorage } from '../store/port.ts';
import { addGauge, addLabelledGauge } from './gauge.ts';

/** Values are NaN while `measure` rejects. */
export function addStorage(registry: Registry, measure: () => Promise<FileStorage>): void {
  const measured = () => measure().catch(() => null);
  addLabelledGauge(registry, {
    name: 'user_group_service_database_bytes',
    help: 'Size of the SQLite database and of its write-ahead log.',
    label: 'file',
    read: async () => {
      const storage = await measured();
      return { database: storage?.databaseBytes ?? Number.NaN, wal: storage?.logBytes ?? Number.NaN };
    },
  });
  addGauge(registry, {
    name: 'user_group_service_database_disk_free_bytes',
    help: 'Free space on the disk of the SQLite database.',
    read: async () => (await measured())?.diskFreeBytes ?? Number.NaN,
  });
  addGauge(registry, {
    name: 'user_group_service_backup_timestamp_seconds',
    help: 'When the SQLite database was last backed up; 0 if never.',
    read: async () => {
      const storage = await measured();
      return storage === null ? Number.NaN : (storage.backedUpAt ?? 0) / 1_000;
    },
  });
}
