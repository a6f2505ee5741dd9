// Reads a database for the commands that check it. An inspection changes nothing, not even the schema, and
// reads only what every schema version has, unless a method says otherwise.

import type { ApiToken } from '../domain/api-token.ts';
import type { StoredToken } from '../domain/key-ring.ts';
import type { TokenDigest } from '../domain/token.ts';
import { API_TOKEN, STORED_TOKEN } from './entities.ts';
import type { Migrations } from './migration.ts';
import type { Workspace } from './port.ts';
import { READS } from './reads.ts';
import type { Cell } from './row-shape.ts';
import type { Call } from './statement.ts';

const TABLES = ['schema_migrations', 'user_groups', 'token_keys'];

/** Runs SQL with the parameters `$1`, `$2` and so on; rows are arrays. */
export type RunSql = (sql: string, values?: Cell[]) => Promise<unknown[][]>;

/** All methods throw `StoreUnavailable`. */
export abstract class Inspection {
  readonly #migrations: Migrations;
  readonly #ask: RunSql;
  readonly #readAll: RunSql;

  /** `ask` is for fast statements, `readAll` for those that may read all groups. */
  constructor(migrations: Migrations, ask: RunSql, readAll = ask) {
    this.#migrations = migrations;
    this.#ask = ask;
    this.#readAll = readAll;
  }

  /** Human-readable, such as `PostgreSQL 18.4`. */
  abstract version(): Promise<string>;

  /** Conditions that prevent the service from using the database or endanger its data. */
  abstract findings(): Promise<Finding[]>;

  /** Milliseconds by which the database's clock is ahead of this machine's; null if they share one. */
  abstract clockAheadMs(): Promise<number | null>;

  /** Tables and indexes of the newest schema that a fully migrated database lacks. */
  abstract missingRelations(): Promise<string[]>;

  protected abstract hasTable(name: string): Promise<boolean>;

  /**
   * Whether the database has tables of this service. If not, only `version`, `pendingMigrations` and
   * `newerVersion` may be called.
   */
  async isInitialized(): Promise<boolean> {
    for (const table of TABLES) if (!(await this.hasTable(table))) return false;
    return true;
  }

  /** The names of the migrations that the schema lacks. Throws `SchemaTooNew`. */
  async pendingMigrations(): Promise<string[]> {
    return this.#migrations.pending(await this.#schemaNumber()).map(({ name }) => name);
  }

  /** Returns a message that a newer version has migrated the database; null if none has. */
  async newerVersion(): Promise<string | null> {
    return this.#migrations.newerVersion(await this.#schemaNumber());
  }

  /** The ids of the keys that stored tokens may be encrypted with. */
  registeredKeyIds(): Promise<string[]> {
    return this.#read(READS.listTokenKeyIds());
  }

  /** Counts the stored tokens by the id of their key. */
  async countTokens(): Promise<Map<string, number>> {
    const rows = await this.#readAll('select token_key_id, count(*) from user_groups group by token_key_id');
    return new Map(rows as [string, number][]);
  }

  /** Returns up to `limit` tokens that are encrypted with the key. */
  async sampleTokens(keyId: string, limit: number): Promise<StoredToken[]> {
    const sql = `select ${STORED_TOKEN.names} from user_groups where token_key_id = $1 limit $2`;
    return STORED_TOKEN.readAll(await this.#readAll(sql, [keyId, limit]));
  }

  /** Finds an API token by its text, or the one before its last rotation. Requires the newest schema. */
  async findApiToken(digest: TokenDigest): Promise<ApiToken | null> {
    const sql = `select ${API_TOKEN.names} from api_tokens where digest = $1 or previous_digest = $1`;
    const [row] = await this.#ask(sql, [digest]);
    return API_TOKEN.readOrNull(row);
  }

  /** Requires the newest schema. */
  findWorkspace(name: string): Promise<Workspace | null> {
    return this.#read(READS.findWorkspace({ name }));
  }

  async #schemaNumber(): Promise<number> {
    return (await this.hasTable('schema_migrations')) ? this.#read(READS.ping()) : 0;
  }

  async #read<Result>({ statement, values, toResult }: Call<Result>): Promise<Result> {
    return toResult(await this.#ask(statement.sql, [...values]));
  }
}

export interface Finding {
  subject: 'database' | 'server' | 'privileges' | 'durability' | 'event feed';
  /** Whether the service cannot work with the database. */
  isFatal: boolean;
  message: string;
  remedy: string;
}
