// Checks that the documentation matches the code: the table of settings and the OpenAPI document are generated from the
// code (by `npm run format`), every error code is in the tables of errors, no text installs this project from a registry,
// and no link is dead.

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Setting, settings } from '../src/config.ts';
import { openApi } from '../src/http/openapi/document.ts';
import { problems } from '../src/http/response/problem.ts';
import * as surface from '../src/http/routes.ts';

const OPENAPI = 'docs/openapi.json';
const SETTINGS = /(<!-- settings: begin -->\n)[\s\S]*(<!-- settings: end -->)/;

/** Returns README.md with an up-to-date table of settings. */
function renderReadme(readme: string): string {
  const rows = (Object.values(settings) as Setting<unknown>[]).map(({ env, fallback, meaning, secret }) => {
    const name = secret ? `\`${env}\`, \`${env}_FILE\`` : `\`${env}\``;
    return `| ${name} | ${fallback ? `\`${fallback}\`` : ''} | ${meaning} |`;
  });
  const table = ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
  return readme.replace(SETTINGS, (_, begin, end) => `${begin}${table}\n${end}`);
}

/** One value per line, for readable diffs. */
function renderOpenApi(): string {
  return `${JSON.stringify(openApi(surface), null, 2)}\n`;
}

/** Reports error codes that are missing from the table of errors of a page. */
function missingErrors(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  return Object.entries(problems)
    .filter(([code, { status }]) => !new RegExp(`^\\| ${status} \\|.*\`${code}\``, 'm').test(text))
    .map(([code, { status }]) => `${page}: the table of errors lacks ${code} in the row of ${status}`);
}

/** A package of this project, but not as part of a path or of the name of a file. */
const NAME = '(?<![\\w./-])user-group-service(?:-client)?(?![\\w/-])';
const REGISTRY_INSTALLATIONS = [
  `\\b(?:npm|pnpm|yarn|bun|deno)\\b[^;&|\`]* (?:install|i|add|dlx|exec|create)\\b[^;&|\`]*${NAME}`,
  `\\b(?:npx|bunx)\\b(?! --no-install )[^;&|\`]*${NAME}`,
].map((pattern) => new RegExp(pattern));

/** Reports lines that install this project's packages from a registry, where their names may belong to others. */
function registryInstallations(): string[] {
  const texts = [
    '**/*.{md,service,yaml,yml,conf,cfg}',
    'src/**/*.ts',
    '{bin,examples}/**/*.js',
    'Dockerfile',
  ];
  const pages = globSync(texts, { exclude: (name) => name.includes('node_modules') });
  return pages.flatMap((page) => {
    const lines = readFileSync(page, 'utf8').split('\n');
    return lines
      .filter((line) => REGISTRY_INSTALLATIONS.some((pattern) => pattern.test(line)))
      .map((line) => `${page}: install the packed file instead of a name in a registry: ${line.trim()}`);
  });
}

/** Reports links within the project to files or headings that do not exist. */
function deadLinks(): string[] {
  const pages = globSync('**/*.md', { exclude: (name) => name.includes('node_modules') });
  return pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?![a-z]+:)([^)#\s]*)(#[^)\s]+)?\)/g)]
      .filter(([, path, heading]) => !targetExists(path ? join(dirname(page), path) : page, heading))
      .map(([, path, heading = '']) => `${page}: dead link to ${path}${heading}`),
  );
}

function targetExists(path: string, heading: string | undefined): boolean {
  return existsSync(path) && (heading === undefined || headingsOf(path).includes(heading));
}

/** The fragments that GitHub generates for the headings. */
function headingsOf(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(
    ([, text]) =>
      `#${text!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')}`,
  );
}

/** Returns one line per difference between documentation and code. */
export function findDocsFaults(): string[] {
  const readme = readFileSync('README.md', 'utf8');
  const faults = ['README.md', 'docs/api.md'].flatMap(missingErrors);
  if (renderReadme(readme) !== readme)
    faults.push('README.md: the table of settings is out of date; run "npm run format"');
  if (renderOpenApi() !== readFileSync(OPENAPI, 'utf8'))
    faults.push(`${OPENAPI} is out of date; run "npm run format"`);
  return [...faults, ...registryInstallations(), ...deadLinks()];
}

if (import.meta.main) {
  writeFileSync('README.md', renderReadme(readFileSync('README.md', 'utf8')));
  writeFileSync(OPENAPI, renderOpenApi());
}
