// Metrics of the file of a SQLite database, its disk and its last backup.

import { Gauge, type Registry } from 'prom-client';
import type { FileStorage } from '../store/port.ts';
import { addGauge } from './gauge.ts';

/** Values are NaN while `measure` rejects. */
export function addStorage(registry: Registry, measure: () => Promise<FileStorage>): void {
  const measured = () => measure().catch(() => null);
  new Gauge({
    name: 'user_group_service_database_bytes',
    help: 'Size of the SQLite database and of its write-ahead log.',
    labelNames: ['file'],
    registers: [registry],
    async collect() {
      const storage = await measured();
      this.set({ file: 'database' }, storage?.databaseBytes ?? Number.NaN);
      this.set({ file: 'wal' }, storage?.logBytes ?? Number.NaN);
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
