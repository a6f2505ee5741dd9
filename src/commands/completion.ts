// Completion scripts, derived from the command line. They are self-contained: a script that asked the program
// for each word would wait for Node to start.

import { Argument, Command } from 'commander';

const NAME = 'user-group-service';

interface Place {
  /** The words that lead here, such as `api-token create`; empty at the start. */
  path: string;
  words: readonly Word[];
}

interface Word {
  text: string;
  summary: string;
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;

export function completionCommand(): Command {
  return new Command('completion')
    .summary('print a completion script for a shell')
    .description(
      'Prints a script that completes commands, options and their values. Load it in the startup file of the shell:\n\n' +
        `  ~/.bashrc                   source <(${NAME} completion bash)\n` +
        `  ~/.zshrc, after compinit    source <(${NAME} completion zsh)\n` +
        `  ~/.config/fish/config.fish  ${NAME} completion fish | source`,
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .action((shell: Shell, _options: object, { parent }: Command) => {
      console.log(scripts[shell](listPlaces(parent!)));
    });
}

/** Lists all commands, and options with a value. Without choices of values, the shell completes file names. */
function listPlaces(command: Command, path = ''): Place[] {
  const below = (name: string) => (path === '' ? name : `${path} ${name}`);
  const options = command.options.filter(({ hidden }) => !hidden);
  const words = [
    ...command.commands.map((each) => ({ text: each.name(), summary: each.summary() || each.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map(plainWord)),
    ...options.map((option) => ({ text: option.long!, summary: option.description })),
    { text: '--help', summary: 'display help for command' },
  ];
  const values = options
    .filter((option) => option.required || option.optional)
    .map(({ long, argChoices = [] }) => ({ path: below(long!), words: argChoices.map(plainWord) }));
  return [
    { path, words },
    ...values,
    ...command.commands.flatMap((each) => listPlaces(each, below(each.name()))),
  ];
}

function plainWord(text: string): Word {
  return { text, summary: '' };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quotedWords({ words }: Place): string {
  return quoted(words.map(({ text }) => text).join(' '));
}

/** Writes branches of a `case` that set `list`, for values of options or for commands. */
function branches(places: readonly Place[], kind: 'options' | 'commands'): string {
  return places
    .filter(({ path }) => path.includes('--') === (kind === 'options'))
    .map((place) => `    ${quoted(place.path)}) list=${quotedWords(place)} ;;`)
    .join('\n');
}

function quotedCommands(places: readonly Place[]): string[] {
  return places
    .map(({ path }) => path)
    .filter((path) => path !== '' && !path.includes('--'))
    .map(quoted);
}

/** Sets `list` to what may follow, in bash and zsh. `words` is what was typed, `last` the last of it. */
function lookup(places: readonly Place[], words: string, last: string): string {
  return `  local place= list= word
  for word in "\${${words}}"; do
    case "\${place:+$place }$word" in
      ${quotedCommands(places).join(' | ')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "\${place:+$place }\${${last}}" in
${branches(places, 'options')}
    *) case "$place" in
${branches(places, 'commands')}
    esac ;;
  esac`;
}

function bashScript(places: readonly Place[]): string {
  return `_user_group_service() {
${lookup(places, 'COMP_WORDS[@]:1:COMP_CWORD-1', 'COMP_WORDS[COMP_CWORD-1]')}
  COMPREPLY=($(compgen -W "$list" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _user_group_service ${NAME}`;
}

/** Also works as the file `_user-group-service` in $fpath, which zsh runs at the first completion. */
function zshScript(places: readonly Place[]): string {
  return `#compdef ${NAME}
_user_group_service() {
${lookup(places, '(@)words[2,CURRENT-1]', 'words[CURRENT-1]')}
  compadd -- \${(s: :)list} || _files
}
if [ "$funcstack[1]" = _${NAME} ]; then _user_group_service; else compdef _user_group_service ${NAME}; fi`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const [command = '', option] = place.path.split(/ ?--/);
    const condition = quoted(`__user_group_service_at ${quoted(command)}`);
    if (option !== undefined) {
      const value = place.words.length === 0 ? '-r' : `-x -a ${quotedWords(place)}`;
      return [`complete -c ${NAME} -n ${condition} -l ${option} ${value}`];
    }
    return place.words.map(({ text, summary }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${quoted(text)}`;
      return `complete -c ${NAME} -n ${condition} ${what} -d ${quoted(summary.split('\n')[0]!)}`;
    });
  });
  return `function __user_group_service_at
  set -l place
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$place $word")
    contains -- $next ${quotedCommands(places).join(' ')}; and set place $next
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}`;
}
