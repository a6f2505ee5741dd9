// Generates docs/reference.md and docs/llms.txt from the code and the pages.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type Command, Help } from 'commander';
import { exitCodeMeanings } from '../src/commands/exit-code.ts';
import { allSettings, variableNames } from '../src/config.ts';
import { algorithmsWithSecret, embedTokenTypes } from '../src/domain/embed-token/embed-token.ts';
import { eventTypes } from '../src/domain/event/event.ts';
import { program } from '../src/main.ts';
import { Metrics } from '../src/metrics/metrics.ts';

/** Pages with their topics, in the order in which readers need them. */
const PAGES: readonly (readonly [path: string, topic: string])[] = [
  ['README.md', 'what the service is, how to start it, and the three calls'],
  ['docs/api.md', 'every endpoint, with requests, responses and rules'],
  ['docs/reference.md', 'settings, commands, exit codes, metrics and event types'],
  ['docs/clients.md', 'calling the API from ten HTTP clients, and through proxies'],
  ['client/README.md', 'the TypeScript client'],
  ['docs/tokens.md', 'who may see the token of a user group, and how to handle it'],
  ['docs/catalogue.md', 'schemas and data sources, and rules for mappings and properties'],
  ['docs/configuration.md', 'all of the configuration in a file: export, plan, apply'],
  ['docs/embedding.md', 'how a dashboard tool learns who is viewing: signed tokens, and introspection'],
  ['docs/forward-authentication.md', 'how a site behind a reverse proxy learns who is viewing'],
  ['docs/console.md', 'the web console, for people without a terminal'],
  ['docs/events.md', 'the history of changes, and the feed'],
  ['docs/webhooks.md', 'receiving events: verification, retries, duplicates, order'],
  ['docs/deploy.md', 'installing and running it behind a proxy, under systemd, in Compose and on Kubernetes'],
  ['docs/monitor.md', 'metrics, alerts with a runbook each, and the log of requests'],
  ['docs/back-up.md', 'backups, restores and the drill'],
  ['docs/administer.md', 'keys, API tokens, workspaces, imports, and moving to another database'],
  ['docs/upgrade.md', 'upgrading without an outage, and going back'],
  ['docs/release.md', 'building, checking and publishing a version'],
  ['docs/versions.md', 'what later versions keep, what may change, and which versions run side by side'],
  ['docs/troubleshoot.md', 'what each log message means, and how to check a deployment'],
  ['docs/scaling.md', 'how far each database scales'],
  ['docs/faults.md', 'what callers see when PostgreSQL fails'],
  ['docs/reliability.md', 'what the service promises under failures, and how that is tested'],
  ['docs/migrating-from-explo.md', 'moving from Explo with the existing tokens'],
  ['bench/README.md', 'performance figures, and how to measure them'],
  ['ARCHITECTURE.md', 'how the service is built, and where to start reading'],
  ['CONTRIBUTING.md', 'how to change it'],
  ['SECURITY.md', 'what it protects, against whom, and how to report a vulnerability'],
];

interface MetricDescription {
  name: string;
  type: string;
  help: string;
}

/** Metrics that a service measures on either database. */
export const metricDescriptions = await describeMetrics();

/** Command line with all commands. */
export const commandLine = await program();

export function reference(): string {
  return `# Reference

Generated from the code by \`npm run format\`: settings, commands, exit codes, types of integration, metrics and event types. The API itself, with its [error codes](api.md#errors), is in [api.md](api.md), and in [openapi.json](openapi.json) for tools.

## Settings

\`serve\` reads each setting from a flag (\`--port\` for \`PORT\`, \`--queue-limit\` for \`UGS_QUEUE_LIMIT\`) or an environment variable. Secrets have no flag; instead, \`NAME_FILE\` can name a file that holds the secret. An unknown \`UGS_\` variable or an invalid value is refused with exit code 78. \`start\` reads the environment too, except \`DATABASE_URL\`. \`UGS_API_TOKEN\` is not a setting, but the API token of commands with \`--url\`.

${settingsTable()}

## Commands

Every command has \`--help\`. These options are described once; a command that has them lists their names:

${sharedItems().map(optionLine).join('\n')}

${leaves(commandLine).map(commandSection).join('\n\n')}

## Exit codes

| Code | Meaning |
|---|---|
${exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${sentence(meaning)} |`).join('\n')}

## Types of integration

[Embedding](embedding.md) says what each tool needs. A setting without "optional" is required. Every type has these:

| Setting | Meaning |
|---|---|
${settingRows(embedTokenTypes[0]![1].settings, isSharedSetting).join('\n')}

${embedTokenTypes.map(typeSection).join('\n\n')}

## Metrics

[Monitoring](monitor.md#metrics) says how to collect them, and which labels they have. The metrics \`nodejs_…\` and \`process_…\` of prom-client are left out.

| Metric | Type | Meaning |
|---|---|---|
${metricRows().join('\n')}

## Event types

${eventTypes.map((type) => `\`${type}\``).join(', ')}. [Events](events.md) describes their fields.
`;
}

function typeSection([type, definition]: (typeof embedTokenTypes)[number]): string {
  const { label, claims, settings } = definition;
  const secret = algorithmsWithSecret(definition);
  const signed = Array.isArray(secret) ? `with ${secret.join(' and ')} ` : '';
  const about = `${sentence(label)}. \`claims\` are ${claims}.${secret === false ? '' : ` Needs a \`secret\` ${signed}`.trimEnd()}`;
  const rows = settingRows(settings, (name) => !isSharedSetting(name));
  return `### \`${type}\`\n\n${about}.\n\n| Setting | Meaning |\n|---|---|\n${rows.join('\n')}`;
}

