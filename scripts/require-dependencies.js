// Runs before scripts that need the development dependencies. It is plain JavaScript because, without the
// dependencies, npm uses the Node of the machine, which may not support type stripping.

import { existsSync } from 'node:fs';

if (!existsSync(new URL('../node_modules/.bin/tsc', import.meta.url))) {
  console.error('user-group-service: dependencies are not installed; run "npm ci" first');
  process.exit(1);
}
