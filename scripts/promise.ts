// Checks the code against what docs/versions.md promises. scripts/promise/ contains what was promised: the
// names on which callers and operators rely, and the API description without its prose. `npm run check`
// refuses a removal or an incompatible change; only a release, which runs `npm run snapshot`, promises
// additions.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../src/commands/exit-code.ts';
import { allSettings, type Setting, variableNames } from '../src/config.ts';
import { eventTypes } from '../src/domain/event/event.ts';
import { problems } from '../src/http/response/problem.ts';
import * as surface from '../src/http/routes.ts';
import { Folder } from '../test/support/process.ts';
import { openApi } from './openapi/document.ts';
import { commandLine, type Leaf, leaves, metricDescriptions } from './reference.ts';

const FOLDER = 'scripts/promise';
const NAMES = 'names.json';
const DESCRIPTION = 'openapi.json';
const MAX_REPORT_BYTES = 2 ** 28;

/** Lists of names by kind, such as settings. */
export type Names = Record<string, readonly string[]>;

/**
 * Returns the names of this tree. Each entry includes whatever must not change, such as the status of an
 * error code.
 */
export function currentNames(): Names {
  return {
    settings: allSettings.flatMap(settingNames),
    commands: leaves(commandLine).flatMap(commandNames),
    exitCodes: Object.entries(exitCodes).map(([name, code]) => `${code} ${name}`),
    errorCodes: Object.entries(problems).map(([code, { status }]) => `${code} ${status}`),
    metrics: metricDescriptions.map(({ name, type }) => `${name} ${type}`),
    eventTypes,
  };
}

function settingNames(setting: Setting<unknown>): string[] {
  return [...variableNames(setting), ...(setting.flag ? [setting.flag.split(' ')[0]!] : [])];
}

function commandNames({ path, command }: Leaf): string[] {
  const args = command.registeredArguments.map((argument) => `${path} <${argument.name()}>`);
  const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => `${path} ${long}`);
  return [path, ...args, ...options];
}

export function findMissingNames(promised: Names, current: Names): string[] {
  return Object.entries(promised).flatMap(([kind, names]) =>
    names.filter((name) => !current[kind]?.includes(name)).map((name) => `${kind}: "${name}" is missing`),
  );
}

interface Change {
  /** JSON pointer. */
  path: string;
  verdicts: readonly { impact: string; message: string }[];
}

/**
 * Compares API descriptions by the rules of redocly.yaml, without prose: Redocly may not recognize an item
 * whose description has changed.
 */
export function findIncompatibleChanges(promised: object, current: object): string[] {
  using folder = new Folder();
  const [base, revision] = [promised, current].map((description, index) => {
    const file = folder.join(`${index}.json`);
    writeFileSync(file, JSON.stringify(withoutProse(description)));
    return file;
  });
  const args = ['diff', base!, revision!, '--config', 'redocly.yaml', '--format', 'json'];
  const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { encoding: 'utf8', env, maxBuffer: MAX_REPORT_BYTES } as const;
  const { stdout, stderr } = spawnSync('node_modules/.bin/redocly', args, options);
  if (!stdout.startsWith('{')) throw new Error(`redocly could not compare the API descriptions: ${stderr}`);
  const { changes } = JSON.parse(stdout) as { changes: Change[] };
  return changes.flatMap(({ path, verdicts }) =>
    verdicts.filter(({ impact }) => impact === 'major').map(({ message }) => `${path}: ${message}`),
  );
}

function readJson<Value>(...path: string[]): Value | null {
  const file = join(...path);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

/** Returns the broken promises of a folder. A promise that the folder does not contain is not broken. */
function findBrokenPromisesOf(folder: string): string[] {
  const names = readJson<Names>(folder, NAMES);
  const description = readJson<object>(folder, DESCRIPTION);
  return [
    ...(names ? findMissingNames(names, currentNames()) : []),
    ...(description ? findIncompatibleChanges(description, openApi(surface)) : []),
  ];
}

/** Returns one line per promise that the code breaks: one of this tree, or of the last release. */
export function findBrokenPromises(): string[] {
  using released = releasedPromise();
  const folders = [FOLDER, ...(released ? [join(released.path, FOLDER)] : [])];
  return [...new Set(folders.flatMap(findBrokenPromisesOf))].map(
    (line) => `docs/versions.md forbids: ${line}`,
  );
}

/**
 * Returns the files of the last tag with this major version; null if there is none, as in a shallow clone.
 */
export function releasedPromise(repository = '.'): Folder | null {
  const [major] = readJson<{ version: string }>('package.json')!.version.split('.');
  const git = (...args: string[]) => spawnSync('git', args, { cwd: repository, maxBuffer: MAX_REPORT_BYTES });
  const tag = git('describe', '--tags', '--abbrev=0', '--match', `v${major}.*`);
  const archive = git('archive', tag.stdout.toString().trim(), FOLDER);
  if (tag.status !== 0 || archive.status !== 0) return null;
  const folder = new Folder();
  execFileSync('tar', ['-x'], { cwd: folder.path, input: archive.stdout });
  return folder;
}

const PROSE = ['description', 'summary', 'example', 'examples'];

/** Removes prose, except properties of schemas that have the name of a kind of prose. */
function withoutProse(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutProse(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => key === 'properties' || !PROSE.includes(name));
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutProse(member, name)]));
}

/** Returns the files of the snapshot with their texts. */
function snapshot(): Record<string, string> {
  const names = Object.entries(currentNames()).map(([kind, list]) => [kind, list.toSorted()]);
  const description = withoutProse(openApi(surface));
  return {
    [NAMES]: `${JSON.stringify(Object.fromEntries(names), null, 1)}\n`,
    [DESCRIPTION]: `${JSON.stringify(description, null, 1)}\n`,
  };
}

if (import.meta.main) {
  const broken = findBrokenPromises();
  for (const line of broken) console.error(line);
  const outdated = Object.entries(snapshot()).filter(
    ([file, text]) => !existsSync(join(FOLDER, file)) || readFileSync(join(FOLDER, file), 'utf8') !== text,
  );
  if (broken.length > 0) process.exitCode = 1;
  else if (process.argv.includes('--check')) {
    for (const [file] of outdated) console.error(`${FOLDER}/${file} is out of date; run "npm run snapshot"`);
    if (outdated.length > 0) process.exitCode = 1;
  } else for (const [file, text] of outdated) writeFileSync(join(FOLDER, file), text);
}
