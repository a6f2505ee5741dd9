// A real MariaDB executes the conditions of row-level security rules with backslash escapes: each condition
// selects exactly the row of its value if the column has a binary collation. docs/embedding.md says what
// other collations ignore.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { sqlClause } from '../../src/domain/embed-token/sql-clause.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { Problem } from '../../src/problem.ts';
import { textWith } from '../support/domain/text-with.ts';
import { eventually, Folder } from '../support/process.ts';

const SERVER = '/usr/sbin/mariadbd';
const VALUES = 5_000;
const pieces = [
  "'",
  "\\'",
  '\\',
  '\\\\',
  '"',
  '`',
  '--',
  '/*',
  '#',
  ';',
  '%',
  '_',
  ' ',
  '\u00a0',
  'a',
  'A',
  'ä',
  '0',
];

describe('Conditions of row-level security rules on MariaDB', {
  skip: !existsSync(SERVER) && 'MariaDB is not installed',
}, () => {
  let server: MariaDb;
  before(async () => {
    server = await MariaDb.start();
    const table = (name: string, collation: string) =>
      `create table ${name} (id int primary key, customer varchar(255) collate ${collation}) charset utf8mb4;`;
    server.run(table('exact', 'utf8mb4_nopad_bin') + table('usual', 'utf8mb4_general_ci'));
  });
  after(() => server.stop());

  function select(table: string, customer: string): string[] {
    const column = { column: 'customer', type: 'text', escapes: 'backslash' } as const;
    const clause = sqlClause(column, JSON.stringify(customer) as JsonText, []);
    return server.run(`select id from ${table} where (${clause}) order by id`);
  }

  it('select exactly the row of each value', () => {
    const values = [...new Set(fc.sample(textWith(pieces), { numRuns: VALUES }))];
    const statements = values.flatMap((text, id) => {
      const inserted = `insert into exact values (${id}, convert(x'${Buffer.from(text).toString('hex')}' using utf8mb4));`;
      try {
        const column = { column: 'customer', type: 'text', escapes: 'backslash' } as const;
        return { inserted, id, clause: sqlClause(column, JSON.stringify(text) as JsonText, []) };
      } catch (error) {
        assert.ok(error instanceof Problem);
        return { inserted, id, clause: null };
      }
    });
    server.run(`begin; ${statements.map(({ inserted }) => inserted).join('\n')} commit;`);
    const quoted = statements.filter(({ clause }) => clause !== null);
    assert.ok(quoted.length > values.length / 4);
    const found = server.run(
      quoted.map(({ id, clause }) => `select ${id}, id from exact where (${clause});`).join('\n'),
    );
    assert.deepEqual(
      found,
      quoted.map(({ id }) => `${id}\t${id}`),
    );
  });

  it('cannot tell apart what the collation of a column ignores: case, accents and spaces at the end', () => {
    const rows = ['acme', 'ACME', 'ácme', 'acme ', ' acme', 'acme-2'];
    server.run(rows.map((row, id) => `insert into usual values (${id}, '${row}');`).join('\n'));
    assert.deepEqual(select('usual', 'acme'), ['0', '1', '2', '3']);
    assert.deepEqual(select('usual', 'acme-2'), ['5']);
    assert.throws(() => select('usual', 'acme '), Problem);
  });
});

/** MariaDB server on a socket in its own folder. */
class MariaDb {
  readonly #folder = new Folder();
  readonly #socket = this.#folder.join('socket');
  #process = spawn(SERVER, this.#arguments());

  static async start(): Promise<MariaDb> {
    const server = new MariaDb();
    await eventually('MariaDB to accept connections', () => existsSync(server.#socket));
    return server;
  }

  #arguments(): string[] {
    const data = this.#folder.join('mariadb');
    const user = `--user=${process.getuid?.() === 0 ? 'root' : process.env.USER}`;
    const options = ['--no-defaults', `--datadir=${data}`, user];
    execFileSync('mariadb-install-db', [...options, '--auth-root-authentication-method=normal'], {
      stdio: 'ignore',
    });
    return [...options, `--socket=${this.#socket}`, '--skip-networking'];
  }

  /** Runs statements; returns the lines of their results. */
  run(sql: string): string[] {
    const options = [
      '--no-defaults',
      `--socket=${this.#socket}`,
      '--user=root',
      '--default-character-set=utf8mb4',
    ];
    const output = execFileSync('mariadb', [...options, '--batch', '--skip-column-names', 'test'], {
      input: sql,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    return output.split('\n').filter((line) => line !== '');
  }

  async stop(): Promise<void> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#process.once('exit', () => resolve());
    this.#process.kill('SIGTERM');
    await ended;
    this.#folder[Symbol.dispose]();
  }
}
