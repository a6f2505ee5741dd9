// Runs the programs of the release. A program that is missing or fails ends the release with one line.

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The release cannot be made; the message is one line that says what to do. */
export class ReleaseRefused extends Error {
  override readonly name = 'ReleaseRefused';
}

/** Debian packages of programs that Node and npm do not bring. */
export const DEBIAN_PACKAGES = {
  crun: 'crun',
  'dpkg-deb': 'dpkg',
  lintian: 'lintian',
  minisign: 'minisign',
  mmdebstrap: 'mmdebstrap',
  'qemu-aarch64-static': 'qemu-user-static',
  skopeo: 'skopeo',
  tar: 'tar',
  umoci: 'umoci',
} as const;

export type Peer = keyof typeof DEBIAN_PACKAGES;

export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
}

/** Returns the standard output. Throws `ReleaseRefused` with the output of a program that fails. */
export function run(program: string, args: readonly string[], { cwd, env }: RunOptions = {}): Buffer {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 30,
  });
  if (error) throw new ReleaseRefused(`cannot run ${program}: ${error.message}`);
  if (status !== 0) throw new ReleaseRefused(`${program} exited with ${status}: ${stderr}${stdout}`.trim());
  return stdout;
}
