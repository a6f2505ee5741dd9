// The documentation says what the code says: the table of settings and the description of the API are written from
// the code (`npm run format` does it), every error code stands in the table of errors, and every link leads somewhere.

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Setting, settings } from '../src/config.ts';
import { openApi } from '../src/http/openapi/document.ts';
import { operations } from '../src/http/routes.ts';
import { problems } from '../src/problem.ts';

const OPENAPI = 'docs/openapi.json';
const SETTINGS = /(<!-- settings: begin -->\n)[\s\S]*(<!-- settings: end -->)/;

/** What README.md should be, given the settings of the code. */
function renderReadme(readme: string): string {
  const rows = (Object.values(settings) as Setting<unknown>[]).map(({ env, fallback, meaning, secret }) => {
    const name = secret ? `\`${env}\`, \`${env}_FILE\`` : `\`${env}\``;
    return `| ${name} | ${fallback ? `\`${fallback}\`` : ''} | ${meaning} |`;
  });
  const table = ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
  return readme.replace(SETTINGS, (_, begin, end) => `${begin}${table}\n${end}`);
}

/** A line for each value, so that a review sees what has changed. */
function renderOpenApi(): string {
  return `${JSON.stringify(openApi(operations), null, 2)}\n`;
}

/** Error codes that the table of errors of a page lacks. */
function missingErrors(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  return Object.entries(problems)
    .filter(([code, { status }]) => !new RegExp(`^\\| ${status} \\|.*\`${code}\``, 'm').test(text))
    .map(([code, { status }]) => `${page}: the table of errors lacks ${code} at ${status}`);
}

/** Links within the project whose file or heading is not there. */
function deadLinks(): string[] {
  const pages = globSync('**/*.md', { exclude: (name) => name.includes('node_modules') });
  return pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?![a-z]+:)([^)#\s]*)(#[^)\s]+)?\)/g)]
      .filter(([, path, heading]) => !isThere(path ? join(dirname(page), path) : page, heading))
      .map(([, path, heading = '']) => `${page}: the link to ${path}${heading} leads nowhere`),
  );
}

function isThere(path: string, heading: string | undefined): boolean {
  return existsSync(path) && (heading === undefined || headingsOf(path).includes(heading));
}

/** As links name them. */
function headingsOf(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(
    ([, text]) =>
      `#${text!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')}`,
  );
}

/** Where the documentation differs from the code, a line each. */
export function findDocsFaults(): string[] {
  const readme = readFileSync('README.md', 'utf8');
  const faults = ['README.md', 'docs/api.md'].flatMap(missingErrors);
  if (renderReadme(readme) !== readme)
    faults.push('README.md: the table of settings is old; run "npm run format"');
  if (renderOpenApi() !== readFileSync(OPENAPI, 'utf8'))
    faults.push(`${OPENAPI} is old; run "npm run format"`);
  return [...faults, ...deadLinks()];
}

if (import.meta.main) {
  writeFileSync('README.md', renderReadme(readFileSync('README.md', 'utf8')));
  writeFileSync(OPENAPI, renderOpenApi());
}
