// Reads the documentation pages whose code blocks the tests run.

import { readFileSync } from 'node:fs';

export function pageText(page: string): string {
  return readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
}

/** Returns the code blocks in a language. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , block]) => block!);
}

/** Returns the shell blocks under a heading marked ▶, which tests run. */
export function blocksUnder(page: string, heading: string): string[] {
  const [, section = ''] = pageText(page).split(`### ▶ ${heading}\n`);
  const [body = ''] = section.split(/^##/m);
  return codeBlocks(body, 'sh');
}