type TypeSettings = (typeof embedTokenTypes)[number][1]['settings'];

function settingRows({ properties, required }: TypeSettings, isShown: (name: string) => boolean): string[] {
  const shown = Object.entries(properties).filter(([name]) => isShown(name));
  return shown.map(([name, { description }]) => {
    const suffix = required.includes(name) ? '' : ', optional';
    return `| \`${name}\`${suffix} | ${description.replaceAll('|', '\\|')} |`;
  });
}

/** Returns whether every type of integration has the setting with the same meaning. */
function isSharedSetting(name: string): boolean {
  const meanings = embedTokenTypes.map(([, { settings }]) => settings.properties[name]?.description);
  return new Set(meanings).size === 1;
}

function settingsTable(): string {
  const rows = allSettings.map((setting) => {
    const names = variableNames(setting).map((name) => `\`${name}\``);
    const { fallback, meaning } = setting;
    return `| ${names.join(', ')} | ${fallback ? `\`${fallback}\`` : ''} | ${meaning} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

export interface Leaf {
  path: string;
  command: Command;
}

/** Returns the commands that have no subcommands. */
export function leaves(command: Command, path = ''): Leaf[] {
  return command.commands
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => {
      const name = `${path}${each.name()}`;
      return each.commands.length > 0 ? leaves(each, `${name} `) : [{ path: name, command: each }];
    });
}

type OptionItem = [flags: string, description: string];

/** Options that many commands have with the same meaning, each with the start of its description. */
const SHARED_OPTIONS = [
  /^--workspace <name>: workspace (?:of|to)\b[^;]*$/,
  /^--environment <environment>: environment (?:of|to)\b/,
  /^--database-url <url>: database/,
  /^--url <url>: URL of a running service/,
  /^--json: print JSON for scripts$/,
];

/** Returns the options with their descriptions, to which the help adds choices and defaults. */
export function optionItems({ options }: Command): OptionItem[] {
  const help = new Help();
  const visible = options.filter(({ hidden }) => !hidden);
  return visible.map((option) => [option.flags, help.optionDescription(option)]);
}

/** Returns the arguments as a synopsis has them, such as `<file>` and `[versions...]`. */
export function argumentTerms({ registeredArguments }: Command): string[] {
  return registeredArguments.map((argument) => {
    const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${text}>` : `[${text}]`;
  });
}

function commandSection({ path, command }: Leaf): string {
  const about = sentence(command.summary() || command.description());
  const heading = `### \`${[path, ...argumentTerms(command)].join(' ')}\`\n\n${about}.`;
  // The options of `serve` are the settings.
  if (path === 'serve') return `${heading} Its options are the [settings](#settings).`;
  const items = optionItems(command);
  const shared = items.filter(isShared).map(([flags]) => `\`${flags.split(' ')[0]}\``);
  const lines = items.filter((item) => !isShared(item)).map(optionLine);
  const options = [...lines, ...(shared.length === 0 ? [] : [`- ${shared.join(', ')}`])];
  return options.length === 0 ? heading : `${heading}\n\n${options.join('\n')}`;
}

function optionLine([flags, text]: OptionItem): string {
  return `- \`${flags}\`: ${text}`;
}

/** Returns the options that are described once, without the noun of the first command that has them. */
function sharedItems(): OptionItem[] {
  const commands = leaves(commandLine).filter(({ path }) => path !== 'serve');
  const items = commands.flatMap(({ command }) => optionItems(command));
  return SHARED_OPTIONS.map((pattern) => {
    const [flags, text] = items.find((item) => pattern.test(item.join(': ')))!;
    return [flags, text.replace(' of the user group', ' to work on')];
  });
}

function isShared(item: OptionItem): boolean {
  return SHARED_OPTIONS.some((pattern) => pattern.test(item.join(': ')));
}

async function describeMetrics(): Promise<MetricDescription[]> {
  const metrics = new Metrics({ version: '', database: 'SQLite' }, null);
  metrics.watchQueues(() => ({}));
  metrics.watchDeliveries(async () => 0);
  metrics.watchUsage(() => 0);
  metrics.watchConnections(() => ({ open: 0, idle: 0, waiting: 0, max: 0 }));
  metrics.watchStorage(async () => ({ databaseBytes: 0, logBytes: 0, diskFreeBytes: 0, backedUpAt: null }));
  metrics.events.watchRetention(() => ({ isFailing: false, lagMs: 0 }));
  metrics.events.watchFeed(async () => 0);
  metrics.http.watch(createServer(), 1);
  const described = (await metrics.render()).matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm);
  return [...described]
    .map(([, name, help, type]) => ({ name: name!, type: type!, help: help! }))
    .filter(({ name }) => !/^(?:nodejs|process)_/.test(name));
}

function metricRows(): string[] {
  const rows = metricDescriptions.map(
    ({ name, type, help }) => `| \`${name}\` | ${type} | ${sentence(help)} |`,
  );
  return rows.toSorted();
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`.replace(/\.$/, '');
}

/** Returns the index for programs that read the documentation; see llmstxt.org. */
export function llmsIndex(): string {
  const lines = PAGES.map(([path, topic]) => {
    const [, title = path] = /^# (.*)$/m.exec(readFileSync(path, 'utf8')) ?? [];
    return `- [${title}](${path.startsWith('docs/') ? path.slice('docs/'.length) : `../${path}`}): ${topic}`;
  });
  return `# User Group Service

> Keeps one user group per customer and issues the token that tells a dashboard who is viewing, which data source each schema maps to, and which properties its queries read.

## Pages

${lines.join('\n')}
- [OpenAPI description](openapi.json): every operation for tools, with schemas, examples and errors
`;
}
