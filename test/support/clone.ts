// Copies this checkout with its installed dependencies, but without what was built in it.

import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = ['client', 'examples', 'package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'];

/** Copies the parts from which the client is built and that the examples run. */
export function copyClone(to: string): void {
  const isSource = (path: string) => !/\/(?:dist|node_modules)$/.test(path);
  for (const name of PARTS) cpSync(join(ROOT, name), join(to, name), { recursive: true, filter: isSource });
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}

export function copyCheckout(to: string): void {
  const built = join(ROOT, 'release');
  const isSource = (path: string) =>
    path !== built && !/\/(?:dist|node_modules|\.git|data)$|\.tgz$/.test(path);
  cpSync(ROOT, to, { recursive: true, filter: isSource });
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}
