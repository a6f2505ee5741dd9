// A copy of the database without the key ring is of no use to whoever looks for tokens in it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase, type TestDatabase } from './database.ts';
import type { TestAnswer } from './http.ts';
import { TestService } from './service.ts';
import { runSql } from './sql.ts';

const GROUPS = 40;

/** Every way in which a text may stand in bytes, as the parts of it that are the same wherever it stands. */
function spellings(text: string): Record<string, string> {
  const bytes = Buffer.from(text);
  // In base64 three bytes make four characters, so it depends on what stands before.
  const inBase64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return {
    plain: text,
    'in hexadecimal': bytes.toString('hex'),
    'in capital hexadecimal': bytes.toString('hex').toUpperCase(),
    'in UTF-16': Buffer.from(text, 'utf16le').toString('latin1'),
    ...Object.fromEntries(inBase64.map((each, index) => [`in base64 (${index})`, each])),
  };
}

/** In what ways the copy holds the text. */
function foundIn(copy: string, text: string): string[] {
  return Object.entries(spellings(text))
    .filter(([, spelling]) => copy.includes(spelling))
    .map(([way]) => way);
}

/** All that one has who takes the database and not the keys, byte for byte as Latin-1. */
async function copyOf(database: TestDatabase): Promise<string> {
  if (database.url.startsWith('sqlite:')) return copyOfFiles(dirname(database.url.slice('sqlite:'.length)));
  const tables = await runSql(database, "select tablename from pg_tables where schemaname = 'public'");
  const rows = await Promise.all(
    tables.map(({ tablename }) => runSql(database, `select t::text as row from ${tablename} t`)),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

/** The database and its write-ahead log: the key ring is the one file that is no part of a copy. */
function copyOfFiles(folder: string): string {
  const files = readdirSync(folder).filter((name) => name.startsWith('user-groups.db'));
  assert.ok(files.includes('user-groups.db-wal'));
  return files.map((name) => readFileSync(join(folder, name), 'latin1')).join('\n');
}

describeOnEachDatabase('A copy of the database without its keys', (kind) => {
  let service: TestService;
  const tokens: string[] = [];
  before(async () => {
    service = await TestService.start(kind);
    tokens.push(service.token, (await service.apiToken()).token);
    for (let index = 0; index < GROUPS; index++) await liveThrough(`group-${index}`, index);
  });
  after(() => service.end());

  /** A group is made, some are rotated, with a grace period or without, some are deleted, and some were imported. */
  async function liveThrough(id: string, index: number): Promise<void> {
    const token = index % 5 === 0 ? randomBytes(32).toString('hex') : undefined;
    if (token !== undefined) await service.importGroup({ user_group_id: id, name: id, token });
    const created = await service.get({ user_group_id: id, name: id });
    tokens.push(created.json.user_group.token);
    if (index % 2 === 0) {
      const rotation = { current_token: tokens.at(-1), grace_period_seconds: index % 4 === 0 ? 60 : 0 };
      tokens.push((await service.post(rotation)).json.user_group.token);
    }
    if (index % 7 === 0) await service.call('DELETE', `/v1/user-groups/${id}`);
  }

  it(`holds no token of ${GROUPS} groups, new, replaced, imported or deleted, however it is written`, async () => {
    const copy = await copyOf(service.database);
    assert.ok(tokens.length > GROUPS * 1.5);
    const found = tokens.flatMap((token) => [...foundIn(copy, token), ...foundIn(copy, token.slice(4))]);
    assert.deepEqual(found, []);
  });

  it('would be found to hold one that is there', async () => {
    const token = tokens.at(-1)!;
    const hidden = Object.values(spellings(token)).slice(0, 2);
    await service.get({ user_group_id: 'hidden', name: 'H', properties: { hidden } });
    assert.deepEqual(foundIn(await copyOf(service.database), token), ['plain', 'in hexadecimal']);
  });
});

describe('A search for a token', () => {
  it('finds it wherever it stands in base64', () => {
    const token = randomBytes(32).toString('hex');
    for (let before = 0; before < 6; before++) {
      const copy = Buffer.from(`${'x'.repeat(before)}${token} and more`).toString('base64');
      assert.equal(foundIn(copy, token).length, 1);
    }
  });
});

describeOnEachDatabase('A stored token in the place of another', (kind) => {
  let service: TestService;
  let callers: Record<'testing' | 'elsewhere', string>;
  before(async () => {
    service = await TestService.start(kind);
    callers = {
      testing: (await service.apiToken({ environment: 'Testing' })).token,
      elsewhere: (await service.apiToken({ workspaceName: 'elsewhere' })).token,
    };
  });
  after(() => service.end());

  const SEALED = ['token_key_id', 'token_ciphertext'];
  const WHOLE = [...SEALED, 'token_digest'];
  type Row = Record<string, unknown>;

  async function rowOf({ json }: TestAnswer): Promise<Row> {
    const { team_id } = json.user_group;
    const [row] = await runSql(service.database, `select * from user_groups where team_id = ${team_id}`);
    return row!;
  }

  /** Whose token is put in the place of the group's. */
  const others: Record<string, (body: object, token: string) => Promise<Row>> = {
    'another group': async () => rowOf(await service.get({ user_group_id: 'other', name: 'Other' })),
    'the group of the same id in the other environment': async (body) =>
      rowOf(await service.get(body, { token: callers.testing })),
    'the group of the same id in another workspace': async (body) =>
      rowOf(await service.get(body, { token: callers.elsewhere })),
    'the same group before a rotation': async (body, token) => {
      const row = await rowOf(await service.get(body));
      await service.post({ current_token: token });
      return row;
    },
    'a deleted group of the same id': async (body) => {
      const row = await rowOf(await service.get(body));
      await service.call('DELETE', `/v1/user-groups/${row.provided_id}`);
      return row;
    },
  };
  for (const [index, [whose, otherRow]] of Object.entries(others).entries()) {
    // With its digest it would be the whole row of then, which no key tells from that of now.
    const isOfThen = whose === 'the same group before a rotation';
    for (const columns of isOfThen ? [SEALED] : [SEALED, WHOLE]) {
      it(`does not open: that of ${whose}, ${columns === WHOLE ? 'with' : 'without'} its digest`, async () => {
        const body = { user_group_id: `swapped-${index}-${columns.length}`, name: 'Swapped' };
        const { token } = (await service.get(body)).json.user_group;
        const other = await otherRow(body, token);
        const { team_id } = await rowOf(await service.get(body));
        const isUnique = `token_digest = '${other.token_digest}' and bucket = ${other.bucket}`;
        if (columns === WHOLE)
          await runSql(
            service.database,
            `delete from user_groups where ${isUnique} and team_id <> ${team_id}`,
          );
        const values = columns.map((column) => `${column} = '${other[column]}'`);
        await runSql(service.database, `update user_groups set ${values} where team_id = ${team_id}`);
        for (const answer of [await service.get(body), await service.put(body)])
          assert.deepEqual([answer.status, answer.json.code], [503, 'database_unavailable']);
      });
    }
  }
});
