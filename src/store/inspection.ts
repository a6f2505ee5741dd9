// Reads of the commands that check a database. An inspection changes nothing, not even the schema: it reads only
// what every schema has.

import type { StoredToken } from '../domain/key-ring.ts';

/** All methods throw `StoreUnavailable`. */
export interface Inspection {
  /** For people, such as `PostgreSQL 18.4`. */
  version(): Promise<string> | string;
  /** Whether the database has tables of this service; otherwise only `version`, `pendingMigrations` and `newerVersion` may be called. */
  isInitialized(): Promise<boolean> | boolean;
  /** The names of the migrations that the schema lacks. Throws `SchemaTooNew`. */
  pendingMigrations(): Promise<string[]> | string[];
  /** Says that a newer version has migrated the database; null if none has. */
  newerVersion(): Promise<string | null> | string | null;
  /** Whatever prevents the service from using the database, or endangers its data. */
  findings(): Promise<Finding[]> | Finding[];
  /** How far the clock of the database is ahead of ours; null if both have the same clock. */
  clockAheadMs(): Promise<number> | null;
  /** The ids of the keys that stored tokens may be encrypted with. */
  registeredKeyIds(): Promise<string[]> | string[];
  /** The number of stored tokens by the id of their key. Reads all groups. */
  countTokens(): Promise<Map<string, number>> | Map<string, number>;
  /** Some of the tokens that are encrypted with the key. */
  sampleTokens(keyId: string, limit: number): Promise<StoredToken[]> | StoredToken[];
}

export interface Finding {
  subject: 'server' | 'privileges' | 'durability';
  /** Whether the service cannot work with it. */
  isFatal: boolean;
  message: string;
  remedy: string;
}
