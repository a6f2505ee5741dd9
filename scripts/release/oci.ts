// Builds the OCI image of the executable, as an archive with one image per architecture. No daemon is needed,
// because an image is only two layers and three JSON documents. The layout is that of the Dockerfile.

import { copyFileSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { executableFor } from './executable.ts';
import { gzip, type SpecialFolder, sha256, tar, writeTo } from './file.ts';
import { ARCHITECTURES, type Architecture, architectures, type Builder, type Release } from './release.ts';
import { run } from './run.ts';

/** Debian release of the official Node images. */
const SUITE = 'bookworm';
const OS_RELEASE = `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION_CODENAME=bookworm
ID=debian
`;
/** Libraries with which Node is linked. */
const PACKAGES = ['libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'];
/** Files that nothing in the image reads, or that describe the machine that builds it. */
const UNUSED = [
  'dev',
  'etc/apt',
  'etc/dpkg',
  'etc/fstab',
  'etc/hostname',
  'etc/resolv.conf',
  'tmp',
  'usr/share/lintian',
  'var',
];
/** Folder from which scanners learn the packages of an image without dpkg's database, one file for each. */
const PACKAGE_LIST = 'var/lib/dpkg/status.d';
/** Hook of mmdebstrap, which later deletes the downloaded packages. */
const LIST_PACKAGES = `mkdir "$1/packages" && for deb in "$1"/var/cache/apt/archives/*.deb; do
  dpkg-deb --field "$deb" > "$1/packages/$(dpkg-deb --field "$deb" Package)" || exit
done`;
/** User `node` of the official images, as in the Dockerfile. */
const USER = 1000;
const HOME = 'var/lib/user-group-service';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

export const ociImage: Builder = {
  kind: 'oci',
  what: 'OCI image',
  peers: ['dpkg-deb', 'mmdebstrap', 'tar'],
  build: async (release) => {
    const layout = join(release.work, 'oci');
    const manifests: object[] = [];
    for (const architecture of architectures) manifests.push(await image(layout, architecture, release));
    // The index of the layout contains an index of the architectures, from which tools choose.
    const images = add(layout, INDEX, JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests }));
    const annotations = { 'org.opencontainers.image.ref.name': release.version };
    const index = { schemaVersion: 2, mediaType: INDEX, manifests: [{ ...images, annotations }] };
    writeTo(join(layout, 'index.json'), JSON.stringify(index));
    writeTo(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    const archive = join(release.output, `user-group-service-${release.version}-oci.tar`);
    tar(archive, { folder: layout, epoch: release.epoch });
  },
};

/** Writes the blobs of an image, and returns its entry in the index. */
async function image(layout: string, architecture: Architecture, release: Release): Promise<object> {
  const layers = [systemLayer(architecture, release), await programLayer(architecture, release)];
  const platform = { architecture: ARCHITECTURES[architecture], os: 'linux' };
  const created = new Date(release.epoch * 1_000).toISOString();
  const config = {
    ...platform,
    created,
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { '8080/tcp': {} },
      Env: ['PATH=/usr/bin', 'NODE_ENV=production', 'HOST=0.0.0.0'],
      Entrypoint: ['/usr/bin/user-group-service'],
      Cmd: ['serve'],
      WorkingDir: `/${HOME}`,
      StopSignal: 'SIGTERM',
      Labels: labels(release, created),
    },
    rootfs: { type: 'layers', diff_ids: layers.map((path) => digest(gunzipSync(readFileSync(path)))) },
    history: ['Debian packages', 'user-group-service'].map((comment) => ({ created, comment })),
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: add(layout, 'application/vnd.oci.image.config.v1+json', JSON.stringify(config)),
    layers: layers.map((path) => add(layout, LAYER, readFileSync(path))),
    annotations: labels(release, created),
  };
  return { ...add(layout, MANIFEST, JSON.stringify(manifest)), platform };
}

function labels({ version, commit }: Release, created: string): Record<string, string> {
  const named = {
    title: 'User Group Service',
    description: 'Issues a token per customer and tells your dashboards who is viewing.',
    licenses: 'MIT',
    version,
    revision: commit,
    created,
  };
  return Object.fromEntries(
    Object.entries(named).map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
  );
}

function add(layout: string, mediaType: string, content: string | Buffer): Descriptor {
  const bytes = Buffer.from(content);
  const name = sha256(bytes);
  writeTo(join(layout, 'blobs/sha256', name), bytes);
  return { mediaType, digest: `sha256:${name}`, size: bytes.length };
}

function digest(bytes: Buffer): string {
  return `sha256:${sha256(bytes)}`;
}

/**
 * Returns a layer with the files of some Debian packages and the users of the image. None of their scripts
 * run, whatever the architecture. mmdebstrap writes an archive, because files in a folder would belong to
 * other users unless it runs as root.
 */
function systemLayer(architecture: Architecture, { work, epoch }: Release): string {
  const folder = join(work, 'system', architecture);
  const archive = `${folder}-debian.tar`;
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  const options = [
    '--variant=extract',
    `--architectures=${ARCHITECTURES[architecture]}`,
    `--include=${PACKAGES.join(',')}`,
    '--dpkgopt=path-exclude=/usr/share/locale/*',
    `--extract-hook=${LIST_PACKAGES}`,
  ];
  run('mmdebstrap', ['--quiet', ...options, SUITE, archive], { env: { SOURCE_DATE_EPOCH: String(epoch) } });
  const excluded = UNUSED.map((path) => `--exclude=./${path}`);
  run('tar', ['--extract', '--file', archive, '--directory', folder, '--no-same-owner', ...excluded]);
  mkdirSync(join(folder, dirname(PACKAGE_LIST)), { recursive: true });
  renameSync(join(folder, 'packages'), join(folder, PACKAGE_LIST));
  writeTo(join(folder, 'etc/os-release'), OS_RELEASE);
  writeTo(join(folder, 'etc/debian_version'), '12\n');
  writeTo(join(folder, 'etc/passwd'), `root:x:0:0::/:/\nnode:x:${USER}:${USER}::/${HOME}:/\n`);
  writeTo(join(folder, 'etc/group'), `root:x:0:\nnode:x:${USER}:\n`);
  return layer(folder, epoch, { path: 'tmp', user: 0, mode: '1777' });
}

async function programLayer(architecture: Architecture, release: Release): Promise<string> {
  const { path, licenses } = await executableFor(architecture, release);
  const folder = join(release.work, 'program', architecture);
  mkdirSync(join(folder, 'usr/bin'), { recursive: true });
  copyFileSync(path, join(folder, 'usr/bin/user-group-service'));
  writeTo(join(folder, 'usr/share/doc/user-group-service/copyright'), licenses);
  mkdirSync(join(folder, HOME, 'data'), { recursive: true });
  return layer(folder, release.epoch, { path: `${HOME}/data`, user: USER, mode: '700' });
}

function layer(folder: string, epoch: number, special: SpecialFolder): string {
  const archive = `${folder}.tar`;
  tar(archive, { folder, epoch, special });
  return gzip(archive);
}
