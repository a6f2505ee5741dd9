// What `npm test` runs. Arguments go on to the test runner: `npm test -- test/rotate.test.ts`.

import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';

const files = process.argv.slice(2);
const args = [
  '--test',
  '--test-concurrency=2',
  ...(files.length > 0 ? files : globSync('test/**/*.test.ts').sort()),
];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
