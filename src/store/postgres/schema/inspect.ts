// Reads a PostgreSQL database without migrating it.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, Inspection } from '../../inspection.ts';
import { StoreUnavailable } from '../../port.ts';
import { type PostgresOptions, servingSettings } from '../client/options.ts';
import { hasCitus } from './citus.ts';
import { findDurabilityRisks } from './durability-check.ts';
import { checkServer, createdRelations, createdTables, migrations, ServerUnfit } from './migrate.ts';
import { checkRowSecurity, findMissingPrivileges } from './privileges.ts';
import { findReusedIds } from './reused-ids.ts';
import { type SchemaSession, withSchemaSession, withServingSession } from './session.ts';

/** First version in which gathering statistics requires a privilege of its own. */
const MAINTAIN_SINCE = 17;

/** The tables and indexes in the schema of the service; an index whose creation failed is not valid. */
const RELATIONS = `select relname from pg_class left join pg_index on indexrelid = pg_class.oid
  where indisvalid is not false
    and relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))`;
/** Whether another application's `schema_migrations` exists, or tables with our names without it. */
const IS_OF_OTHER_APPLICATION = `select case when to_regclass('schema_migrations') is null
  then exists (select 1 from unnest($1::text[]) as name
    where to_regclass(format('%I.%I', current_schema(), name)) is not null)
  else not exists (
    select 1 from pg_attribute where attrelid = to_regclass('schema_migrations') and attname = 'number') end`;

/** Maximum wait for a lock, such as that of a forgotten session: longer than a statement of the service holds one. */
const LOCK_WAIT_MS = 1_500;

/** Time that a short transaction of another user, whose start is hidden, may take to end. */
const HIDDEN_TRANSACTION_MS = 1_000;

/**
 * Transactions of the cluster that a feed of events waits for: those that have written. Their start is null if this
 * user may not see it. One that waits for a standby was not forgotten, and ending it would show what it has written.
 */
const HOLDING_FEED = `select id::text, name, ending, floor(extract(epoch from now() - since) / 60)::integer from (
    select backend_xid, xact_start, format('session %s of user %s in database %s', pid, usename, datname),
      format('select pg_terminate_backend(%s)', pid)
    from pg_stat_activity where backend_xid is not null and wait_event is distinct from 'SyncRep'
    union all
    select transaction, prepared, format('prepared transaction %L of user %s in database %s', gid, owner, database),
      format('rollback prepared %L', gid)
    from pg_prepared_xacts) as writing (id, since, name, ending)
  where since is null or since < now() - interval '1 minute'
  order by since limit 10`;

/** Commits of this user that wait for a synchronous standby, and the seconds of the first. */
const WAITING_FOR_STANDBY = `select count(*)::integer, floor(extract(epoch from max(now() - query_start)))::integer
  from pg_stat_activity where wait_event = 'SyncRep' and query_start < now() - interval '1 second'`;

const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
const SETTINGS = 'select name, setting from pg_settings where name = any ($1::text[])';

/** When the server was started, which tells it from others; nothing if it is read-only. */
const WRITABLE_SINCE = `select pg_postmaster_start_time()::text
  where current_setting('transaction_read_only') = 'off'`;

/** Runs `work` on the database. Throws `StoreUnavailable`. */
export function inspectPostgres<Result>(
  options: PostgresOptions,
  work: (inspection: Inspection) => Promise<Result> | Result,
): Promise<Result> {
  return withSchemaSession(options, async (session) => work(new PostgresInspection(session, options)));
}

class PostgresInspection extends Inspection {
  readonly #session: SchemaSession;
  readonly #options: PostgresOptions;

  constructor(session: SchemaSession, options: PostgresOptions) {
    super(migrations, session.ask, (sql, values) => readAll(session, sql, values));
    this.#session = session;
    this.#options = options;
  }

  async version(): Promise<string> {
    const [row] = await this.#session.ask('show server_version');
    return `PostgreSQL ${row?.[0]}`;
  }

