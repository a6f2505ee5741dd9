// What must be true of the checkout before a release.

import { readFileSync } from 'node:fs';
import { readJson } from './file.ts';
import { ReleaseRefused, run } from './run.ts';

const CHANGELOGS = ['CHANGELOG.md', 'client/CHANGELOG.md'];

/** The version, which the service and its client share. Throws `ReleaseRefused` if they differ. */
export function releasedVersion(): string {
  const service = readJson<{ version: string }>('package.json').version;
  const client = readJson<{ version: string }>('client/package.json').version;
  if (service === client) return service;
  throw new ReleaseRefused(`package.json has version ${service}, client/package.json ${client}`);
}

/** Throws `ReleaseRefused` if a file is changed or not under version control. */
export function refuseChanges(): void {
  const changes = run('git', ['status', '--porcelain']).toString().trim();
  if (changes !== '') throw new ReleaseRefused(`the checkout has changes; commit them first:\n${changes}`);
}

/** Throws `ReleaseRefused` unless each changelog has the version with a date. */
export function refuseUnreleased(version: string): void {
  for (const path of CHANGELOGS) {
    const heading = readFileSync(path, 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`## ${version}`));
    if (heading !== undefined && /^## \S+, \d{4}-\d{2}-\d{2}$/.test(heading)) continue;
    const found = heading === undefined ? 'has no entry' : `says "${heading.slice(3)}"`;
    throw new ReleaseRefused(
      `${path} ${found} for ${version}: give it a date, as in "## ${version}, 2026-01-31"; --rehearsal builds it anyway`,
    );
  }
}

/** Throws `ReleaseRefused` if the version has something that `npm run snapshot` has not promised. */
export function refuseUnpromised(): void {
  run('npm', ['run', '--silent', 'snapshot', '--', '--check']);
}

export function headCommit(): { commit: string; epoch: number } {
  const [commit = '', epoch = ''] = run('git', ['log', '-1', '--format=%H %ct']).toString().trim().split(' ');
  return { commit, epoch: Number(epoch) };
}
