// Logs each migration that a start applies, and also announces it, because it may take long on a large table.
// Migrations that create the schema of a new database are logged at debug.

import type { Level, Logger } from 'pino';
import { BLOCKED, type Migration, type MigrationObserver, WAITING } from './store/migration.ts';

export class MigrationLog implements MigrationObserver {
  readonly #log: Logger;
  #level: Level = 'info';

  constructor(log: Logger) {
    this.#log = log;
  }

  started(migration: Migration): void {
    if (migration.number === 1) this.#level = 'debug';
    this.#log[this.#level](migrationFields(migration), 'migrating the database');
  }

  waiting(migration: Migration): void {
    this.#log.info(migrationFields(migration), WAITING);
  }

  blocked(migration: Migration): void {
    this.#log.warn(migrationFields(migration), BLOCKED);
  }

  applied(migration: Migration, tookMs: number): void {
    this.#log[this.#level](
      { ...migrationFields(migration), tookMs: Math.round(tookMs) },
      'migrated the database',
    );
  }
}

function migrationFields({ number, name }: Migration): object {
  return { migration: name, fromSchema: number - 1, toSchema: number };
}
