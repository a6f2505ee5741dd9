import type { Command } from 'commander';
import { allSettings } from '../config.ts';

/** Refuses empty paths, names and ids, which come from unset variables. Some settings may be empty. */
export function refuseEmpty(command: Command): void {
  const argument = command.registeredArguments.find((_, index) => command.args[index] === '');
  if (argument !== undefined) command.error(`error: argument '${argument.name()}' must not be empty`);
  const flags = allSettings.map(({ flag }) => flag);
  const values = command.opts();
  const option = command.options.find(
    (each) => values[each.attributeName()] === '' && !flags.includes(each.flags),
  );
  if (option !== undefined) command.error(`error: option '${option.flags}' must not be empty`);
}
