// What `npm run build` runs: `dist`, as the package carries it. Made anew each time, so that nothing that was
// renamed or deleted is left in it.

import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

rmSync('dist', { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
// The compiler leaves behind what is no code: the SQL of the migrations, and the style of the documentation.
for (const path of globSync(['src/store/*/migrations', 'src/http/docs/page.css'])) {
  cpSync(path, join('dist', relative('src', path)), { recursive: true });
}
