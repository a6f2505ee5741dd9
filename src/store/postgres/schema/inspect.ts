// Reads a PostgreSQL database without migrating it.

import type { StoredToken } from '../../../domain/key-ring.ts';
import { STORED_TOKEN } from '../../entities.ts';
import type { Finding, Inspection } from '../../inspection.ts';
import type { PostgresOptions } from '../client/options.ts';
import { findDurabilityRisks } from './durability-check.ts';
import { checkServer, migrations, ServerUnfit } from './migrate.ts';
import { type SchemaSession, withSchemaSession } from './session.ts';

/** The version from which on gathering statistics requires a privilege of its own. */
const MAINTAIN_SINCE = 17;

/** The tables in the schema of the service and what the user may do to each, as PostgreSQL prints booleans. */
const PRIVILEGES = `select relname, privilege, has_table_privilege(oid, privilege)
  from pg_class, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
  where relkind in ('r', 'p')
    and relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))
  order by relname, privilege`;

/** Runs `work` on the database. Throws `StoreUnavailable`. */
export function inspectPostgres<Result>(
  options: PostgresOptions,
  work: (inspection: Inspection) => Promise<Result> | Result,
): Promise<Result> {
  return withSchemaSession(options, async (session) => work(new PostgresInspection(session)));
}

class PostgresInspection implements Inspection {
  readonly #session: SchemaSession;

  constructor(session: SchemaSession) {
    this.#session = session;
  }

  async version(): Promise<string> {
    const [row] = await this.#session.ask('show server_version');
    return `PostgreSQL ${row?.[0]}`;
  }

  async isInitialized(): Promise<boolean> {
    const tables = ['schema_migrations', 'user_groups', 'token_keys'];
    const rows = await this.#session.ask(
      'select 1 from unnest($1::text[]) as name where to_regclass(name) is not null',
      [tables],
    );
    return rows.length === tables.length;
  }

  async pendingMigrations(): Promise<string[]> {
    return migrations.pending(await this.#schemaNumber()).map(({ name }) => name);
  }

  async newerVersion(): Promise<string | null> {
    return migrations.newerVersion(await this.#schemaNumber());
  }

  async #schemaNumber(): Promise<number> {
    const { ask } = this.#session;
    const [exists] = await ask("select 1 where to_regclass('schema_migrations') is not null");
    const [row] = exists ? await ask('select coalesce(max(number), 0) from schema_migrations') : [[0]];
    return row?.[0] as number;
  }

  async findings(): Promise<Finding[]> {
    return [
      ...(await this.#serverFindings()),
      ...(await this.#readOnlyFindings()),
      ...(await this.#privilegeFindings()),
      ...(await this.#maintainFindings()),
      ...(await this.#durabilityFindings()),
    ];
  }

  async clockAheadMs(): Promise<number> {
    const sentAt = Date.now();
    const sql = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint';
    const [row] = await this.#session.ask(sql);
    const receivedAt = Date.now();
    return (row?.[0] as number) - (sentAt + receivedAt) / 2;
  }

  async registeredKeyIds(): Promise<string[]> {
    const rows = await this.#session.ask('select key_id from token_keys order by key_id');
    return rows.map(([id]) => id as string);
  }

  async countTokens(): Promise<Map<string, number>> {
    const sql = 'select token_key_id, count(*) from user_groups group by token_key_id';
    return new Map((await this.#session.change(sql)) as [string, number][]);
  }

  async sampleTokens(keyId: string, limit: number): Promise<StoredToken[]> {
    const sql = `select ${STORED_TOKEN.names} from user_groups where token_key_id = $1 limit $2`;
    return STORED_TOKEN.readAll(await this.#session.change(sql, [keyId, limit]));
  }

  async #serverFindings(): Promise<Finding[]> {
    try {
      await checkServer(this.#session);
      return [];
    } catch (error) {
      if (!(error instanceof ServerUnfit)) throw error;
      return [
        {
          subject: 'server',
          isFatal: true,
          message: error.message,
          remedy: 'see "PostgreSQL must be" in docs/deploy.md',
        },
      ];
    }
  }

  async #readOnlyFindings(): Promise<Finding[]> {
    const [row] = await this.#session.ask('show transaction_read_only');
    if (row?.[0] !== 'on') return [];
    const remedy = 'set default_transaction_read_only to off for the user of the service';
    return [{ subject: 'server', isFatal: true, message: 'transactions are read-only', remedy }];
  }

  async #privilegeFindings(): Promise<Finding[]> {
    const rows = (await this.#session.ask(PRIVILEGES)) as [string, string, string][];
    const missing = rows.filter(([, , granted]) => granted !== 't');
    return Array.from(
      Map.groupBy(missing, ([table]) => table),
      ([table, ungranted]) => {
        const privileges = ungranted.map(([, privilege]) => privilege.toLowerCase()).join(', ');
        return {
          subject: 'privileges' as const,
          isFatal: true,
          message: `the user lacks the privileges ${privileges} on ${table}`,
          remedy: `as the owner of the table, run: grant ${privileges} on ${table} to the user of the service`,
        };
      },
    );
  }

  async #maintainFindings(): Promise<Finding[]> {
    const { ask } = this.#session;
    const [version] = await ask("select current_setting('server_version_num')::integer / 10000");
    if ((version?.[0] as number) < MAINTAIN_SINCE || !(await this.isInitialized())) return [];
    const [row] = await ask("select has_table_privilege('user_groups', 'MAINTAIN')");
    if (row?.[0] === 't') return [];
    const message = 'the user cannot gather statistics, so lookups may be slow until autovacuum runs';
    const remedy = 'as the owner of the table, run: grant maintain on user_groups to the user of the service';
    return [{ subject: 'privileges', isFatal: false, message, remedy }];
  }

  async #durabilityFindings(): Promise<Finding[]> {
    const risks = await findDurabilityRisks(this.#session);
    return risks.map((message) => ({
      subject: 'durability',
      isFatal: false,
      message,
      remedy: 'set it to on',
    }));
  }
}
