// The pages of documentation whose blocks are run.

import { readFileSync } from 'node:fs';

/** The blocks of shell under a heading of the page that says that they are run. */
export function blocksUnder(page: string, heading: string): string[] {
  const [, section = ''] = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8').split(
    `### ▶ ${heading}\n`,
  );
  const [body = ''] = section.split(/^##/m);
  return [...body.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
}
