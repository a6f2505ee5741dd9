// Lists the packages that the artefacts contain, with their licences.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './file.ts';
import { ReleaseRefused } from './run.ts';

/** Licences that permit distributing the artefacts under the conditions of this project. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];
/** SPDX names by the wrong names that manifests use. */
const CORRECTED: Readonly<Record<string, string>> = { 'BSD-0-Clause': '0BSD' };
/** Development dependencies that are copied into the packages. */
const VENDORED = ['swagger-ui-dist'];

interface Dependency {
  name: string;
  version: string;
  license: string;
  /** Digest of the package, as in package-lock.json. */
  integrity: string | undefined;
  folder: string;
}

interface LockEntry {
  version: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  devOptional?: boolean;
  link?: boolean;
}

/** Returns every package that is installed with the service or copied into it. */
export function dependencies(): Dependency[] {
  const { packages } = readJson<{ packages: Record<string, LockEntry> }>('package-lock.json');
  return Object.entries(packages)
    .filter(([folder, { link }]) => folder.startsWith('node_modules/') && !link)
    .map(([folder, entry]) => ({
      ...entry,
      folder,
      name: folder.slice(folder.lastIndexOf('node_modules/') + 13),
    }))
    .filter(({ name, dev, devOptional }) => !(dev || devOptional) || VENDORED.includes(name))
    .map(({ name, version, license = '', integrity, folder }) => {
      return { name, version, license: CORRECTED[license] ?? license, integrity, folder };
    });
}

/** Throws `ReleaseRefused` if a package has a licence that is not on the list. */
export function refuseLicenses(all: readonly Dependency[]): void {
  const refused = all.filter(({ license }) => !isAllowed(license));
  if (refused.length === 0) return;
  const names = refused.map(({ name, version, license }) => `${name} ${version} (${license || 'none'})`);
  throw new ReleaseRefused(`licences that scripts/release/dependency.ts does not allow: ${names.join(', ')}`);
}

/** Throws `ReleaseRefused` if an installed package has another version than package-lock.json. */
export function refuseStale(): void {
  for (const { folder, version } of dependencies()) {
    const installed = readJson<{ version: string }>(join(folder, 'package.json')).version;
    if (installed !== version)
      throw new ReleaseRefused(
        `${folder} has version ${installed}, package-lock.json ${version}: run "npm ci" first`,
      );
  }
}

/** Whether at least one alternative of an SPDX expression is allowed. */
function isAllowed(license: string): boolean {
  return license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((each) => ALLOWED.includes(each));
}

/** Returns the licence texts that must accompany the executable: those of all packages, and of Node. */
export function licenseTexts(nodeLicense: string): string {
  const own = dependencies().map((each) =>
    section(`${each.name} ${each.version}, ${each.license}`, licenseText(each)),
  );
  return [
    section('User Group Service', readFileSync('LICENSE', 'utf8').trim()),
    ...own,
    section('Node.js', nodeLicense.trim()),
  ].join('\n');
}

/**
 * Returns the texts in the files of a package, with those of the code that Swagger UI bundles. Some packages
 * have theirs at the end of the README.
 */
function licenseText({ name, folder }: Dependency): string {
  const texts = (pattern: string) =>
    globSync(pattern, { cwd: folder })
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const files = texts(
    '{LICEN[CS]E,LICEN[CS]E.*,licen[cs]e,licen[cs]e.*,NOTICE,COPYING,swagger-ui-bundle.js.LICENSE.txt}',
  );
  const [text = ''] =
    files.length > 0
      ? [files.join('\n\n')]
      : texts('[Rr][Ee][Aa][Dd][Mm][Ee].md').flatMap((each) => /^#+ licen[cs]e\n.*/ims.exec(each) ?? []);
  if (text === '') throw new ReleaseRefused(`${name} has no licence text`);
  return text;
}

function section(title: string, text: string): string {
  return `${title}\n${'='.repeat(title.length)}\n\n${text}\n`;
}
