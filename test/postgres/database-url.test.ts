// Contract: every connection to PostgreSQL interprets DATABASE_URL and the PG* environment variables in the
// same way.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { databaseOf, postgres } from '../support/database.ts';
import { Folder, runHosted } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

describe('DATABASE_URL', () => {
  const schema = `schema_${randomBytes(8).toString('hex')}`;
  const database = databaseOf(postgres);
  before(async () => {
    await runSql(database, `create schema ${schema}`);
  });

  for (const [title, parameters, env] of [
    ['its options', `?options=-c%20search_path%3D${schema}`, {}],
    ['PGOPTIONS if it has no options', '', { PGOPTIONS: `-c search_path=${schema}` }],
  ] as const) {
    it(`selects another schema with ${title}`, async () => {
      using folder = new Folder();
      const url = database.url + parameters;
      const exit = await runHosted(folder, ['api-token', 'list'], {
        env: { ...database.env, DATABASE_URL: url, ...env },
      });
      assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
      const tables = `select distinct table_schema from information_schema.tables where table_name = 'api_tokens'`;
      assert.deepEqual(await runSql(database, tables), [{ table_schema: schema }]);
      await runSql(database, `drop schema ${schema} cascade; create schema ${schema}`);
    });
  }

  it('may contain unencoded characters next to encoded ones', async () => {
    const role = `role_${randomBytes(8).toString('hex')}`;
    await runSql(database, `create role ${role} superuser login password '5% a/b=c'`);
    try {
      using folder = new Folder();
      const url = database.url.replace(/\/\/.*@/, `//${role}:5% a%2Fb%3dc@`);
      const env = { ...database.env, DATABASE_URL: `${url}?options=-c work_mem=5MB` };
      const exit = await runHosted(folder, ['api-token', 'list'], { env });
      assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
    } finally {
      await runSql(database, `drop owned by ${role} cascade; drop role ${role}`);
    }
  });

  it('may name a database with any encoded characters', async () => {
    const name = `a b/c?d#e@f%40:é ${randomBytes(8).toString('hex')}`;
    await runSql(database, `create database "${name}"`);
    try {
      using folder = new Folder();
      const { href } = new URL(`/${encodeURIComponent(name)}`, database.url);
      const env = { ...database.env, DATABASE_URL: href };
      const exit = await runHosted(folder, ['api-token', 'list'], { env });
      assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
    } finally {
      await runSql(database, `drop database "${name}"`);
    }
  });
});
