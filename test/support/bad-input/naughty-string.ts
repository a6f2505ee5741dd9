// The Big List of Naughty Strings: texts of users that broke other programs.

import { createRequire } from 'node:module';
import { markup } from './markup.ts';

const { getNaughtyStringList } = createRequire(import.meta.url)('naughty-string-validator') as {
  getNaughtyStringList(): string[];
};

/** With those of our own that it lacks. */
export const naughtyStrings: readonly string[] = [...new Set([...getNaughtyStringList(), ...markup])];
