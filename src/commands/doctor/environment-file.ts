// Reads settings from a file as systemd does for EnvironmentFile=. It is not a shell script: nothing is
// expanded, and a "#" in a value is part of it. The option is not called --env-file, because Node itself
// reads that, even after the name of the program.

import { readFileSync } from 'node:fs';
import { explainFileError, UsageError } from '../exit-code.ts';

const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/;
const QUOTED = /^(["'])(.*)\1$/;

/** Throws `UsageError`, without the text of a line: it may be a secret. */
export function readEnvironmentFile(path: string): Record<string, string> {
  const lines = readText(path).split('\n');
  const settings: Record<string, string> = {};
  for (const [index, line] of lines.map((each) => each.trim()).entries()) {
    if (line === '' || /^[#;]/.test(line)) continue;
    const [, name, value] = ASSIGNMENT.exec(line) ?? [];
    if (name === undefined)
      throw new UsageError(`--environment-file: line ${index + 1} of ${path} is not NAME=VALUE; correct it`);
    settings[name] = QUOTED.exec(value!)?.[2] ?? value!;
  }
  return settings;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    explainFileError(error, (message) => new UsageError(`--environment-file: ${message}`));
  }
}
