import { Command } from 'commander';
import { similarName } from '../domain/suggest.ts';

/** Replaces Commander's help command, which accepts only one name and ignores subcommands. */
export function helpCommand(): Command {
  return new Command('help')
    .summary('show the help of a command')
    .argument('[command...]', 'command, such as api-token create')
    .action((names: string[], _options: object, { parent }: Command) => {
      names.reduce(findSubcommand, parent!).help();
    });
}

function findSubcommand(command: Command, name: string): Command {
  const known = command.commands.map((each) => each.name());
  const index = known.indexOf(name);
  if (index !== -1) return command.commands[index]!;
  const suggestion = similarName(name, known);
  const hint = suggestion === null ? '' : `\n(Did you mean ${suggestion}?)`;
  command.error(`error: unknown command '${name}'${hint}`);
}
