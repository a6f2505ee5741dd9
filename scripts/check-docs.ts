// Checks that the documentation matches the code: the reference, the index for programs, the OpenAPI document and the
// types of the client are generated (by `npm run format`), every permission and error code has a row, no text installs
// this project from a registry or in another version, and every link has a target.

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { permissions } from '../src/domain/api-token.ts';
import { problems } from '../src/http/response/problem.ts';
import * as surface from '../src/http/routes.ts';
import type { Schema } from '../src/http/schema.ts';
import { clientTypes } from './client-types.ts';
import { openApi } from './openapi/document.ts';
import { llmsIndex, reference } from './reference.ts';

const OPENAPI = 'docs/openapi.json';
const REFERENCE = 'docs/reference.md';
const LLMS = 'docs/llms.txt';

function ownFiles(patterns: readonly string[]): string[] {
  return globSync(patterns, { exclude: (name) => name.includes('node_modules') });
}

/** Reports permissions and error codes without a row in the tables of a page. */
function missingRows(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  const rows = [
    ...permissions.map((permission) => `| \`${permission}\` |`),
    ...Object.entries(problems).map(([code, { status }]) => `| ${status} | \`${code}\` |`),
  ];
  return rows.filter((row) => !text.includes(`\n${row}`)).map((row) => `${page} has no row ${row}`);
}

/** Matches a package of this project, but not as part of a path or file name. */
const NAME = '(?<![\\w./-])user-group-service(?:-client)?(?![\\w/-])';
const REGISTRY_INSTALLATIONS = [
  `\\b(?:npm|pnpm|yarn|bun|deno)\\b[^;&|\`]* (?:install|i|add|dlx|exec|create)\\b[^;&|\`]*${NAME}`,
  `\\b(?:npx|bunx)\\b(?! --no-install )[^;&|\`]*${NAME}`,
].map((pattern) => new RegExp(pattern));

/**
 * Reports lines that install this project's packages from a registry, where their names may belong to others.
 */
function registryInstallations(): string[] {
  const texts = [
    '**/*.{md,service,yaml,yml,conf,cfg}',
    'src/**/*.ts',
    '{bin,examples}/**/*.js',
    'Dockerfile',
  ];
  return ownFiles(texts).flatMap((page) => {
    const lines = readFileSync(page, 'utf8').split('\n');
    return lines
      .filter((line) => REGISTRY_INSTALLATIONS.some((pattern) => pattern.test(line)))
      .map((line) => `${page}: install the packed file instead of a name in a registry: ${line.trim()}`);
  });
}

/** Reports pages that name a file or package of another version than this one, such as the tarball to install. */
function otherVersions(): string[] {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  return ownFiles(['**/*.md']).flatMap((page) => {
    const names = readFileSync(page, 'utf8').matchAll(/user-group-service(?:-client)?[-_@](\d+\.\d+\.\d+)/g);
    const others = Array.from(names).filter(([, named]) => named !== version);
    return [
      ...new Set(others.map(([name]) => `${page}: ${name} is not the version of package.json, ${version}`)),
    ];
  });
}

/** Reports links within the project to files or headings that do not exist. */
function deadLinks(): string[] {
  return ownFiles(['**/*.md', LLMS]).flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?![a-z]+:)([^)#\s]*)(#[^)\s]+)?\)/g)]
      .filter(([, path, heading]) => !targetExists(path ? join(dirname(page), path) : page, heading))
      .map(([, path, heading = '']) => `${page}: dead link to ${path}${heading}`),
  );
}

function targetExists(path: string, heading: string | undefined): boolean {
  return existsSync(path) && (heading === undefined || headingsOf(path).includes(heading));
}

/** Returns the fragments that GitHub generates for the headings. */
function headingsOf(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(
    ([, text]) =>
      `#${text!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')}`,
  );
}

/** Reports folders of the sources that the listing in ARCHITECTURE.md lacks. */
function unlistedFolders(): string[] {
  const listed = listedFolders();
  return globSync(['src/*/', 'src/*/*/'])
    .map((path) => path.replace(/\/$/, ''))
    .filter((path) => !listed.has(path))
    .map((path) => `ARCHITECTURE.md: the listing of the sources lacks ${path}/`);
}

/**
 * Returns the folders in the listing: a folder of src/ is indented by two spaces, a folder in that one by
 * four.
 */
function listedFolders(): Set<string> {
  const [, listing = ''] = /^src\/\n([\s\S]*?)^```/m.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? [];
  const folders = new Set<string>();
  let parent = '';
  for (const line of listing.split('\n')) {
    const names = [...line.matchAll(/(?<=[\s;])([a-z-]+)\//g)].map(([, name]) => name!);
    if (/^ {2}\S/.test(line)) parent = names.shift() ?? '';
    folders.add(`src/${parent}`);
    for (const name of names) folders.add(`src/${parent}/${name}`);
  }
  return folders;
}

/** Reports pages that the index for programs lacks. */
function unlistedPages(): string[] {
  const index = llmsIndex();
  return globSync('docs/*.md')
    .filter((path) => !index.includes(`](${path.slice('docs/'.length)})`))
    .map((path) => `${LLMS} lacks ${path}; add it to PAGES in scripts/reference.ts`);
}

/** Reports that the page about upgrades does not say what the newest schema added. */
function undescribedSchema(): string[] {
  const newest = (engine: string) => globSync(`src/store/${engine}/schema/migrations/*.sql`).length;
  const heading = `### Schema ${newest('sqlite')} on SQLite, ${newest('postgres')} on PostgreSQL`;
  return readFileSync('docs/upgrade.md', 'utf8').includes(`\n${heading}\n`)
    ? []
    : [`docs/upgrade.md lacks "${heading}"`];
}

/** Returns the generated files with their texts. */
function generated(): Record<string, string> {
  const description = openApi(surface);
  return {
    [REFERENCE]: reference(),
    [LLMS]: llmsIndex(),
    // Writes one value per line, for readable diffs.
    [OPENAPI]: `${JSON.stringify(description, null, 2)}\n`,
    ...clientTypes(description.components!.schemas as Record<string, Schema>),
  };
}

/** Returns one line per difference between documentation and code. */
export function findDocsFaults(): string[] {
  const outdated = Object.entries(generated())
    .filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text)
    .map(([path]) => `${path} is out of date; run "npm run format"`);
  return [
    ...missingRows('docs/api.md'),
    ...outdated,
    ...unlistedFolders(),
    ...unlistedPages(),
    ...undescribedSchema(),
    ...registryInstallations(),
    ...otherVersions(),
    ...deadLinks(),
  ];
}

if (import.meta.main) for (const [path, text] of Object.entries(generated())) writeFileSync(path, text);
