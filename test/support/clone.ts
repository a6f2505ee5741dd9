// Copies this checkout with its installed dependencies, but without what was built in it.

import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = ['client', 'examples', 'package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'];

/** Path of a dependency that is in no other one. */
const TOP_LEVEL = /^node_modules\/(?:@[^/]+\/)?[^/]+$/;

interface Lock {
  packages: Record<string, LockedPackage>;
}

interface LockedPackage {
  dev?: boolean;
  link?: boolean;
}

/** Copies the parts from which the client is built and that the examples run. */
export function copyClone(to: string): void {
  const isSource = (path: string) => !/\/(?:dist|node_modules)$/.test(path);
  for (const name of PARTS) cpSync(join(ROOT, name), join(to, name), { recursive: true, filter: isSource });
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}

/** Copies the dependencies that a package contains too, because npm packs none that it finds through a link. */
export function copyCheckout(to: string): void {
  const built = join(ROOT, 'release');
  const isSource = (path: string) =>
    path !== built && !/\/(?:dist|node_modules|\.git|data)$|\.tgz$/.test(path);
  cpSync(ROOT, to, { recursive: true, filter: isSource });
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  for (const [path, { dev, link }] of Object.entries<LockedPackage>({
    ...packages,
    'node_modules/.bin': { dev: true },
  })) {
    const [from, copy] = [join(ROOT, path), join(to, path)];
    if (!TOP_LEVEL.test(path) || link || !existsSync(from)) continue;
    mkdirSync(dirname(copy), { recursive: true });
    if (dev) symlinkSync(from, copy);
    else cpSync(from, copy, { recursive: true });
  }
}
