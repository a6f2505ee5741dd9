// The single executable: Node with one bundled script and the files that the program reads, as assets.

import { execFileSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { THREAD_CODE } from '../../src/system/start-thread.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DEPENDENCY_FILES = [
  'htmx.org/dist/htmx.min.js',
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
];
/** As in the first line of bin/user-group-service.js. */
const NODE_FLAGS = ['--max-semi-space-size=16'];

interface Executable {
  /** The binary of Node, for the architecture of the executable and in the version of the running one. */
  node: string;
  /** A folder for intermediate files. */
  work: string;
  output: string;
}

/** Without a code cache, which would be valid for one architecture only: the bundle loads in a tenth of a second. */
export async function buildExecutable({ node, work, output }: Executable): Promise<void> {
  const code = join(work, 'bundle.cjs');
  await bundle(code);
  const config = join(work, 'sea.json');
  const assets = { [THREAD_CODE]: code, ...programFiles() };
  writeFileSync(
    config,
    JSON.stringify({
      main: code,
      executable: node,
      output,
      execArgv: NODE_FLAGS,
      disableExperimentalSEAWarning: true,
      assets,
    }),
  );
  execFileSync(process.execPath, ['--build-sea', config], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * CommonJS, because the code of a thread that is not a file cannot be an ES module. Names are kept, so that a stack
 * trace says something.
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

/** By the names that `src/system/program-file.ts` reads them under. */
function programFiles(): Record<string, string> {
  const files = globSync(['src/store/*/schema/migrations/*.sql', 'src/{http/docs,console}/*.{css,js}'], {
    cwd: ROOT,
  });
  const names = new Map(files.map((path) => [relative('src', path), path]));
  names.set('../package.json', 'package.json');
  for (const path of DEPENDENCY_FILES) names.set(path, join('node_modules', path));
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, path]) => [name, join(ROOT, path)]));
}
