// Generates the manual page of the program from the help texts; `npm run build` writes it for the package.

import { exitCodeMeanings } from '../src/commands/exit-code.ts';
import { allSettings, variableText } from '../src/config.ts';
import { readVersion } from '../src/version.ts';
import { argumentTerms, commandLine, type Leaf, leaves, optionItems } from './reference.ts';

/** Name of the page in the folder of the compiled code. */
export const MAN_PAGE = 'user-group-service.1';

const MAX_LINE = 80;

/**
 * Returns a page for man(7). It has the date of the release (`epoch`, in seconds) or none: a build must not
 * depend on the day.
 */
export function manPage(epoch?: number): string {
  const about = commandLine.description();
  const summary = about.charAt(0).toLowerCase() + about.slice(1).replace(/\.$/, '');
  const date = epoch === undefined ? '' : new Date(epoch * 1_000).toISOString().slice(0, 10);
  return `${[
    `.TH USER-GROUP-SERVICE 1 "${date}" "User Group Service ${readVersion()}" "User Commands"`,
    '.SH NAME',
    ...filled(`user-group-service \\- ${escaped(summary)}`),
    '.SH SYNOPSIS',
    '.B user\\-group\\-service\n.I command\n[\n.I options\n]',
    '.SH COMMANDS',
    ...leaves(commandLine).flatMap(commandLines),
    '.SH ENVIRONMENT',
    ...allSettings.flatMap((setting) => item(variableText(setting), setting.meaning)),
    '.SH EXIT STATUS',
    ...exitCodeMeanings.flatMap(([code, meaning]) => item(String(code), meaning)),
  ].join('\n')}\n`;
}

function commandLines({ path, command }: Leaf): string[] {
  return [
    `.SS ${escaped([path, ...argumentTerms(command)].join(' '))}`,
    ...paragraphs(command.description() || command.summary()),
    ...optionItems(command).flatMap(([flags, description]) => item(flags, description)),
  ];
}

function item(term: string, text: string): string[] {
  return ['.TP', `.B ${escaped(term)}`, ...paragraphs(text)];
}

/** Returns paragraphs, which roff fills, and blocks of indented lines, which roff shows as they are. */
function paragraphs(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .flatMap((block, index) => [
      ...(index > 0 ? ['.PP'] : []),
      ...(block.startsWith(' ') ? ['.nf', ...escaped(block).split('\n'), '.fi'] : filled(escaped(block))),
    ]);
}

/** Returns lines of at most 80 characters, and escapes a leading dot, which roff would read as a request. */
function filled(text: string): string[] {
  const lines = text.match(new RegExp(`\\S(?:.{0,${MAX_LINE - 3}}\\S)?(?=\\s|$)|\\S+`, 'g')) ?? [];
  return lines.map((line) => line.replace(/^\./, '\\&.'));
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replace(
      /\P{ASCII}/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
