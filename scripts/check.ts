// `npm run check`, which CI also runs before the tests. Checks types, lint and format, import directions, the
// documentation and the OpenAPI document against the code, what earlier versions promised, and the client
// package.

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { findDocsFaults } from './check-docs.ts';
import { findImportFaults } from './check-imports.ts';
import { findBrokenPromises } from './promise.ts';

// Disables the update check of Redocly; redocly.yaml disables its telemetry.
process.env.REDOCLY_SUPPRESS_UPDATE_NOTICE = 'true';

const steps: [name: string, run: () => boolean][] = [
  ['types', () => succeeds('tsc')],
  ['lint and format', () => succeeds('biome', 'ci', '--error-on-warnings', '.')],
  ['imports', () => reportsNothing(findImportFaults())],
  ['names of test files', () => reportsNothing(findSharedNames())],
  ['documentation', () => reportsNothing(findDocsFaults())],
  ['OpenAPI document', () => succeeds('redocly', 'lint', 'docs/openapi.json')],
  ['promise', () => reportsNothing(findBrokenPromises())],
  ['client', () => spawnSync('npm', ['run', 'check', '-w', 'client'], { stdio: 'inherit' }).status === 0],
];

for (const [name, run] of steps) {
  console.log(`check: ${name}`);
  if (!run()) process.exitCode = 1;
}

/** Reports test files that share a name, because a failure names only the file. */
function findSharedNames(): string[] {
  const files = globSync('{test,reliability}/**/*.test.ts').map((path) => ({ path, name: basename(path) }));
  return [...Map.groupBy(files, ({ name }) => name)]
    .filter(([, same]) => same.length > 1)
    .map(([name, same]) => `${name} is the name of ${same.map(({ path }) => path).join(' and ')}`);
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(`node_modules/.bin/${command}`, args, { stdio: 'inherit' }).status === 0;
}

function reportsNothing(faults: readonly string[]): boolean {
  for (const fault of faults) console.error(fault);
  return faults.length === 0;
}
