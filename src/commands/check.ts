import { Command } from 'commander';
import { checkUserGroups } from '../operations/user-group/check.ts';
import { keepHeapSmall } from '../system/small-heap.ts';
import { DataError } from './exit-code.ts';
import { databaseOption } from './option/database-option.ts';
import { atPlace, environmentOption, type PlaceOptions, workspaceOption } from './option/workspace-option.ts';
import { counted, printResult } from './terminal/output.ts';
import { progressBar } from './terminal/progress.ts';
import { singleLine } from './terminal/terminal-text.ts';

/** Number of user groups between garbage collections. */
const COLLECT_EVERY = 50_000;

export function checkCommand(): Command {
  return new Command('check')
    .summary('check stored mappings and properties against the catalogue and the property schema')
    .description(
      'Reads every user group of an environment and prints what its mapping and properties violate, whatever the mapping ' +
        'policy and the mode of the property schema are: run it before you enforce them. Changes nothing, and can run while ' +
        'the service is running. The exit code is 65 if there are violations.',
    )
    .addOption(workspaceOption('workspace to check'))
    .addOption(environmentOption('environment to check'))
    .addOption(databaseOption())
    .option('--json', 'print a JSON line for each violation, and a final one with the counts')
    .action(check);
}

async function check(options: PlaceOptions): Promise<void> {
  let violating = 0;
  let total = 0;
  const collectGarbage = keepHeapSmall();
  let collectAt = COLLECT_EVERY;
  await atPlace(options, async ({ store, caller: tenant }) => {
    using bar = progressBar('user groups', await store.read({ kind: 'countUserGroups', tenant }));
    for await (const { checked, invalid } of checkUserGroups(store, tenant)) {
      if (invalid.length > 0) bar.erase();
      for (const { userGroup, violations } of invalid)
        for (const { pointer, detail } of violations) {
          const { providedId: id } = userGroup;
          const text = singleLine(`${id}: ${pointer} ${detail}`);
          printResult(options, { user_group_id: id, pointer, detail }, text);
        }
      violating += invalid.length;
      total = checked;
      bar.show(checked);
      if (checked < collectAt) continue;
      collectGarbage();
      collectAt = checked + COLLECT_EVERY;
    }
  });
  const verb = violating > 1 ? 'violate' : 'violates';
  const found = `${violating === 0 ? 'none' : violating} ${verb} the rules`;
  printResult(options, { checked: total, violating }, `Checked ${counted(total, 'user group')}: ${found}.`);
  if (violating > 0) throw new DataError(`${violating} of ${counted(total, 'user group')} ${verb} the rules`);
}
