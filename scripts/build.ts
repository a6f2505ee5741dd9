// What `npm run build` runs: `dist`, as the package carries it. Made anew each time, so that nothing that was
// renamed or deleted is left in it.

import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

rmSync('dist', { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
// The compiler leaves the SQL of the migrations behind.
for (const folder of globSync('src/store/*/migrations')) {
  cpSync(folder, join('dist', relative('src', folder)), { recursive: true });
}
