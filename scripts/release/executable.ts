// Builds the single executable: Node with one bundled script, and the files that the program reads as assets.

import { existsSync, globSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { THREAD_CODE } from '../../src/system/start-thread.ts';
import { manPage } from '../man-page.ts';
import { licenseTexts } from './dependency.ts';
import { copyDocumentation, gzip, tar } from './file.ts';
import { nodeBinary } from './node-binary.ts';
import { type Architecture, architectures, type Builder, type Release } from './release.ts';
import { run } from './run.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAME = 'user-group-service';
const CODE = 'user-group-service.cjs';
const DEPENDENCY_FILES = [
  'htmx.org/dist/htmx.min.js',
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
];
/** Same flags as in the first line of bin/user-group-service.js. */
const NODE_FLAGS = ['--max-semi-space-size=16'];

export const executables: Builder = {
  kind: 'executable',
  what: 'single executables for Linux',
  peers: ['tar'],
  build: async (release) => {
    for (const architecture of architectures) {
      const { path, licenses } = await executableFor(architecture, release);
      const name = `user-group-service-${release.version}-linux-${architecture}`;
      const folder = join(release.work, 'archive', architecture);
      mkdirSync(join(folder, name), { recursive: true });
      linkSync(path, join(folder, name, NAME));
      copyDocumentation(join(folder, name));
      writeFileSync(join(folder, name, 'LICENSES'), licenses);
      writeFileSync(join(folder, name, `${NAME}.1`), manPage(release.epoch));
      const archive = join(release.output, `${name}.tar`);
      tar(archive, { folder, epoch: release.epoch });
      gzip(archive);
    }
  },
};

/** Returns the executable of a release, which is built only once, and the licences of everything in it. */
export async function executableFor(
  architecture: Architecture,
  release: Release,
): Promise<{ path: string; licenses: string }> {
  const work = join(release.work, 'executable', architecture);
  const path = join(work, NAME);
  const licenses = join(work, 'LICENSES');
  if (!existsSync(licenses)) {
    const node = nodeBinary(architecture, work);
    await buildExecutable({ node: node.path, work, output: path });
    writeFileSync(licenses, licenseTexts(node.license));
  }
  return { path, licenses: readFileSync(licenses, 'utf8') };
}

interface Executable {
  /** Binary of Node for the architecture of the executable, in the version that is running. */
  node: string;
  /** Folder for intermediate files. */
  work: string;
  output: string;
}

/**
 * Builds the executable without a code cache, which would be valid for only one architecture: the bundle
 * loads in a tenth of a second.
 */
export async function buildExecutable({ node, work, output }: Executable): Promise<void> {
  await bundle(join(work, CODE));
  const assets = { [THREAD_CODE]: CODE, ...programFiles() };
  writeFileSync(
    join(work, 'sea.json'),
    JSON.stringify({
      // The path is relative because the executable contains it.
      main: CODE,
      executable: node,
      output,
      execArgv: NODE_FLAGS,
      disableExperimentalSEAWarning: true,
      assets,
    }),
  );
  run(process.execPath, ['--build-sea', 'sea.json'], { cwd: work });
}

/**
 * Bundles as CommonJS, because the code of a thread that is not a file cannot be an ES module. Keeps names,
 * so that stack traces are readable.
 */
async function bundle(output: string): Promise<void> {
  await build({
    entryPoints: ['src/executable.ts'],
    absWorkingDir: ROOT,
    outfile: output,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node26',
    minifyWhitespace: true,
    legalComments: 'eof',
    // Optional dependency of pg.
    external: ['pg-native'],
    // Only a clone and the package read files relative to the code.
    define: { 'import.meta.url': '""', 'import.meta.resolve': 'undefined' },
    logLevel: 'warning',
  });
}

/** Returns the paths of files by the names under which `src/system/program-file.ts` reads them. */
function programFiles(): Record<string, string> {
  const files = globSync('src/**/*.*', { cwd: ROOT }).filter((path) => !path.endsWith('.ts'));
  const names = new Map(files.map((path) => [relative('src', path), path]));
  for (const path of ['package.json', 'docs/openapi.json']) names.set(`../${path}`, path);
  for (const path of DEPENDENCY_FILES) names.set(path, join('node_modules', path));
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, path]) => [name, join(ROOT, path)]));
}
