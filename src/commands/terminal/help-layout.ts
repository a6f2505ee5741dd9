// Layout of the help texts, which are wrapped to the width of the terminal, or to 80 columns without one.

import { type Command, Help } from 'commander';

/** Columns of an item besides its term and its description. */
const SPACES = 4;

/** Starts the description below the term if the column beside the terms is too narrow to wrap it. */
export function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const isNarrow = helper.helpWidth! - termWidth - SPACES < helper.minWidthToWrap;
  const place: [string, number] = isNarrow ? ['', 2] : [term, termWidth];
  const item = Help.prototype.formatItem.call(helper, ...place, description, helper);
  return isNarrow ? `  ${term}\n${item}` : item;
}

/** Adds a section of terms and their descriptions to the help of the command. */
export function addHelpSection(
  command: Command,
  heading: string,
  items: readonly (readonly [term: string, description: string])[],
): void {
  const termWidth = Math.max(...items.map(([term]) => term.length));
  command.addHelpText('after', ({ error }) => {
    const helper = command.createHelp();
    helper.prepareContext({ error, helpWidth: (error ? process.stderr : process.stdout).columns });
    return `\n${heading}\n${items.map(([term, text]) => helper.formatItem(term, termWidth, text, helper)).join('\n')}`;
  });
}
