// What the commands that check a database read from it. An inspection changes nothing, not even the schema.

import type { UserGroup } from '../domain/user-group.ts';

/** All methods throw `StoreUnavailable`. */
export interface Inspection {
  /** For people, such as `PostgreSQL 18.4`. */
  version(): Promise<string> | string;
  /** Whether the database has tables of this service; otherwise only `version` and `pendingMigrations` may be called. */
  isInitialized(): Promise<boolean> | boolean;
  /** The names of the migrations that the schema lacks. Throws `SchemaTooNew`. */
  pendingMigrations(): Promise<string[]> | string[];
  /** Whatever prevents the service from using the database, or endangers its data. */
  faults(): Promise<Fault[]> | Fault[];
  /** How far the clock of the database is ahead of ours; null if both have the same clock. */
  clockAheadMs(): Promise<number> | null;
  /** The ids of the keys that stored tokens may be encrypted with. */
  registeredKeyIds(): Promise<string[]> | string[];
  /** The number of stored tokens by the id of their key. Reads all groups. */
  countTokens(): Promise<Map<string, number>> | Map<string, number>;
  /** Some groups whose token is encrypted with the key. */
  sampleGroups(keyId: string, limit: number): Promise<UserGroup[]> | UserGroup[];
}

export interface Fault {
  subject: 'server' | 'privileges' | 'durability';
  /** Whether the service cannot work with it. */
  isFatal: boolean;
  message: string;
  remedy: string;
}
