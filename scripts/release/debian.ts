// Builds the Debian package of the executable. `deploy/debian/` contains the scripts that dpkg runs; the unit
// is the one for all distributions. dpkg-deb alone is enough: there is nothing to compile, and no source
// package.

import { chmodSync, copyFileSync, globSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { manPage } from '../man-page.ts';
import { executableFor } from './executable.ts';
import { copyDocumentation, writeTo } from './file.ts';
import { ARCHITECTURES, type Architecture, architectures, type Builder, type Release } from './release.ts';
import { run } from './run.ts';

const NAME = 'user-group-service';
const DOC = `usr/share/doc/${NAME}`;
/** Folders in which shells look for the completion script of a command. */
const COMPLETIONS = {
  bash: `usr/share/bash-completion/completions/${NAME}`,
  fish: `usr/share/fish/vendor_completions.d/${NAME}.fish`,
  zsh: `usr/share/zsh/vendor-completions/_${NAME}`,
};
/** Libraries with which Node is linked, and programs that create the user. */
const DEPENDS = [
  'libatomic1',
  'libc6 (>= 2.28)',
  'libgcc-s1 (>= 3.4)',
  'libstdc++6 (>= 9)',
  'systemd | systemd-standalone-sysusers | systemd-sysusers',
];

export const debianPackages: Builder = {
  kind: 'debian',
  what: 'Debian packages',
  peers: ['dpkg-deb', 'lintian'],
  build: async (release) => {
    for (const architecture of architectures) {
      const root = join(release.work, 'debian', architecture);
      await fillPackage(root, architecture, release);
      const name = `${NAME}_${release.version}_${ARCHITECTURES[architecture]}.deb`;
      const output = join(release.output, name);
      // Compresses with gzip: xz would take a minute for the executable.
      const args = ['--build', '--root-owner-group', '-Zgzip', '-z6', root, output];
      run('dpkg-deb', args, { env: { SOURCE_DATE_EPOCH: String(release.epoch) } });
      run('lintian', ['--profile', 'debian', '--fail-on', 'error,warning', '--allow-root', output]);
    }
  },
};

/** Fills the folder with the files of the package. */
export async function fillPackage(root: string, architecture: Architecture, release: Release): Promise<void> {
  const { path, licenses } = await executableFor(architecture, release);
  const compressed = (content: string) => gzipSync(content, { level: 9 });
  copyTo(path, join(root, 'usr/bin', NAME));
  copyTo('deploy/systemd/user-group-service@.service', join(root, `usr/lib/systemd/system/${NAME}@.service`));
  copyTo('deploy/systemd/user-group-service.conf', join(root, `usr/lib/sysusers.d/${NAME}.conf`));
  copyTo('deploy/debian/lintian-overrides', join(root, 'usr/share/lintian/overrides', NAME));
  copyTo('deploy/debian/copyright', join(root, DOC, 'copyright'));
  copyDocumentation(join(root, DOC));
  writeTo(join(root, DOC, 'LICENSES.gz'), compressed(licenses));
  writeTo(join(root, DOC, 'changelog.gz'), compressed(changelog(release)));
  writeTo(join(root, `usr/share/man/man1/${NAME}.1.gz`), compressed(manPage(release.epoch)));
  for (const [shell, completion] of Object.entries(COMPLETIONS))
    writeTo(join(root, completion), run(process.execPath, [`bin/${NAME}.js`, 'completion', shell]));
  mkdirSync(join(root, 'etc', NAME), { recursive: true });
  for (const script of ['postinst', 'prerm', 'postrm'])
    copyTo(`deploy/debian/${script}`, join(root, 'DEBIAN', script));
  for (const entry of ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
    setMode(root, entry);
  writeTo(join(root, 'DEBIAN/control'), control(architecture, release, installedKilobytes(root)));
  chmodSync(join(root, 'DEBIAN/control'), 0o644);
}

function copyTo(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/** Sets the mode, whatever the umask of the checkout. */
function setMode(root: string, entry: string): void {
  const path = join(root, entry);
  const isRun = statSync(path).isDirectory() || entry.startsWith('usr/bin/') || /^DEBIAN\/p/.test(entry);
  chmodSync(path, isRun ? 0o755 : 0o644);
}

function installedKilobytes(root: string): number {
  const sizes = globSync('{etc,usr}/**/*', { cwd: root }).map((entry) => statSync(join(root, entry)).size);
  return Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024);
}

function control(architecture: Architecture, { version }: Release, kilobytes: number): string {
  return `Package: ${NAME}
Version: ${version}
Architecture: ${ARCHITECTURES[architecture]}
Maintainer: User Group Service contributors <user-group-service@localhost>
Installed-Size: ${kilobytes}
Depends: ${DEPENDS.join(', ')}
Suggests: postgresql (>= 14)
Section: net
Priority: optional
Description: tokens that tell dashboards which customer is viewing
 The service keeps one user group for each of your customers and issues the
 token that tells an embedded dashboard who is viewing, which data source each
 schema maps to, and which properties its queries read as variables.
 .
 It stores everything in SQLite, or in PostgreSQL for several processes.
`;
}

/** Returns a changelog in Debian's format; CHANGELOG.md lists the changes. */
function changelog({ version, epoch }: Release): string {
  const date = new Date(epoch * 1_000).toUTCString().replace('GMT', '+0000');
  return `${NAME} (${version}) stable; urgency=medium

  * Release ${version}.

 -- User Group Service contributors <user-group-service@localhost>  ${date}
`;
}
