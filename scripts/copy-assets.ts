// What the compiler leaves behind: the SQL of the migrations goes to `dist` beside the code that reads it.

import { cpSync, globSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

for (const folder of globSync('src/store/*/migrations')) {
  const target = join('dist', relative('src', folder));
  // A migration that an earlier build has left under another name would run a second time.
  rmSync(target, { recursive: true, force: true });
  cpSync(folder, target, { recursive: true });
}
