// `npm run release`: builds what is published into `release/`. See docs/release.md.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { printTable } from '../../src/commands/terminal/output.ts';
import { debianPackages } from './debian.ts';
import { refuseStale } from './dependency.ts';
import { descriptions } from './description.ts';
import { executables } from './executable.ts';
import { sha256 } from './file.ts';
import { npmPackages } from './npm-package.ts';
import { ociImage } from './oci.ts';
import type { Builder, Release } from './release.ts';
import { DEBIAN_PACKAGES, isInstalled, type Peer, ReleaseRefused } from './run.ts';
import { sbom } from './sbom.ts';
import { headCommit, refuseChanges, refuseUnpromised, refuseUnreleased, releasedVersion } from './state.ts';
import { refuseUnreadableKey, writeSums } from './sums.ts';

const OUTPUT = 'release';
const builders: readonly Builder[] = [sbom, descriptions, npmPackages, executables, debianPackages, ociImage];
/** Programs that the trials run. */
const TRIAL_PEERS: readonly Peer[] = ['crun', 'mmdebstrap', 'qemu-aarch64-static', 'skopeo', 'umoci'];
const kinds = builders.map(({ kind }) => kind);

interface Options {
  rehearsal?: true;
  only?: string[];
  verify?: true;
  try?: true;
  minisignKey?: string;
}

const program = new Command('npm run release --')
  .description('Builds the artefacts of the version in package.json from the last commit into release/.')
  .option('--rehearsal', 'accept a changelog that says the version is not released')
  .addOption(new Option('--only <kinds...>', 'build nothing else').choices(kinds))
  .option('--verify', 'build everything twice, and fail unless both have the same bytes')
  .option('--try', 'start each artefact as "npm run rig:release" does, which needs root')
  .option('--minisign-key <file>', 'sign SHA256SUMS with this secret key')
  .parse();

try {
  await release(program.opts<Options>());
} catch (error) {
  if (!(error instanceof ReleaseRefused)) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

async function release(options: Options): Promise<void> {
  const { only = kinds, minisignKey } = options;
  const chosen = builders.filter(({ kind }) => only.includes(kind));
  refuseMissingPeers(chosen, [
    ...(options.try ? TRIAL_PEERS : []),
    ...(minisignKey ? ['minisign' as const] : []),
  ]);
  if (minisignKey !== undefined) refuseUnreadableKey(minisignKey);
  const version = releasedVersion();
  refuseChanges();
  refuseStale();
  if (!options.rehearsal) {
    refuseUnreleased(version);
    refuseUnpromised();
  }
  const built = { version, ...headCommit() };
  await build(chosen, { ...built, output: resolve(OUTPUT) });
  if (options.verify) await verifyBytes(chosen, built);
  refuseChanges();
  if (options.try) tryArtefacts();
  printArtefacts(writeSums(OUTPUT, minisignKey));
  for (const { kind, what } of builders)
    if (!chosen.some((each) => each.kind === kind)) console.log(`Not built, as asked: ${what} (${kind}).`);
}

function refuseMissingPeers(chosen: readonly Builder[], further: readonly Peer[]): void {
  const peers = chosen.flatMap(({ kind, peers }) => peers.map((peer) => ({ kind, peer })));
  peers.push(...further.map((peer) => ({ kind: '', peer })));
  const missing = peers.find(({ peer }) => !isInstalled(peer));
  if (missing === undefined) return;
  const { kind, peer } = missing;
  const remedy = `install the Debian package ${DEBIAN_PACKAGES[peer]}`;
  throw new ReleaseRefused(`${peer} is missing: ${remedy}${kind && `, or leave out ${kind} with --only`}`);
}

/** Deletes the content of the output folder and builds into it. */
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

/** Throws `ReleaseRefused` unless each artefact serves. */
function tryArtefacts(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'rig:release'], { stdio: 'inherit' });
  if (status !== 0) throw new ReleaseRefused('an artefact does not serve; see above');
}

function printArtefacts(names: readonly string[]): void {
  const rows = names.map((name) => {
    const path = join(OUTPUT, name);
    return [name, `${(statSync(path).size / 1e6).toFixed(2)} MB`, sha256(readFileSync(path))];
  });
  printTable(['FILE', 'SIZE', 'SHA-256'], rows);
}
