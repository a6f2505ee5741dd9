// Passwords that the server stores as SCRAM verifiers of any strength, such as with `scram_iterations = 600000`.

import assert from 'node:assert/strict';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { databaseOf, postgres } from '../support/database.ts';
import { Folder, PATIENT, runHosted } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

/** Value of `pg_authid.rolpassword`: `scram_iterations`, which sets the number, exists from PostgreSQL 16 on. */
function scramVerifier(password: string, iterations: number): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const serverKey = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

describe('A password of PostgreSQL', () => {
  const database = databaseOf(postgres);

  it('may be derived with as many iterations as security policies ask for', async () => {
    const role = `role_${randomBytes(8).toString('hex')}`;
    await runSql(
      database,
      `create role ${role} superuser login password '${scramVerifier('secret', 600_000)}'`,
    );
    try {
      using folder = new Folder();
      const DATABASE_URL = database.url.replace(/\/\/.*@/, `//${role}:secret@`);
      const exit = await runHosted(folder, ['api-token', 'list'], {
        env: { ...database.env, ...PATIENT, DATABASE_URL },
      });
      assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
    } finally {
      await runSql(database, `drop owned by ${role} cascade; drop role ${role}`);
    }
  });
});
