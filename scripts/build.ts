// `npm run build`: builds `dist`, the compiled code in the package. Deletes it first, so that no renamed or deleted
// file remains.

import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { MAN_PAGE, manPage } from './man-page.ts';

const SWAGGER_UI = 'node_modules/swagger-ui-dist';

rmSync('dist', { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
// The compiler copies only TypeScript: the SQL of the migrations and the assets of pages are missing.
for (const path of globSync(['src/store/**/migrations', 'src/{http/docs,console}/*.{css,js,svg}'])) {
  cpSync(path, join('dist', relative('src', path)), { recursive: true });
}
// With its licences.
for (const name of [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(join(SWAGGER_UI, name), join('dist/http/docs/swagger-ui', name));
}
const { SOURCE_DATE_EPOCH: epoch } = process.env;
writeFileSync(MAN_PAGE, manPage(epoch === undefined ? undefined : Number(epoch)));
