// `npm run build`: builds the compiled code into `dist`, as in the package, or into the given folder. Deletes
// the folder first, so that no renamed or deleted file remains.

import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { THREAD_FILES } from '../src/system/start-thread.ts';
import { MAN_PAGE, manPage } from './man-page.ts';

const ENTRIES = ['main', ...THREAD_FILES];
const SWAGGER_UI = 'node_modules/swagger-ui-dist';

const [folder = 'dist'] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
await bundle();
// The bundler copies only code, but not the SQL of the migrations and the assets of pages.
for (const path of globSync(['src/store/**/migrations', 'src/{http/docs,console}/*.{css,js,svg}'])) {
  cpSync(path, join(folder, relative('src', path)), { recursive: true });
}
// Copies Swagger UI with its licences.
for (const name of [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(join(SWAGGER_UI, name), join(folder, 'http/docs/swagger-ui', name));
}
const { SOURCE_DATE_EPOCH: epoch } = process.env;
writeFileSync(join(folder, MAN_PAGE), manPage(epoch === undefined ? undefined : Number(epoch)));

/**
 * Bundles the code, because Node takes a third of a millisecond to load a file, and each serving thread loads
 * 500 of them. The dependencies stay outside, where npm can update them.
 */
async function bundle(): Promise<void> {
  await build({
    entryPoints: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}.ts`])),
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'warning',
  });
  // Paths from code to other files are right only in a chunk, which is one folder deep, as src/system/ is.
  for (const name of ENTRIES) {
    const path = join(folder, `${name}.js`);
    if (readFileSync(path, 'utf8').includes('import.meta'))
      throw new Error(`${path} reads files by its own path`);
  }
}
