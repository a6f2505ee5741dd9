// Checks the state of the checkout before a release.

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readJson } from './file.ts';
import { ReleaseRefused, run } from './run.ts';

interface Versioned {
  version: string;
}

const CHART = 'deploy/helm/user-group-service/Chart.yaml';
const CHANGELOGS = ['CHANGELOG.md', 'client/CHANGELOG.md'];

/**
 * Returns the version that everything published shares. Throws `ReleaseRefused` if a file has another one.
 */
export function releasedVersion(): string {
  const { version } = readJson<Versioned>('package.json');
  const { packages } = readJson<{ packages: Record<string, Versioned> }>('package-lock.json');
  const chart: Versioned & { appVersion: string } = parse(readFileSync(CHART, 'utf8'));
  const others = {
    'client/package.json': readJson<Versioned>('client/package.json').version,
    'package-lock.json': packages['']?.version,
    'package-lock.json for the client': packages.client?.version,
    [CHART]: chart.version,
    [`${CHART} for the image`]: chart.appVersion,
  };
  const [different] = Object.entries(others).filter(([, other]) => other !== version);
  if (different === undefined) return version;
  throw new ReleaseRefused(`package.json has version ${version}, ${different[0]} ${different[1]}`);
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
