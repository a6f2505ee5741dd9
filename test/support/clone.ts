// A copy of the parts of a clone from which the client is built and the examples run, with its dependencies installed.

import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = ['client', 'examples', 'package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'];

export function copyClone(to: string): void {
  const isSource = (path: string) => !/\/(?:dist|node_modules)$/.test(path);
  for (const name of PARTS) cpSync(join(ROOT, name), join(to, name), { recursive: true, filter: isSource });
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}
