// Every statement uses only SQL that PostgreSQL, Citus, CockroachDB, YugabyteDB and Aurora DSQL all support,
// and that a sharded database can execute on one shard or in one pass.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Statement } from '../../src/store/statement.ts';

/**
 * SQL that is not portable, with an example and the reason. Excluded are `citus.ts`, which is specific to
 * Citus, and `inspect.ts`, which reads catalogues and the clock for an operator.
 */
const unportable: Record<string, { pattern: RegExp; example: string; because: string }> = {
  'generated ids': {
    pattern:
      /\b(?:big)?serial\b|\bidentity\b|\bsequence\s+\w+\s+(?:start|increment|cache)|create\s+sequence|nextval|gen_random_uuid/i,
    example: 'team_id bigserial',
    because: 'CockroachDB generates ids above 2^53, and Citus ids that contain a node number',
  },
  'the clock of the database': {
    pattern:
      /\bnow\s*\(|current_(?:timestamp|date|time)\b|localtime|(?:clock|statement|transaction)_timestamp/i,
    example: 'set updated_at = now()',
    because: 'Citus rejects it next to a column, and the service uses its own clock',
  },
  'random values': {
    pattern: /\brandom\s*\(/i,
    example: 'order by random()',
    because: 'Citus rejects volatile functions in an update',
  },
  'JSON types and operators': {
    pattern: /\bjsonb?\b|->|#>|@>/i,
    example: "properties->>'plan'",
    because: 'jsonb normalizes its input; JSON is stored as text',
  },
  'foreign keys': {
    pattern: /\breferences\b|foreign\s+key/i,
    example: 'workspace_id bigint references workspaces',
    because: 'they do not span shards',
  },
  'triggers, functions and procedural code': {
    pattern: /\btrigger\b|create\s+(?:or\s+replace\s+)?(?:function|procedure)|\$\$|^\s*do\b|^\s*call\b/i,
    example: 'create function f() returns int',
    because: 'Aurora DSQL does not support them',
  },
  'exclusion and check constraints': {
    pattern: /\bexclude\s+using\b|\bcheck\s*\(/i,
    example: 'check (version > 0)',
    because: 'the service validates before it writes, on every database',
  },
  'truncate, savepoints and temporary tables': {
    pattern: /\btruncate\b|\bsavepoint\b|\btemp(?:orary)?\s+table|\bunlogged\b/i,
    example: 'truncate user_groups',
    because: 'Aurora DSQL does not support them',
  },
  'collations other than "C"': {
    pattern: /\bcollate\b(?!\s+"C")/i,
    example: 'order by name collate "en_US"',
    because: 'only byte order is the same on every database',
  },
  'notifications and advisory locks': {
    pattern: /\b(?:listen|notify|unlisten)\b|pg_notify|advisory/i,
    example: 'select pg_advisory_lock(1)',
    because: 'CockroachDB does not support them, and a pooler reassigns the session',
  },
  'session state': {
    pattern: /^\s*(?:set(?!\s+local\b)|reset|prepare|deallocate|declare|discard)\b/i,
    example: 'set search_path to other',
    because: 'a pooler reassigns the session',
  },
  'row and table locks': {
    pattern: /\bfor\s+(?:no\s+key\s+)?(?:update|share|key\s+share)\b|\block\s+table\b/i,
    example: 'select name from user_groups for update',
    because: 'Citus locks on one shard only; a compare-and-set needs no lock',
  },
  'on conflict without a key, or with more than plain columns': {
    pattern: /\bon\s+conflict\b(?!\s*\([a-z_, ]+\)\s+do\s+(?:nothing|update))/i,
    example: 'on conflict do nothing',
    because: 'CockroachDB only supports plain columns of one index',
  },
  'common table expressions': {
    pattern: /\bwith\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\s*(?:not\s+)?(?:materialized\s*)?\(/i,
    example: 'with created as (insert into t values (1) returning a) select a from created',
    because: 'on Citus, one with an insert returns its row twice',
  },
  'lateral joins, merge, copy and cursors': {
    pattern: /\blateral\b|\bmerge\s+into\b|\bcopy\s+\w+\s+(?:from|to)\b|\bcursor\b|distinct\s+on/i,
    example: 'from user_groups, lateral (select 1) one',
    because: 'Citus does not push them down to the shards',
  },
  'all columns': {
    pattern: /(?:select|returning)\s+(?:\w+\.)?\*/i,
    example: 'select * from user_groups',
    because: 'a prepared statement fails after a migration has added a column',
  },
  'conditions on pairs of lists': {
    pattern: /=\s*any\s*\([^)]*\)[\s\S]*=\s*any\s*\(/i,
    example: 'where bucket = any ($1) and provided_id = any ($2)',
    because: 'every pair is probed; a join with unnest probes each key once',
  },
  'moving a row to another bucket': {
    // Imported tokens are distributed by their digest.
    pattern: /^(?!insert into imported_tokens)[\s\S]*\bset\b(?:(?!\bwhere\b)[\s\S])*?[\s,]bucket\s*=/i,
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
    because: 'it is not immutable, and Citus rejects it in an update',
  },
};

interface Sql {
  file: string;
  text: string;
}

const STATEMENT =
  /(['"`])\s*((?:select|insert|update|delete|create|alter|drop|analyze|begin|commit|rollback|show|set|with|lock)\b(?:(?!\1)[\s\S])*)\1/g;

const FILES = ['src/store/*.ts', 'src/store/postgres/**/*.ts'];
const SOURCES = globSync(FILES).filter(
  (file) => !file.endsWith('/citus.ts') && !file.endsWith('/inspect.ts'),
);

/** Exported statements, as they are sent. */
const prepared: Sql[] = (
  await Promise.all(
    SOURCES.map(async (file) => {
      const module = await import(pathToFileURL(file).href);
      // Some are members of an object.
      const exported = [module, ...Object.values(module)].flatMap((each) => Object.values(Object(each)));
      return exported.filter(isStatement).map(({ sql }) => ({ file, text: sql }));
    }),
  )
).flat();

function isStatement(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && 'name' in value && 'sql' in value;
}

/** Exported statements, literals that start like a statement, and the statements of the migrations. */
const statements: Sql[] = [
  ...prepared,
  ...SOURCES.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(STATEMENT)].map(([, , text]) => ({
      file,
      // Stands in for the columns; the prepared statement contains the real ones.
      text: text!.replace(/\$\{isSent\(\w+\)\}/g, 'stored.bucket = sent.bucket'),
    })),
  ),
  ...globSync('src/store/postgres/schema/migrations/*.sql').flatMap((file) =>
    readFileSync(file, 'utf8')
      .replaceAll(/--.*/g, '')
      .split(';')
      .map((text) => text.trim())
      .filter(Boolean)
      .map((text) => ({ file, text })),
  ),
];

describe('the SQL for PostgreSQL', () => {
  it('is checked completely', () => {
    const declared = SOURCES.flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/^export const [A-Z_]+ = statement\('\w+'\)`/gm),
    ]);
    assert.ok(declared.length > 0);
    assert.ok(prepared.length >= declared.length, `${prepared.length} of ${declared.length}`);
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
  });

  for (const [what, { pattern, example, because }] of Object.entries(unportable)) {
    it(`does not use ${what}: ${because}`, () => {
      assert.match(example, pattern);
      const found = statements.filter(({ text }) => pattern.test(text));
      assert.deepEqual(found, []);
    });
  }

  it('starts every unique key of user groups with the bucket, since a shard can only enforce it locally', () => {
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
    const names = globSync(FILES).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/ statement\('(\w+)'\)`/g)].map(([, name]) => name!),
    );
    assert.deepEqual(names, [...new Set(names)]);
  });
});
