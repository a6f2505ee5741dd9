// Writes files of a release, whose bytes depend only on their content and the time of the commit.

import { hash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { run } from './run.ts';

export function readJson<Content>(path: string): Content {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Writes a file, and creates its folder if necessary. */
export function writeTo(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

export function writeJson(path: string, content: unknown): void {
  writeTo(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** Files of the npm package that other artefacts have elsewhere. */
const OTHERS = ['bin', 'dist', 'LICENSE'];

/** Copies the documentation of the npm package, with the files that it describes, into another artefact. */
export function copyDocumentation(folder: string): void {
  const { files } = readJson<{ files: string[] }>('package.json');
  for (const path of globSync(files.filter((each) => !OTHERS.includes(each))))
    cpSync(path, join(folder, path), { recursive: true });
}

export function sha256(content: Buffer): string {
  return hash('sha256', content);
}

interface Archive {
  /** Folder whose content the archive gets. */
  folder: string;
  /** Time of the files in seconds. */
  epoch: number;
  special?: SpecialFolder;
}

/** An empty folder with other permissions or another owner; the group has the same number. */
export interface SpecialFolder {
  path: string;
  user: number;
  mode: string;
}

/** Writes a tar archive: sorted, readable for all, and owned by root, except a special folder. */
export function tar(output: string, { folder, epoch, special }: Archive): void {
  const common = [
    '--directory',
    folder,
    '--sort=name',
    `--mtime=@${epoch}`,
    '--numeric-owner',
    '--format=gnu',
  ];
  const add = (operation: string, user: number, ...args: string[]) =>
    run('tar', [operation, '--file', output, ...common, `--owner=${user}`, `--group=${user}`, ...args]);
  const others = special ? [`--exclude=./${special.path}`] : [];
  add('--create', 0, '--mode=u+rw,go=rX', ...others, '.');
  if (special) add('--append', special.user, `--mode=${special.mode}`, `./${special.path}`);
}

/** Replaces the file by a compressed one, and returns its name. */
export function gzip(path: string): string {
  const compressed = `${path}.gz`;
  writeFileSync(compressed, gzipSync(readFileSync(path), { level: 6 }));
  rmSync(path);
  return compressed;
}
