// Copies the documentation of the npm package, with the files that it describes, into another artefact.

import { cpSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './file.ts';

/** Files of the npm package that other artefacts have elsewhere. */
const OTHERS = ['bin', 'dist', 'LICENSE'];

export function copyDocumentation(folder: string): void {
  const { files } = readJson<{ files: string[] }>('package.json');
  for (const path of globSync(files.filter((each) => !OTHERS.includes(each))))
    cpSync(path, join(folder, path), { recursive: true });
}