  async findings(): Promise<Finding[]> {
    const { hidden, hasPolicies } = await checkRowSecurity(this.#session);
    return [
      ...(await this.#databaseFindings()),
      ...(await this.#idFindings()),
      ...(await this.#serverFindings()),
      ...(await this.#otherPrimaryFindings()),
      ...(await this.#settingsFindings(hasPolicies)),
      ...(await this.#readOnlyFindings()),
      ...(await this.#standbyFindings()),
      ...(await this.#privilegeFindings()),
      ...hidden.map(hiddenTable),
      ...(await this.#maintainFindings()),
      ...(await this.#durabilityFindings()),
      ...(await this.#feedFindings()),
    ];
  }

  async clockAheadMs(): Promise<number> {
    const sentAt = Date.now();
    const sql = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint';
    const [row] = await this.#session.ask(sql);
    const receivedAt = Date.now();
    return (row?.[0] as number) - (sentAt + receivedAt) / 2;
  }

  async missingRelations(): Promise<string[]> {
    const rows = await this.#session.ask(RELATIONS);
    const found = new Set(rows.map(([name]) => name));
    return createdRelations().filter((name) => !found.has(name));
  }

  protected async hasTable(name: string): Promise<boolean> {
    const rows = await this.#session.ask('select 1 where to_regclass($1) is not null', [name]);
    return rows.length === 1;
  }

  async #hasTables(names: readonly string[]): Promise<boolean> {
    for (const name of names) if (!(await this.hasTable(name))) return false;
    return true;
  }

  async #databaseFindings(): Promise<Finding[]> {
    if (await this.#isTrue('select current_schema() is null')) {
      const remedy =
        'create the schema and grant usage on it, or correct search_path in the options of DATABASE_URL';
      return [fatal('database', 'the user may use no schema of the search_path, or none exists', remedy)];
    }
    if (!(await this.#isTrue(IS_OF_OTHER_APPLICATION, [createdTables()]))) return [];
    const remedy = 'give the service its own database or schema';
    return [fatal('database', 'the database has tables of another application', remedy)];
  }

  async #idFindings(): Promise<Finding[]> {
    const isReadable = (await findMissingPrivileges(this.#session)).size === 0;
    if (!isReadable || !(await this.#hasTables(['id_blocks', 'workspaces', 'api_tokens']))) return [];
    const message = await findReusedIds(this.#session);
    if (message === null) return [];
    const remedy = 'move the database again, completely: see "PostgreSQL" in docs/back-up.md';
    return [fatal('database', message, remedy)];
  }

  async #isTrue(sql: string, values?: unknown[]): Promise<boolean> {
    const [row] = await this.#session.ask(sql, values);
    return row?.[0] === 't';
  }

  async #serverFindings(): Promise<Finding[]> {
    try {
      await checkServer(this.#session);
      return [];
    } catch (error) {
      if (!(error instanceof ServerUnfit)) throw error;
      return [fatal('server', error.message, 'see "PostgreSQL must be" in docs/deploy.md')];
    }
  }

  /** Reports other hosts that are primaries too: each acknowledges changes that this server lacks. */
  async #otherPrimaryFindings(): Promise<Finding[]> {
    const urls = this.#options.urls.filter((_, index) => index !== this.#session.host);
    const [own] = await this.#session.ask(WRITABLE_SINCE);
    if (own === undefined) return [];
    const findings: Finding[] = [];
    for (const url of urls) {
      const [other] = await withSchemaSession({ ...this.#options, urls: [url] }, ({ ask }) =>
        ask(WRITABLE_SINCE),
      ).catch(noneIfUnavailable);
      // The host may be another name of the same server.
      if (other === undefined || other[0] === own[0]) continue;
      const message = `${new URL(url.reveal()).host} accepts changes too, which this server lacks`;
      const remedy =
        'stop the former primary, or one of two promoted standbys: see "Failover" in docs/faults.md';
      findings.push(fatal('server', message, remedy));
    }
    return findings;
  }

  async #settingsFindings(hasPolicies: boolean): Promise<Finding[]> {
    const remedy = 'see "PgBouncer" in docs/deploy.md';
    const expected = servingSettings({ isCitus: await hasCitus(this.#session), hasPolicies });
    try {
      const rows = await withServingSession(this.#options, ({ ask }) =>
        ask(SETTINGS, [[...TIMEOUTS, ...Object.keys(expected)]]),
      );
      const settings = Object.fromEntries(rows as [name: string, setting: string][]);
      const unlimited = TIMEOUTS.filter((name) => settings[name] === '0');
      const missing = Object.keys(expected).filter((name) => settings[name] !== expected[name]);
      const ofPlans = missing
        .filter((name) => name !== 'row_security')
        .map((name) => `${name} = ${expected[name]}`);
      const messages = [
        unlimited.length > 0 &&
          `sessions have no ${unlimited.join(', ')}, so statements that the service has given up keep running, with their locks`,
        ofPlans.length > 0 &&
          `sessions lack ${ofPlans.join(', ')}, so lookups may be slow, and changes may deadlock`,
        missing.includes('row_security') &&
          'sessions lack row_security = off, so row-level security that is enabled later hides tokens',
      ];
      return messages
        .filter((message) => message !== false)
        .map((message) => ({ subject: 'server', isFatal: false, message, remedy }));
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error.isTransient) throw error;
      return [fatal('server', error.message, remedy)];
    }
  }

  async #readOnlyFindings(): Promise<Finding[]> {
    const [row] = await this.#session.ask('show transaction_read_only');
    if (row?.[0] !== 'on') return [];
    const remedy = 'set default_transaction_read_only to off for the user of the service';
    return [fatal('server', 'transactions are read-only', remedy)];
  }

  async #standbyFindings(): Promise<Finding[]> {
    const [row] = await this.#session.ask(WAITING_FOR_STANDBY);
    const [waiting, seconds] = row as [number, number];
    if (waiting === 0) return [];
    const message = `commits have been waiting for a synchronous standby for ${seconds} s, in ${waiting} sessions`;
    const remedy =
      'do not end these sessions; start the standby again, or remove it from synchronous_standby_names: see "A synchronous standby that is down" in docs/faults.md';
    return [fatal('server', message, remedy)];
  }

  async #privilegeFindings(): Promise<Finding[]> {
    return Array.from(await findMissingPrivileges(this.#session), ([table, missing]) => {
      const privileges = missing.join(', ');
      const remedy = `as the owner of the table, run: grant ${privileges} on ${table} to the user of the service`;
      return fatal('privileges', `the user lacks the privileges ${privileges} on ${table}`, remedy);
    });
  }

  async #maintainFindings(): Promise<Finding[]> {
    const [version] = await this.#session.ask(
      "select current_setting('server_version_num')::integer / 10000",
    );
    if ((version?.[0] as number) < MAINTAIN_SINCE || !(await this.isInitialized())) return [];
    if (await this.#isTrue("select has_table_privilege('user_groups', 'MAINTAIN')")) return [];
    const message = 'the user cannot gather statistics, so lookups may be slow until autovacuum runs';
    const remedy = 'as the owner of the table, run: grant maintain on user_groups to the user of the service';
    return [{ subject: 'privileges', isFatal: false, message, remedy }];
  }

  async #durabilityFindings(): Promise<Finding[]> {
    const risks = await findDurabilityRisks(this.#session);
    return risks.map((risk) => ({ subject: 'durability', isFatal: false, ...risk }));
  }

  async #feedFindings(): Promise<Finding[]> {
    let holding = await this.#session.ask(HOLDING_FEED);
    if (holding.some(([, , , minutes]) => minutes === null)) {
      const ids = new Set(holding.map(([id]) => id));
      await sleep(HIDDEN_TRANSACTION_MS);
      holding = (await this.#session.ask(HOLDING_FEED)).filter(([id]) => ids.has(id));
    }
    return holding.map(([, name, ending, minutes]) => {
      const duration =
        minutes === null
          ? 'now, for a time that only a role with pg_read_all_stats can see'
          : `for ${minutes} min`;
      const message = `a transaction holds up the feed of events ${duration}: ${name}`;
      const remedy = `if it was forgotten, end it: ${ending}; see "The feed" in docs/events.md`;
      return { subject: 'event feed', isFatal: false, message, remedy };
    });
  }
}

/** Runs a statement that may take long, but does not wait long for a lock. */
async function readAll(
  { ask, change }: SchemaSession,
  sql: string,
  values?: unknown[],
): Promise<unknown[][]> {
  // A pooler may give a setting of the session to another one.
  await ask(`begin; set local lock_timeout = ${LOCK_WAIT_MS}`);
  try {
    return await change(sql, values);
  } finally {
    await ask('rollback');
  }
}

/** A host that is unreachable or a standby. */
function noneIfUnavailable(error: unknown): [] {
  if (error instanceof StoreUnavailable) return [];
  throw error;
}

function hiddenTable(table: string): Finding {
  const remedy = `as the owner of the table, run: alter table ${table} disable row level security`;
  return fatal('privileges', `row-level security hides all rows of ${table} from the user`, remedy);
}

function fatal(subject: Finding['subject'], message: string, remedy: string): Finding {
  return { subject, isFatal: true, message, remedy };
}
