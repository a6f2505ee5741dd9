// What `npm run check` runs, and CI before the tests: types, lint and format, the direction of
// imports, the documentation and the description of the API against the code, the client as it is published.

import { spawnSync } from 'node:child_process';
import { findDocsFaults } from './check-docs.ts';
import { findImportFaults } from './check-imports.ts';

// Redocly would ask for a newer one of itself; redocly.yaml turns off what else it tells its makers.
process.env.REDOCLY_SUPPRESS_UPDATE_NOTICE = 'true';

const steps: [name: string, run: () => boolean][] = [
  ['types', () => succeeds('tsc')],
  ['lint and format', () => succeeds('biome', 'ci', '--error-on-warnings', '.')],
  ['imports', () => reportsNothing(findImportFaults())],
  ['documentation', () => reportsNothing(findDocsFaults())],
  ['description of the API', () => succeeds('redocly', 'lint', 'docs/openapi.json')],
  ['client', () => spawnSync('npm', ['run', 'check', '-w', 'client'], { stdio: 'inherit' }).status === 0],
];

for (const [name, run] of steps) {
  console.log(`check: ${name}`);
  if (!run()) process.exitCode = 1;
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(`node_modules/.bin/${command}`, args, { stdio: 'inherit' }).status === 0;
}

function reportsNothing(faults: readonly string[]): boolean {
  for (const fault of faults) console.error(fault);
  return faults.length === 0;
}
