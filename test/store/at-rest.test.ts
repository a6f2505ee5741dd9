// A copy of the database without the key ring reveals no token.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { describeOnEachDatabase, type TestDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const GROUPS = 40;

/**
 * Returns every encoding of the text to search for. A base64 form is cut to the part that does not depend on
 * its neighbours.
 */
function encodings(text: string): Record<string, string> {
  const bytes = Buffer.from(text);
  // Base64 encodes three bytes as four characters, so the form depends on the offset modulo three.
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

/** Returns the encodings of the text that the copy contains. */
function foundIn(copy: string, text: string): string[] {
  return Object.entries(encodings(text))
    .filter(([, encoded]) => copy.includes(encoded))
    .map(([encoding]) => encoding);
}

/** Returns the contents of the database without the keys, byte for byte as Latin-1. */
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

/** Returns the database and its write-ahead log. Only the key ring is not part of a copy. */
function copyOfFiles(folder: string): string {
  const files = readdirSync(folder).filter((name) => name.startsWith('user-groups.db'));
  assert.ok(files.includes('user-groups.db-wal'));
  return files.map((name) => readFileSync(join(folder, name), 'latin1')).join('\n');
}

describeOnEachDatabase('A copy of the database without its keys', (kind) => {
  const service = TestService.of(kind);
  const tokens: string[] = [];
  before(async () => {
    tokens.push(service.token, (await service.apiToken()).token);
    for (let index = 0; index < GROUPS; index++) await createHistory(`group-${index}`, index);
  });

  /** Creates or imports a group; rotates some tokens, with or without a grace period; deletes some groups. */
  async function createHistory(id: string, index: number): Promise<void> {
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

  it(`contains no new, replaced, imported or deleted token of ${GROUPS} groups in any encoding`, async () => {
    const copy = await copyOf(service.database);
    assert.ok(tokens.length > GROUPS * 1.5);
    const found = tokens.flatMap((token) => [...foundIn(copy, token), ...foundIn(copy, token.slice(4))]);
    assert.deepEqual(found, []);
  });

  it('fails this search if it does contain a token', async () => {
    const token = tokens.at(-1)!;
    const hidden = Object.values(encodings(token)).slice(0, 2);
    await service.get({ user_group_id: 'hidden', name: 'H', properties: { hidden } });
    assert.deepEqual(foundIn(await copyOf(service.database), token), ['plain', 'in hexadecimal']);
  });
});

describe('A search for a token', () => {
  it('finds the token at any offset in base64', () => {
    const token = randomBytes(32).toString('hex');
    for (let before = 0; before < 6; before++) {
      const copy = Buffer.from(`${'x'.repeat(before)}${token} and more`).toString('base64');
      assert.equal(foundIn(copy, token).length, 1);
    }
  });
});

describeOnEachDatabase('A stored token replaced by another stored token', (kind) => {
  const service = TestService.of(kind);
  let callers: Record<'testing' | 'elsewhere', string>;
  before(async () => {
    callers = {
      testing: (await service.apiToken({ environment: 'Testing' })).token,
      elsewhere: (await service.apiToken({ workspaceName: 'elsewhere' })).token,
    };
  });

  const SEALED = ['token_key_id', 'token_ciphertext'];
  const WHOLE = [...SEALED, 'token_digest'];
  type Row = Record<string, unknown>;

  async function rowOf({ json }: TestResponse): Promise<Row> {
    const { team_id } = json.user_group;
    const [row] = await runSql(service.database, `select * from user_groups where team_id = ${team_id}`);
    return row!;
  }

  /** Returns, by owner, the row whose token replaces the group's token. */
  const others: Record<string, (body: object, token: string) => Promise<Row>> = {
    'another group': async () => rowOf(await service.get({ user_group_id: 'other', name: 'Other' })),
    'the group with the same id in the other environment': async (body) =>
      rowOf(await service.get(body, { token: callers.testing })),
    'the group with the same id in another workspace': async (body) =>
      rowOf(await service.get(body, { token: callers.elsewhere })),
    'the same group before a rotation': async (body, token) => {
      const row = await rowOf(await service.get(body));
      await service.post({ current_token: token });
      return row;
    },
    'a deleted group with the same id': async (body) => {
      const row = await rowOf(await service.get(body));
      await service.call('DELETE', `/v1/user-groups/${row.provided_id}`);
      return row;
    },
  };
  for (const [index, [owner, otherRow]] of Object.entries(others).entries()) {
    // With its digest, it is the entire earlier row, which no key distinguishes from the current one.
    const isEarlierRow = owner === 'the same group before a rotation';
    for (const columns of isEarlierRow ? [SEALED] : [SEALED, WHOLE]) {
      it(`cannot be decrypted: the token of ${owner}, ${columns === WHOLE ? 'with' : 'without'} its digest`, async () => {
        const body = { user_group_id: `swapped-${index}-${columns.length}`, name: 'Swapped' };
        const { token } = (await served(() => service.get(body))).json.user_group;
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
        for (const response of [await service.get(body), await service.put(body)])
          assert.deepEqual([response.status, response.json.code], [503, 'database_unavailable']);
      });
    }
  }
});
