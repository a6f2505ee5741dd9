// The version of the service, from package.json.

import { readProgramFile } from './system/program-file.ts';

export function readVersion(): string {
  return (JSON.parse(readProgramFile('../package.json').toString()) as { version: string }).version;
}
