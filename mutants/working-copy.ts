// A temporary copy of the tree. Mutants are applied to the copy only, so an interrupted run leaves the tree intact.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { applyMutant, type Mutant } from './mutant.ts';

export class WorkingCopy {
  readonly folder: string;
  /** The temporary files of the tests, which a killed test leaves behind. */
  readonly temporaryFolder: string;

  /** Copies what Git tracks or would add, uncommitted changes included. Removed when the process exits. */
  constructor() {
    const root = mkdtempSync(join(tmpdir(), 'user-group-service-mutants-'));
    process.on('exit', () => rmSync(root, { recursive: true, force: true }));
    // When run as root, the PostgreSQL server of a test runs as a different user, which needs access to its files below.
    chmodSync(root, 0o711);
    this.folder = join(root, 'tree');
    this.temporaryFolder = join(root, 'tmp');
    for (const file of listFiles()) cpSync(file, join(this.folder, file), { verbatimSymlinks: true });
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
    this.removeTemporaryFiles();
  }

  removeTemporaryFiles(): void {
    rmSync(this.temporaryFolder, { recursive: true, force: true });
    mkdirSync(this.temporaryFolder);
  }

  /** Applies the mutant for as long as `work` takes. */
  async withMutant<Result>(mutant: Mutant, work: () => Promise<Result>): Promise<Result> {
    const path = join(this.folder, mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, applyMutant(source, mutant));
    try {
      return await work();
    } finally {
      writeFileSync(path, source);
    }
  }
}

function listFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`);
  return stdout.split('\0').filter((file) => file !== '' && existsSync(file));
}
