// The files of the program that are not code: beside the code in a clone and in the package, inside the
// single executable. Only this file distinguishes the three.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getAsset, getAssetKeys, isSea } from 'node:sea';

/** `name`: the path of the file from the folder of the code, `src` in a clone and `dist` in the package. */
export function readProgramFile(name: string): Buffer {
  return isSea() ? readAsset(name) : readFileSync(programFile(name));
}

export function hasProgramFile(name: string): boolean {
  return isSea() ? getAssetKeys().includes(name) : existsSync(programFile(name));
}

/** Names of the files in a folder, whose own name ends with a slash. */
export function programFilesIn(folder: string): string[] {
  if (!isSea()) return readdirSync(programFile(folder));
  const names = getAssetKeys().filter((name) => name.startsWith(folder));
  return names.map((name) => name.slice(folder.length));
}

/** Throws Node's error if the package is not installed. `specifier`: the package and the path in it. */
export function readDependencyFile(specifier: string): Buffer {
  return isSea() ? readAsset(specifier) : readFileSync(new URL(import.meta.resolve(specifier)));
}

/** Whether this is a clone, which has no command of its own: npm runs it. */
export function runsInClone(): boolean {
  return !isSea() && import.meta.url.endsWith('.ts');
}

function readAsset(name: string): Buffer {
  return Buffer.from(getAsset(name));
}

function programFile(name: string): URL {
  return new URL(`../${name}`, import.meta.url);
}
