// Actions of the config commands, with the libraries and schemas that no other command needs.

import { styleText } from 'node:util';
import { createTwoFilesPatch } from 'diff';
import { pathInConfig } from '../../domain/config/config.ts';
import { type ConfigChange, type ConfigPlan, planTexts } from '../../domain/config/config-plan.ts';
import { objectText } from '../../domain/json/json-tree.ts';
import { prettyJson } from '../../domain/json/pretty-json.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { writeOutput } from '../create-file.ts';
import { ChangesPlanned } from '../exit-code.ts';
import type { TargetOptions } from '../option/target-option.ts';
import { counted, printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/terminal-text.ts';
import { readConfigFile, toYaml } from './config-file.ts';
import { withConfigTarget } from './config-target.ts';

export type ExportOptions = TargetOptions & { format?: 'yaml' | 'json' };
export type ApplyOptions = TargetOptions & { prune?: boolean };

export function exportConfig(
  file: string | undefined,
  { format = file?.endsWith('.json') ? 'json' : 'yaml', ...options }: ExportOptions,
): Promise<void> {
  return withConfigTarget(options, async (target) => {
    const config = await target.read();
    const text = format === 'json' ? `${prettyJson(config)}\n` : toYaml(config);
    await writeOutput(file, [escapeControls(text)]);
  });
}

/** Throws `ChangesPlanned` if there are changes. */
export function planConfig(file: string, options: ApplyOptions): Promise<void> {
  return withConfigTarget(options, async (target) => {
    const { prune = false, json } = options;
    const plan = await target.put(readConfigFile(file), { prune, dryRun: true, version: null });
    if (json) printPlanJson(plan);
    else printPlan(plan, prune);
    if (plan.changes.length > 0)
      throw new ChangesPlanned(`${counted(plan.changes.length, 'change')}, which config apply makes`);
  });
}

/** Prints the plan, then applies it. JSON is printed last: a reader takes it for what was done. */
export function applyConfig(file: string, options: ApplyOptions): Promise<void> {
  return withConfigTarget(options, async (target) => {
    const { prune = false, json } = options;
    const config = readConfigFile(file);
    const plan = await target.put(config, { prune, dryRun: true, version: null });
    if (!json) printPlan(plan, prune);
    const isSame = plan.changes.length === 0;
    const { version } = isSame
      ? plan
      : await target.put(config, { prune, dryRun: false, version: plan.version });
    if (json) printPlanJson({ ...plan, version });
    else if (!isSame) console.log(`Applied ${counted(plan.changes.length, 'change')}.`);
  });
}

function printPlanJson(plan: ConfigPlan): void {
  printJson(objectText(Object.entries(planTexts(plan))));
}

function printPlan({ changes, kept }: ConfigPlan, prune: boolean): void {
  for (const change of changes) console.log(changeDiff(change));
  if (changes.length === 0) console.log('The configuration is up to date.');
  if (prune || kept.length === 0) return;
  const entries = counted(kept.length, 'stored entry, which stays', 'stored entries, which stay');
  console.error(`The file does not have ${entries}; --prune would delete:`);
  for (const { section, id } of kept) console.error(`  ${entryPath(section, id)}`);
}

function entryPath(...entry: Parameters<typeof pathInConfig>): string {
  return escapeControls(pathInConfig(...entry).join('/'));
}

/** Returns the patch that git would print, of the entry in YAML. */
function changeDiff({ section, id, before, after, replacesSecret }: ConfigChange): string {
  const path = entryPath(section, id);
  const [from, to] = [
    before === null ? '/dev/null' : `a/${path}`,
    after === null ? '/dev/null' : `b/${path}`,
  ];
  const patch = createTwoFilesPatch(from, to, yamlLines(before), yamlLines(after)).split('\n');
  // The first line only separates files.
  const lines = patch.slice(1).filter((line, index, all) => line !== '' || index < all.length - 1);
  if (replacesSecret) lines.push('~secret: replaced');
  return lines.map(colored).join('\n');
}

function yamlLines(entry: JsonText | null): string {
  return entry === null ? '' : escapeControls(toYaml(entry));
}

const colors = { '+': 'green', '-': 'red', '@': 'cyan', '~': 'yellow' } as const;

function colored(line: string): string {
  const color = colors[line[0] as keyof typeof colors];
  return color === undefined ? line : styleText(color, line, { stream: process.stdout });
}
