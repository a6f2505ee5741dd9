// The manual page of the program, generated from the help texts: `npm run build` writes it for the package.

import { exitCodeMeanings, exitCodes } from '../src/commands/exit-code.ts';
import { type Setting, settings } from '../src/config.ts';
import { program } from '../src/main.ts';
import { readVersion } from '../src/version.ts';
import { type Leaf, leaves } from './reference.ts';

export const MAN_PAGE = 'dist/user-group-service.1';

/** A page for man(7). */
export function manPage(): string {
  const about = program().description();
  return `${[
    `.TH USER-GROUP-SERVICE 1 "" "User Group Service ${readVersion()}" "User Commands"`,
    '.SH NAME',
    `user\\-group\\-service \\- ${escaped(about.charAt(0).toLowerCase() + about.slice(1).replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B user\\-group\\-service\n.I command\n[\n.I options\n]',
    '.SH COMMANDS',
    ...leaves(program()).flatMap(commandLines),
    '.SH ENVIRONMENT',
    ...(Object.values(settings) as Setting<unknown>[]).flatMap(({ env, meaning }) => item(env, meaning)),
    '.SH EXIT STATUS',
    ...Object.entries(exitCodes).flatMap(([name, code]) =>
      item(String(code), exitCodeMeanings[name as keyof typeof exitCodes]),
    ),
  ].join('\n')}\n`;
}

function commandLines({ path, command }: Leaf): string[] {
  const args = command.registeredArguments.map((argument) => {
    const { required, variadic } = argument;
    const text = `${argument.name()}${variadic ? '...' : ''}`;
    return required ? `<${text}>` : `[${text}]`;
  });
  const options = command.options.filter(({ hidden }) => !hidden);
  return [
    `.SS ${escaped([path, ...args].join(' '))}`,
    escaped(command.description() || command.summary()),
    ...options.flatMap(({ flags, description }) => item(flags, description)),
  ];
}

function item(term: string, text: string): string[] {
  return ['.TP', `.B ${escaped(term)}`, escaped(text)];
}

/** Text for roff: without blank lines, and without lines that begin like a request. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/\n\s*\n/g, '\n.PP\n')
    .replace(/^(?!\.PP$)([.'])/gm, '\\&$1')
    .replace(/^ +/gm, '')
    .replaceAll("'", '\\(aq')
    .replace(
      /\P{ASCII}/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
