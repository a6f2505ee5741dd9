// The Big List of Naughty Strings: user input that broke other programs.

import { createRequire } from 'node:module';
import { markup } from './markup.ts';

const { getNaughtyStringList } = createRequire(import.meta.url)('naughty-string-validator') as {
  getNaughtyStringList(): string[];
};

/** Strings of the list and our own. */
export const naughtyStrings: readonly string[] = [...new Set([...getNaughtyStringList(), ...markup])];
