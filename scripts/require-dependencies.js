// Runs before scripts that need the development dependencies. It is plain JavaScript because, without the
// dependencies, npm uses the Node of the machine, which may not support type stripping.

import { existsSync } from 'node:fs';

const modules = new URL('../node_modules/', import.meta.url);
if (!existsSync(modules)) fail('dependencies are not installed; run "npm ci" first');
// NODE_ENV=production or a setting of npm may have left out those for development, or their scripts, which install the
// Node that strips types, and PostgreSQL.
if (!existsSync(new URL('.bin/tsc', modules)) || !process.features.typescript)
  fail('dependencies are missing; run "npm ci --include=dev --ignore-scripts=false"');

/** @param {string} message */
function fail(message) {
  console.error(`user-group-service: ${message}`);
  process.exit(1);
}
