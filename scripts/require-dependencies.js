// Runs before scripts that need the development dependencies. It is plain JavaScript because, without the
// dependencies, npm uses the Node of the machine, which may not support type stripping.

import { existsSync } from 'node:fs';

if (!existsSync(new URL('../node_modules/.bin/tsc', import.meta.url))) {
  console.error('user-group-service: dependencies are not installed; run "npm ci" first');
  process.exit(1);
}
// The scripts of the dependencies install the Node that strips types, and PostgreSQL.
if (!process.features.typescript) {
  console.error(
    'user-group-service: the scripts of the dependencies were not run; run "npm ci --ignore-scripts=false"',
  );
  process.exit(1);
}
