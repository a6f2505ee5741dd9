// Adds the required Node version to package.json while npm packs it, and removes it afterwards (`prepack` and
// `postpack`). The manifest of a clone has none: `npm ci` needs only Node 20, installs the Node that runs the
// service, and would warn.

import { readFileSync, writeFileSync } from 'node:fs';

const MANIFEST = 'package.json';
/** Required version, also stated in bin/user-group-service.js, which an old Node must be able to run. */
const ENGINES = { node: '>=24.17' };

const [step] = process.argv.slice(2);
const { engines: _, ...manifest } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
const packed = step === 'complete' ? { ...manifest, engines: ENGINES } : manifest;
writeFileSync(MANIFEST, `${JSON.stringify(packed, null, 2)}\n`);
