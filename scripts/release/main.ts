// `npm run release`: builds what is published into `release/`. docs/release.md says how to use it.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { printTable } from '../../src/commands/output.ts';
import { debianPackages } from './debian.ts';
import { descriptions } from './description.ts';
import { executables } from './executable.ts';
import { sha256 } from './file.ts';
import { npmPackages } from './npm-package.ts';
import { ociImage } from './oci.ts';
import type { Builder, Release } from './release.ts';
import { DEBIAN_PACKAGES, isInstalled, ReleaseRefused } from './run.ts';
import { sbom } from './sbom.ts';
import { headCommit, refuseChanges, refuseUnpromised, refuseUnreleased, releasedVersion } from './state.ts';
import { writeSums } from './sums.ts';

const OUTPUT = 'release';
const builders: readonly Builder[] = [sbom, descriptions, npmPackages, executables, debianPackages, ociImage];
const kinds = builders.map(({ kind }) => kind);

interface Options {
  rehearsal?: true;
  skip: string[];
  only?: string[];
  verify?: true;
  minisignKey?: string;
}

const program = new Command('npm run release --')
  .description('Builds the artefacts of the version in package.json from the last commit into release/.')
  .option('--rehearsal', 'accept a changelog that says the version is not released')
  .addOption(new Option('--only <kinds...>', 'build nothing else').choices(kinds))
  .addOption(new Option('--skip <kinds...>', 'do not build these').choices(kinds).default([]))
  .option('--verify', 'build everything twice, and fail unless both have the same bytes')
  .option('--minisign-key <file>', 'sign SHA256SUMS with this secret key')
  .parse();

try {
  await release(program.opts<Options>());
} catch (error) {
  if (!(error instanceof ReleaseRefused)) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

async function release({ rehearsal, skip, only = kinds, verify, minisignKey }: Options): Promise<void> {
  const chosen = builders.filter(({ kind }) => only.includes(kind) && !skip.includes(kind));
  refuseMissingPeers(chosen, minisignKey !== undefined);
  const version = releasedVersion();
  refuseChanges();
  if (!rehearsal) {
    refuseUnreleased(version);
    refuseUnpromised();
  }
  const built = { version, ...headCommit() };
  await build(chosen, { ...built, output: resolve(OUTPUT) });
  if (verify) await verifyBytes(chosen, built);
  refuseChanges();
  printArtefacts(writeSums(OUTPUT, minisignKey));
  for (const { kind, what } of builders)
    if (!chosen.some((each) => each.kind === kind)) console.log(`Not built, as asked: ${what} (${kind}).`);
}

function refuseMissingPeers(chosen: readonly Builder[], signs: boolean): void {
  const peers = chosen.flatMap(({ kind, peers }) => peers.map((peer) => ({ kind, peer })));
  if (signs) peers.push({ kind: '', peer: 'minisign' });
  const missing = peers.find(({ peer }) => !isInstalled(peer));
  if (missing === undefined) return;
  const { kind, peer } = missing;
  const remedy = `install the Debian package ${DEBIAN_PACKAGES[peer]}`;
  throw new ReleaseRefused(`${peer} is missing: ${remedy}${kind && `, or pass --skip ${kind}`}`);
}

/** Deletes what the folder contains. */
async function build(chosen: readonly Builder[], of: Omit<Release, 'work'>): Promise<void> {
  rmSync(of.output, { recursive: true, force: true });
  mkdirSync(of.output, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'user-group-service-release-'));
  try {
    for (const { what, build } of chosen) {
      const startedAt = performance.now();
      process.stdout.write(`release: ${what} …`);
      await build({ ...of, work });
      console.log(` ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
    }
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Throws `ReleaseRefused` if a second build differs. */
async function verifyBytes(chosen: readonly Builder[], of: Omit<Release, 'work' | 'output'>): Promise<void> {
  const output = mkdtempSync(join(tmpdir(), 'user-group-service-release-'));
  try {
    console.log('release: builds everything again');
    await build(chosen, { ...of, output });
    const names = new Set([...readdirSync(OUTPUT), ...readdirSync(output)]);
    const digest = (folder: string, name: string) => sha256(readFileSync(join(folder, name)));
    const different = [...names].filter((name) => digest(OUTPUT, name) !== digest(output, name));
    if (different.length > 0)
      throw new ReleaseRefused(`two builds have different bytes: ${different.join(', ')}`);
    console.log(`release: both builds have the same bytes in all ${names.size} files`);
  } finally {
    rmSync(output, { recursive: true });
  }
}

function printArtefacts(names: readonly string[]): void {
  const rows = names.map((name) => {
    const path = join(OUTPUT, name);
    return [name, `${(statSync(path).size / 1e6).toFixed(2)} MB`, sha256(readFileSync(path))];
  });
  printTable(['FILE', 'SIZE', 'SHA-256'], rows);
}
