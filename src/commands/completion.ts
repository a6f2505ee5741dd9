// Completion scripts, derived from the command line. They are complete in themselves: a script that asked the program for
// each word would wait for the start of Node.

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
      'Prints a script that completes commands, options and their values:\n\n' +
        `  bash  source <(${NAME} completion bash)               # in ~/.bashrc\n` +
        `  zsh   source <(${NAME} completion zsh)                # in ~/.zshrc, after compinit\n` +
        `  fish  ${NAME} completion fish | source                # in ~/.config/fish/config.fish`,
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .action((shell: Shell, _options: object, { parent }: Command) => {
      console.log(scripts[shell](listPlaces(parent!)));
    });
}

/** Every command, and every option that has a choice of values. */
function listPlaces(command: Command, path = ''): Place[] {
  const below = (name: string) => (path === '' ? name : `${path} ${name}`);
  const options = command.options.filter(({ hidden }) => !hidden);
  const words = [
    ...command.commands.map((each) => ({ text: each.name(), summary: each.summary() || each.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map(plainWord)),
    ...options.map((option) => ({ text: option.long!, summary: option.description })),
    { text: '--help', summary: 'display help for command' },
  ];
  const values = options.flatMap(({ long, argChoices }) =>
    argChoices ? [{ path: below(long!), words: argChoices.map(plainWord) }] : [],
  );
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

function branches(places: readonly Place[], indent: string): string {
  return places
    .map(
      ({ path, words }) =>
        `${indent}${quoted(path)}) words=${quoted(words.map(({ text }) => text).join(' '))} ;;`,
    )
    .join('\n');
}

/** The patterns of all commands, in a `case` of bash and zsh. */
function commandPattern(places: readonly Place[]): string {
  const commands = places.map(({ path }) => path).filter((path) => path !== '' && !path.includes('--'));
  return commands.map(quoted).join(' | ');
}

function bashScript(places: readonly Place[]): string {
  return `_user_group_service() {
  local path= words= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${commandPattern(places)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "\${path:+$path }\${COMP_WORDS[COMP_CWORD-1]}" in
${branches(
  places.filter(({ path }) => path.includes('--')),
  '    ',
)}
  esac
  [ -n "$words" ] || case "$path" in
${branches(
  places.filter(({ path }) => !path.includes('--')),
  '    ',
)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _user_group_service ${NAME}`;
}

/** Also as the file `_user-group-service` in $fpath, which zsh runs as a function at the first completion. */
function zshScript(places: readonly Place[]): string {
  return `#compdef ${NAME}
_user_group_service() {
  local place= list= word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
      ${commandPattern(places)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "\${place:+$place }\${words[CURRENT-1]}" in
${branches(
  places.filter(({ path }) => path.includes('--')),
  '    ',
).replaceAll(' words=', ' list=')}
  esac
  [ -n "$list" ] || case "$place" in
${branches(
  places.filter(({ path }) => !path.includes('--')),
  '    ',
).replaceAll(' words=', ' list=')}
  esac
  compadd -- \${(s: :)list} || _files
}
if [ "$funcstack[1]" = _${NAME} ]; then _user_group_service; else compdef _user_group_service ${NAME}; fi`;
}

function fishScript(places: readonly Place[]): string {
  const commands = places.map(({ path }) => path).filter((path) => path !== '' && !path.includes('--'));
  const lines = places.flatMap(({ path, words }) => {
    const isOption = path.includes('--');
    const condition = quoted(`__user_group_service_at ${quoted(path)}`);
    if (isOption) {
      const place = path.split(' ').slice(0, -1).join(' ');
      const long = path.split(' --')[1]!;
      const at = quoted(`__user_group_service_at ${quoted(place)}`);
      return [
        `complete -c ${NAME} -n ${at} -l ${long} -x -a ${quoted(words.map(({ text }) => text).join(' '))}`,
      ];
    }
    return words.map(({ text, summary }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${quoted(text)}`;
      return `complete -c ${NAME} -n ${condition} ${what} -d ${quoted(summary.split('\n')[0]!)}`;
    });
  });
  return `function __user_group_service_at
  set -l place
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$place $word")
    contains -- $next ${commands.map(quoted).join(' ')}; and set place $next
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}`;
}
