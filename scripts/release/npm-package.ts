// Builds the npm packages of the service and of the client. npm sorts their files and gives all of them the
// same time, but keeps their modes.

import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dependencies } from './dependency.ts';
import type { Builder, Release } from './release.ts';
import { ReleaseRefused, run } from './run.ts';

export const npmPackages: Builder = {
  kind: 'npm',
  what: 'npm packages of the service and of the client',
  peers: [],
  build: (release) => {
    setModes();
    pack(release, []);
    pack(release, ['--workspace', 'client']);
  },
};

/** Sets the modes of all files, which a checkout or dependencies made with a strict umask have for their owner only. */
function setModes(): void {
  process.umask(0o022);
  const own = run('git', ['ls-files', '-z']).toString().split('\0').slice(0, -1);
  const bundled = dependencies().flatMap(({ folder }) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  for (const path of [...own, ...bundled])
    chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
}

interface Packed {
  filename: string;
  files: { path: string }[];
}

/** Throws `ReleaseRefused` if the package contains a source map of its own, which would name the folders of this machine. */
function pack({ output, epoch }: Release, args: readonly string[]): void {
  const env = { SOURCE_DATE_EPOCH: String(epoch) };
  const json = run('npm', ['pack', '--json', '--pack-destination', output, ...args], { env }).toString();
  // The scripts that build the package print something first.
  const [{ filename, files }] = JSON.parse(json.slice(json.indexOf('[\n'))) as [Packed];
  const map = files.find(({ path }) => path.endsWith('.map') && !path.startsWith('node_modules/'));
  if (map !== undefined) throw new ReleaseRefused(`${filename} contains the source map ${map.path}`);
}
