// Reads the documentation pages whose code blocks the tests run.

import { readFileSync } from 'node:fs';

/** The shell blocks under a heading marked ▶, which are run by tests. */
export function blocksUnder(page: string, heading: string): string[] {
  const [, section = ''] = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8').split(
    `### ▶ ${heading}\n`,
  );
  const [body = ''] = section.split(/^##/m);
  return [...body.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
}
