// `check` reads any number of user groups in constant memory: a million groups took at most 41 MB more than
// ten thousand.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { Folder, Program, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { inTerminal, linesInTerminal, noTerminal } from '../support/terminal.ts';

const GROUPS = 200_000;
const VIOLATING = 2_000;
const RESIDENT_MB = 200;
const POLL_MS = 20;
const LIMIT_MS = 180_000;

describeOnEachDatabase(`check of ${GROUPS} user groups`, (kind) => {
  const folder = Folder.of();
  const service = TestService.of(kind);
  before(async () => {
    const { token } = await service.apiToken({ permission: 'admin' });
    const schema = { properties: { seats: { type: 'integer', minimum: VIOLATING + 1 } }, required: ['plan'] };
    const rule = { schema, mode: 'off' };
    const put = await served(() => service.call('PUT', '/v1/property-schema', rule, { token }));
    assert.equal(put.status, 201, put.text);
    await runSql(
      service.database,
      `insert into user_groups (bucket, workspace_id, environment, provided_id, team_id, name, properties, version,
         token_digest, token_key_id, token_ciphertext, created_at, updated_at)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${GROUPS})
       select 0, 1, 'Customer', 'group-' || n, n, 'name-' || n,
         '{"plan":"gold","region":"eu-west","seats":' || n || '}', 1, 'digest-' || n, '', '', 1, 1 from numbers`,
    );
    if (kind.name !== 'SQLite') await runSql(service.database, 'analyze');
  });

  it(`takes at most ${RESIDENT_MB} MB, and shows its progress`, { skip: noTerminal }, async () => {
    await using program = new Program(folder, ['check', '--workspace', 'default'], {
      env: service.database.env,
      command: inTerminal(folder),
    });
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, peakResidentMb(folder));
    }, POLL_MS);
    const { code, stdout } = await program.exit(LIMIT_MS);
    clearInterval(timer);
    assert.equal(code, 65);
    assert.ok(peak > 0 && peak <= RESIDENT_MB, `${peak} MB`);
    const shown = new Set(stdout.match(/\d+ % {2}\d+ of/g));
    assert.ok(shown.size > 3, 'the progress bar moves');
    const lines = linesInTerminal(stdout);
    assert.equal(lines.filter((line) => line.includes('/properties/seats must be >=')).length, VIOLATING);
    assert.ok(lines.includes(`Checked ${GROUPS} user groups: ${VIOLATING} violate the rules.`));
  });
});

/**
 * Returns the peak of the program in the terminal, as the kernel records it; 0 before the program starts and
 * after it has ended.
 */
function peakResidentMb(folder: Folder): number {
  try {
    const id = readFileSync(folder.join('process-id'), 'utf8').trim();
    const [, kibibytes = 0] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
    return Math.round((Number(kibibytes) * 1_024) / 1_000_000);
  } catch {
    return 0;
  }
}
