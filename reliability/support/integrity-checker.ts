// Checks the database directly: the integrity check of its pages and indexes, invariants across rows, and whether
// connections of a killed process are still open.

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { TestDatabase } from '../../test/support/database.ts';
import { eventually } from '../../test/support/process.ts';
import { PromiseBroken } from './ledger.ts';

/** Each query finds rows that violate the invariant. */
const VIOLATIONS = {
  'two groups share a team_id': 'select team_id from user_groups group by team_id having count(*) > 1',
  'two groups share a token':
    'select token_digest from user_groups group by token_digest having count(*) > 1',
  'a replaced token is the token of a group':
    'select team_id from user_groups where token_digest in (select previous_token_digest from user_groups)',
  'a team_id was never leased': `select team_id from user_groups
     where team_id >= (select next from id_blocks where sequence = 'team_id')`,
  'a token is sealed under a key that is not registered':
    'select token_key_id from user_groups where token_key_id not in (select key_id from token_keys)',
} as const;
const COUNT = 'select count(*) as found from user_groups';

export interface IntegrityChecker extends AsyncDisposable {
  /** Throws `PromiseBroken`. `groups` is the number of groups that the service returns. */
  check(groups: number): Promise<void>;
  /** Runs SQL that removes data, while no process serves the database. */
  corrupt(sql: string): Promise<void>;
  /** Resolves when the database has closed the connections of the process started with the settings. */
  waitForDisconnect(env: Record<string, string>): Promise<void>;
}

export async function openIntegrityChecker({ url }: TestDatabase): Promise<IntegrityChecker> {
  if (url.startsWith('sqlite:')) return new SqliteIntegrityChecker(url.slice('sqlite:'.length));
  const client = new pg.Client(url);
  await client.connect();
  await client.query('create extension if not exists amcheck');
  return new PostgresIntegrityChecker(client);
}

/** Returns the settings of one process. PostgreSQL identifies its connections by `application_name`. */
export function namedSettings({ env, url }: TestDatabase, name: string): Record<string, string> {
  if (url.startsWith('sqlite:')) return env;
  const named = new URL(url);
  named.searchParams.set('application_name', name);
  return { ...env, DATABASE_URL: named.href };
}

export class SqliteIntegrityChecker implements IntegrityChecker {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async check(groups: number): Promise<void> {
    const database = new DatabaseSync(this.#path, { readOnly: true, timeout: 5_000 });
    try {
      const result = database.prepare('pragma integrity_check').get()?.integrity_check;
      if (result !== 'ok') throw new PromiseBroken(`integrity_check: ${result}`);
      for (const [fault, sql] of Object.entries(VIOLATIONS)) assertNone(fault, database.prepare(sql).all());
      assertCount(groups, Number(database.prepare(COUNT).get()?.found));
    } finally {
      database.close();
    }
  }

  async corrupt(sql: string): Promise<void> {
    const database = new DatabaseSync(this.#path);
    database.exec(sql);
    database.close();
  }

  /** Nothing to wait for: a killed process writes nothing more. */
  async waitForDisconnect(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** amcheck reads all pages, and compares each index with its table. */
const INDEXES = `select bt_index_check(indexrelid, true) from pg_index join pg_class on pg_class.oid = indrelid
  where relnamespace = 'public'::regnamespace`;
const TABLES = `select found.* from pg_class, lateral verify_heapam(pg_class.oid) found
  where relkind = 'r' and relnamespace = 'public'::regnamespace`;

class PostgresIntegrityChecker implements IntegrityChecker {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  async check(groups: number): Promise<void> {
    await this.#rows(INDEXES);
    assertNone('a table is damaged', await this.#rows(TABLES));
    for (const [fault, sql] of Object.entries(VIOLATIONS)) assertNone(fault, await this.#rows(sql));
    assertCount(groups, Number((await this.#rows(COUNT))[0]!.found));
  }

  async corrupt(sql: string): Promise<void> {
    await this.#rows(sql);
  }

  /**
   * Waits until the server has closed the connection: a statement in flight continues after its client is
   * killed, so an operation whose response was lost may still take effect.
   */
  async waitForDisconnect({ DATABASE_URL = '' }: Record<string, string>): Promise<void> {
    const name = new URL(DATABASE_URL).searchParams.get('application_name');
    const connections = 'select pid from pg_stat_activity where application_name = $1';
    await eventually(
      'the end of the connections',
      async () => (await this.#rows(connections, [name])).length === 0,
    );
  }

  async #rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.#client.query(sql, values)).rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

function assertNone(fault: string, rows: readonly unknown[]): void {
  if (rows.length > 0) throw new PromiseBroken(`${fault}: ${JSON.stringify(rows[0])}`);
}

function assertCount(expected: number, found: number): void {
  if (found !== expected)
    throw new PromiseBroken(`the service returns ${expected} groups, but the database contains ${found}`);
}
