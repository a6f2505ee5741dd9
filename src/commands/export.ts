import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import type { KeyRing } from '../domain/key-ring.ts';
import type { UserGroup } from '../domain/user-group.ts';
import { exportLines } from '../operations/export.ts';
import { findWorkspace } from '../operations/workspace.ts';
import { createUnfinished, publish, refuseExisting, removeAtTheEnd, unfinishedNameOf } from '../publish.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import { loadKeyRing } from '../token-keys.ts';
import { type DatabaseOptions, databaseOption, jsonOption, withExistingDatabase } from './database-option.ts';
import { NotFound, UsageError } from './exit-code.ts';
import { explainFile } from './file-error.ts';
import { printJson } from './output.ts';
import { progressBar } from './progress.ts';
import { environmentOption, type WorkspaceOptions, workspaceOption } from './workspace-option.ts';

type ExportOptions = DatabaseOptions & WorkspaceOptions & { withTokens?: boolean };

export function exportCommand(): Command {
  return new Command('export')
    .summary('write the user groups of a workspace to a file that import takes')
    .description(
      'Writes the user groups of one workspace and environment as JSON lines, in the order of their ids: user_group_id, ' +
        'name, mapping and properties, to the letter as they are stored, and with --with-tokens the token. "import" takes ' +
        'them. Runs beside the service: a group that is there all the time is in it once.' +
        '\n\nThe file is new, readable by its owner only, and there under its name only when it is whole. With tokens it is ' +
        'as secret as they are. Tokens in their grace period are not in it; "backup" and "copy" keep them.',
    )
    .argument('[file]', 'the file to make; standard output where it is left out')
    .addOption(workspaceOption('the workspace they belong to'))
    .addOption(environmentOption('the environment they belong to'))
    .addOption(new Option('--with-tokens', 'write the tokens of the groups too'))
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((file: string | undefined, options: ExportOptions) => runExport(file, options));
}

async function runExport(file: string | undefined, options: ExportOptions): Promise<void> {
  const { workspace: name, environment, withTokens = false, json } = options;
  if (file === undefined && json) throw new UsageError('--json is for the result of an export to a file');
  if (file !== undefined) refuseExisting(file);
  const count = await withExistingDatabase(options, async ({ store }, config) => {
    const workspace = await findWorkspace(store, name);
    if (workspace === null) throw new NotFound(`there is no workspace ${name}; "workspace list" shows them`);
    const keyRing = withTokens ? await loadKeyRing(config, store) : null;
    const of = { workspaceId: workspace.workspaceId, environment };
    return file === undefined
      ? writeLines(store, of, keyRing, process.stdout)
      : writeFile(file, (output) => writeLines(store, of, keyRing, output)).catch((error) =>
          explainFile(error, (message) => new UsageError(`${file} cannot be written: ${message}`)),
        );
  });
  if (file === undefined) return;
  if (json) printJson({ file, user_groups: count, with_tokens: withTokens });
  else console.log(`${count} user groups are in ${file}, ${withTokens ? 'with' : 'without'} their tokens.`);
}

/** Returns their number. */
async function writeLines(
  store: BatchedStore,
  of: Pick<UserGroup, 'workspaceId' | 'environment'>,
  keyRing: KeyRing | null,
  output: Writable,
): Promise<number> {
  let count = 0;
  using bar = progressBar('user groups', await store.read({ kind: 'countUserGroups', of }));
  async function* texts(): AsyncGenerator<string> {
    for await (const lines of exportLines(store, of, keyRing)) {
      count += lines.length;
      bar.show(count);
      yield lines.join('');
    }
  }
  await pipeline(texts, output, { end: output !== process.stdout }).catch(unlessLeft);
  return count;
}

/** The file is there under its name only when `write` has ended well. */
async function writeFile<Result>(
  file: string,
  write: (output: Writable) => Promise<Result>,
): Promise<Result> {
  const unfinished = unfinishedNameOf(file);
  using _removal = removeAtTheEnd([unfinished]);
  createUnfinished(unfinished);
  // Not 'w', which would make it anew where a signal has taken it away meanwhile.
  const handle = await open(unfinished, 'r+');
  const result = await write(handle.createWriteStream());
  publish(unfinished, file);
  return result;
}

/** Whoever reads our standard output may have enough of it. */
function unlessLeft(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
}
