// Reads settings from a file as systemd does for EnvironmentFile=. It is not a shell script: nothing is
// expanded, and a "#" in a value is part of it. The option is not called --env-file, because Node itself
// reads that, even after the name of the program.

import { readFileSync } from 'node:fs';
import { explainFileError, UsageError } from '../exit-code.ts';

/** A blank line, a comment, or NAME=VALUE: quoted parts, which may span lines, then text with backslashes. */
const ENTRY =
  /[ \t]*(?:[#;][^\n]*|([A-Za-z_]\w*)[ \t]*=[ \t]*((?:(?:'[^']*'|"(?:\\.|[^"\\])*")[ \t]*)*)((?![ \t]*['"])(?:\\.|[^\n\\])*))?(?:\n|$)/gsy;
const QUOTED = /(?:'([^']*)'|"((?:\\.|[^"\\])*)")[ \t]*/gs;

/** Throws `UsageError`, without the text of a line: it may be a secret. systemd ignores such a line. */
export function readEnvironmentFile(path: string): Record<string, string> {
  const text = readText(path).replace(/\r\n?/g, '\n');
  const settings: Record<string, string> = {};
  let end = 0;
  for (const [entry, name, quoted = '', rest = ''] of text.matchAll(ENTRY)) {
    end += entry.length;
    if (name !== undefined) settings[name] = unquoted(quoted) + unescaped(rest, /\\(.)|[ \t]+$/gs);
  }
  if (end === text.length) return settings;
  const line = text.slice(0, end).split('\n').length;
  throw new UsageError(`--environment-file: line ${line} of ${path} is not NAME=VALUE; correct it`);
}

function unquoted(parts: string): string {
  return parts.replace(
    QUOTED,
    (_, single?: string, double = '') => single ?? unescaped(double, /\\([\\"`$\n])/g),
  );
}

/** Replaces each match by the character after the backslash; a backslash continues the line. */
function unescaped(text: string, escaped: RegExp): string {
  return text.replace(escaped, (_, character = '') => (character === '\n' ? '' : character));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    explainFileError(error, (message) => new UsageError(`--environment-file: ${message}`));
  }
}
