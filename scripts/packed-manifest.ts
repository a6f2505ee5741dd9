// Completes package.json while npm packs it, and restores it afterwards (`prepack` and `postpack`).
//
// The manifest of a clone requires no version of Node: `npm ci` needs only Node 20, installs the Node that runs the
// service, and would warn. The package contains its dependencies, in the versions of package-lock.json: npm ignores the
// lock of a package, and would install what the tests and the bill of materials have not seen.

import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { refuseStale } from './release/dependency.ts';

const MANIFEST = 'package.json';
/** Required version, also stated in bin/user-group-service.js, which an old Node must be able to run. */
const ENGINES = { node: '>=24.17' };

const [step] = process.argv.slice(2);
if (step === 'complete') {
  if (lstatSync('node_modules').isSymbolicLink())
    throw new Error('node_modules is a link, through which npm packs no dependencies: run "npm ci" first');
  refuseStale();
}
const {
  engines: _engines,
  bundleDependencies: _bundled,
  ...manifest
} = JSON.parse(readFileSync(MANIFEST, 'utf8'));
// Yarn 1 cannot install a package with `true` in place of the names.
const completion = { engines: ENGINES, bundleDependencies: Object.keys(manifest.dependencies) };
const packed = step === 'complete' ? { ...manifest, ...completion } : manifest;
writeFileSync(MANIFEST, `${JSON.stringify(packed, null, 2)}\n`);
