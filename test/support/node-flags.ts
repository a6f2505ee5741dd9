import { readFileSync } from 'node:fs';

/** Returns the Node flags in the first line of an executable, which a shell would pass. */
export function nodeFlagsOf(path: string): string[] {
  const firstLine = readFileSync(path, 'utf8').split('\n', 1)[0]!;
  return firstLine.split(' ').filter((word) => word.startsWith('--'));
}
