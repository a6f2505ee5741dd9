// Every statement keeps to what PostgreSQL, Citus, CockroachDB, YugabyteDB and Aurora DSQL have in common, and is
// one that a sharded database can run on one shard or in one pass.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

/** What is not portable, an example of it, and why. `citus.ts`, which speaks to Citus only, is no part of this. */
const refused: Record<string, { pattern: RegExp; example: string; because: string }> = {
  'generated ids': {
    pattern:
      /\b(?:big)?serial\b|\bidentity\b|\bsequence\s+\w+\s+(?:start|increment|cache)|create\s+sequence|nextval|gen_random_uuid/i,
    example: 'team_id bigserial',
    because: 'CockroachDB makes ids above 2^53, Citus ones with the number of a node in them',
  },
  'the clock of the database': {
    pattern:
      /\bnow\s*\(|current_(?:timestamp|date|time)\b|localtime|(?:clock|statement|transaction)_timestamp/i,
    example: 'set updated_at = now()',
    because: 'Citus refuses it beside a column, and the service has one clock of its own',
  },
  chance: {
    pattern: /\brandom\s*\(/i,
    example: 'order by random()',
    because: 'Citus refuses volatile functions in an update',
  },
  'JSON types and operators': {
    pattern: /\bjsonb?\b|->|#>|@>/i,
    example: "properties->>'plan'",
    because: 'jsonb rewrites what comes in; JSON is text here',
  },
  'foreign keys': {
    pattern: /\breferences\b|foreign\s+key/i,
    example: 'workspace_id bigint references workspaces',
    because: 'they do not span shards',
  },
  'triggers, functions and procedural code': {
    pattern: /\btrigger\b|create\s+(?:or\s+replace\s+)?(?:function|procedure)|\$\$|^\s*do\b|^\s*call\b/i,
    example: 'create function f() returns int',
    because: 'Aurora DSQL has none',
  },
  'exclusion and check constraints': {
    pattern: /\bexclude\s+using\b|\bcheck\s*\(/i,
    example: 'check (version > 0)',
    because: 'the service checks before it writes, on every database alike',
  },
  'truncate, savepoints and temporary tables': {
    pattern: /\btruncate\b|\bsavepoint\b|\btemp(?:orary)?\s+table|\bunlogged\b/i,
    example: 'truncate user_groups',
    because: 'Aurora DSQL has none',
  },
  'collations but "C"': {
    pattern: /\bcollate\b(?!\s+"C")/i,
    example: 'order by name collate "en_US"',
    because: 'only the order of bytes is the same everywhere',
  },
  'notifications and advisory locks': {
    pattern: /\b(?:listen|notify|unlisten)\b|pg_notify|advisory/i,
    example: 'select pg_advisory_lock(1)',
    because: 'CockroachDB has none, and a pooler gives the session to somebody else',
  },
  'state of the session': {
    pattern: /^\s*(?:set|reset|prepare|deallocate|declare|discard)\b/i,
    example: 'set search_path to other',
    because: 'a pooler gives the session to somebody else',
  },
  'row and table locks': {
    pattern: /\bfor\s+(?:no\s+key\s+)?(?:update|share|key\s+share)\b|\block\s+table\b/i,
    example: 'select name from user_groups for update',
    because: 'Citus locks on one shard only; a compare-and-set needs no lock',
  },
  'conflicts without a key, or on more than plain columns': {
    pattern: /\bon\s+conflict\b(?!\s*\([a-z_, ]+\)\s+do\s+(?:nothing|update))/i,
    example: 'on conflict do nothing',
    because: 'CockroachDB takes plain columns of one index',
  },
  'common table expressions': {
    pattern: /\bwith\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\s*(?:not\s+)?(?:materialized\s*)?\(/i,
    example: 'with made as (insert into t values (1) returning a) select a from made',
    because: 'in Citus one that inserts shows its row twice',
  },
  'lateral joins, merge, copy and cursors': {
    pattern: /\blateral\b|\bmerge\s+into\b|\bcopy\s+\w+\s+(?:from|to)\b|\bcursor\b|distinct\s+on/i,
    example: 'from user_groups, lateral (select 1) one',
    because: 'Citus does not push them down to the shards',
  },
  'all columns': {
    pattern: /(?:select|returning)\s+(?:\w+\.)?\*/i,
    example: 'select * from user_groups',
    because: 'a prepared statement fails where a migration has added a column',
  },
  'pairs of lists': {
    pattern: /=\s*any\s*\([^)]*\)[\s\S]*=\s*any\s*\(/i,
    example: 'where bucket = any ($1) and provided_id = any ($2)',
    because: 'every pair is probed; a join with unnest probes each key once',
  },
  'moving a row to another bucket': {
    pattern: /\bset\b(?:(?!\bwhere\b)[\s\S])*?[\s,]bucket\s*=/i,
    example: 'update user_groups set bucket = $1 where team_id = $2',
    because: 'Citus keeps a row on the shard of its bucket',
  },
  'changing user groups without naming the bucket': {
    pattern: /\b(?:update|delete\s+from)\s+user_groups\b(?![\s\S]*\bwhere\b[\s\S]*\bbucket\s*=)/i,
    example: 'update user_groups set name = $1 where team_id = $2',
    because: 'it would go to every shard',
  },
  'concatenation of anything but text': {
    pattern: /\b(?:team_id|version|bucket|workspace_id)\s*\|\|/i,
    example: "where team_id || '-' || version = $1",
    because: 'it is not immutable, and Citus refuses it in an update',
  },
};

interface Sql {
  file: string;
  text: string;
}

const STATEMENT =
  /(['"`])\s*((?:select|insert|update|delete|create|alter|drop|analyze|begin|commit|rollback|show|set|with|lock)\b(?:(?!\1)[\s\S])*)\1/g;

/** Literals that begin as a statement does, and the statements of the migrations. */
const statements: Sql[] = [
  ...globSync('src/store/postgres/*.ts')
    .filter((file) => !file.endsWith('/citus.ts'))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(STATEMENT)].map(([, , text]) => ({ file, text: text! })),
    ),
  ...globSync('src/store/postgres/migrations/*.sql').flatMap((file) =>
    readFileSync(file, 'utf8')
      .replaceAll(/--.*/g, '')
      .split(';')
      .map((text) => text.trim())
      .filter(Boolean)
      .map((text) => ({ file, text })),
  ),
];

describe('the SQL for PostgreSQL', () => {
  it('is all looked at', () => {
    const prepared = globSync('src/store/postgres/*.ts').flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/^export const [A-Z_]+: Statement = \{/gm),
    ]);
    assert.ok(prepared.length > 0);
    for (const command of [
      'begin',
      'commit',
      'create table',
      'create unique index',
      'insert into user_groups',
    ]) {
      assert.ok(
        statements.some(({ text }) => text.startsWith(command)),
        command,
      );
    }
    const inSources = statements.filter(({ file }) => file.endsWith('.ts'));
    assert.ok(inSources.length >= prepared.length);
  });

  for (const [what, { pattern, example, because }] of Object.entries(refused)) {
    it(`does without ${what}: ${because}`, () => {
      assert.match(example, pattern);
      const found = statements.filter(({ text }) => pattern.test(text));
      assert.deepEqual(found, []);
    });
  }

  it('lets the bucket lead every unique key of user groups, which a shard can only keep by itself', () => {
    const keys = statements
      .flatMap(({ text }) => [
        ...text.matchAll(/unique index \w+ on user_groups \(([^)]+)\)/g),
        ...(/create table user_groups/.test(text) ? text.matchAll(/primary key \(([^)]+)\)/g) : []),
      ])
      .map(([, columns]) => columns!);
    assert.ok(keys.length >= 2);
    for (const columns of keys) assert.match(columns, /^bucket,/);
  });

  it('names each prepared statement once', () => {
    const names = globSync('src/store/postgres/*.ts').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/: Statement = \{\s*name: '(\w+)'/g)].map(([, name]) => name!),
    );
    assert.deepEqual(names, [...new Set(names)]);
  });
});
