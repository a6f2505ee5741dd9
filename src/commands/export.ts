import { Command } from 'commander';
import { loadKeyRing } from '../key-ring-source.ts';
import { exportLines } from '../operations/user-group/export.ts';
import { outputArgument, writeOutput } from './create-file.ts';
import { UsageError } from './exit-code.ts';
import { isCsvName } from './ndjson.ts';
import { addDatabaseOptions } from './option/database-option.ts';
import { atPlace, environmentOption, type PlaceOptions, workspaceOption } from './option/workspace-option.ts';
import { counted, printResult } from './terminal/output.ts';
import { progressBar } from './terminal/progress.ts';
import { escapeControls } from './terminal/terminal-text.ts';

type ExportOptions = PlaceOptions & { withTokens?: boolean };

export function exportCommand(): Command {
  const command = new Command('export')
    .summary('write the user groups of a workspace to a file in the format of import')
    .description(
      'Writes the user groups of one workspace and environment as JSON lines, ordered by id: user_group_id, name, mapping ' +
        'and properties, exactly as stored, whether it is suspended, and the token if --with-tokens is set. "import" reads this format. Export can ' +
        'run while the service is running: it writes each group that exists throughout under the same id exactly once.' +
        '\n\nThe file must not exist yet. Only its owner can read it, and it appears under its name only when it is ' +
        'complete. A file with tokens is as secret as the tokens. Replaced tokens in their grace period are ' +
        'not exported; "backup" and "copy" keep them.',
    )
    .addArgument(outputArgument())
    .addOption(workspaceOption('workspace to export'))
    .addOption(environmentOption('environment to export'))
    .option('--with-tokens', 'include the tokens of the user groups');
  return addDatabaseOptions(command).action(runExport);
}

async function runExport(file: string | undefined, options: ExportOptions): Promise<void> {
  const { withTokens = false, json } = options;
  if (file === undefined && json)
    throw new UsageError('--json requires a file: standard output already carries the JSON lines');
  if (file !== undefined && isCsvName(file))
    throw new UsageError(
      `an export consists of JSON lines, and an import would read ${file} as CSV: use another name`,
    );
  let count = 0;
  await atPlace(options, async ({ store, config, caller: tenant }) => {
    const keyRing = withTokens ? await loadKeyRing(config, store) : null;
    using bar = progressBar('user groups', await store.read({ kind: 'countUserGroups', tenant }));
    async function* chunks(): AsyncGenerator<string> {
      for await (const lines of exportLines(store, tenant, keyRing)) {
        count += lines.length;
        bar.show(count);
        yield escapeControls(lines.join(''));
      }
    }
    await writeOutput(file, chunks());
  });
  if (file === undefined) return;
  const text = `Exported ${counted(count, 'user group')} to ${file}, ${withTokens ? 'with' : 'without'} their tokens.`;
  printResult(options, { file, user_groups: count, with_tokens: withTokens }, text);
}
