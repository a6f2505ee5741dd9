#!/usr/bin/env -S node --max-semi-space-size=16
// The executable of the package. An installed package contains compiled files, because Node does not strip types under
// node_modules; a clone runs the sources directly. Plain JavaScript without recent syntax, so that an old Node prints a
// clear message instead of a syntax error.
//
// The flag halves the young generation of the heap, which saves 27 MB and costs 2 per cent of the throughput.
import './signals.js';
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const compiled = new URL('../dist/main.js', import.meta.url);
const source = new URL('../src/main.ts', import.meta.url);
const isClone = existsSync(source);

if (isTooOld(process.versions.node)) {
  const remedy = isClone
    ? 'In a clone, "npm ci --include=dev --ignore-scripts=false" installs a suitable Node: then run "npm start" or "npx --no-install user-group-service".'
    : 'Install a later one from https://nodejs.org/en/download or with the package manager of your system.';
  console.error(
    `user-group-service: Node 24.17 or later is required, but this is Node ${process.versions.node}. ${remedy}`,
  );
  process.exit(78);
}
chooseCompileCache();
// Caches compiled code between starts, which halves the time to the first response.
module.enableCompileCache();
run();

/**
 * Node runs what the cache contains without checking it. The folder that it uses by default can be one that another user
 * has created in /tmp. The threads read these variables too.
 */
function chooseCompileCache() {
  if (process.env.NODE_COMPILE_CACHE || !process.getuid) return;
  const folder = join(tmpdir(), `node-compile-cache-${process.getuid()}`);
  if (isPrivate(folder)) process.env.NODE_COMPILE_CACHE = folder;
  else process.env.NODE_DISABLE_COMPILE_CACHE = '1';
}

/**
 * Creates the folder if nothing has its name.
 *
 * @param {string} folder
 */
function isPrivate(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const status = lstatSync(folder);
    return status.isDirectory() && status.uid === process.getuid() && (status.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** @param {string} version */
function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number);
  return major < 24 || (major === 24 && minor < 17);
}

async function run() {
  const { main } = await import(isClone ? source.href : compiled.href).catch(explainMissing);
  // The command may wait for something that never happens: the process would end with 0. Not set earlier, because
  // Commander exits with the code that is set after it has shown the help.
  process.once('beforeExit', () => {
    process.exitCode ??= 1;
  });
  process.exitCode = await main(process.argv);
}

/** @param {NodeJS.ErrnoException} error */
function explainMissing(error) {
  const isInstalled = !isClone || existsSync(new URL('../node_modules', import.meta.url));
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || isInstalled) throw error;
  console.error('user-group-service: dependencies are not installed; run "npm ci" first');
  process.exit(78);
}
