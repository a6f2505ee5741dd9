import { pipeline } from 'node:stream/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CastingContext } from 'csv-stringify';
import type { Caller } from '../domain/api-token.ts';
import { jsonCell, withoutFormulas } from '../domain/spreadsheet.ts';
import { type Day, dayDate, dayOfDate, type Grouping, toDay } from '../domain/usage.ts';
import { pagesOfList } from '../operations/pages.ts';
import { listUsage, type UsageEntry, type UsageQuery, usageRange } from '../operations/usage/list.ts';
import { Problem } from '../problem.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import { outputArgument, writeOutput } from './create-file.ts';
import { UsageError } from './exit-code.ts';
import { addTargetOptions, selectTarget, type TargetOptions } from './option/target-option.ts';
import { atPlace } from './option/workspace-option.ts';
import { ServiceClient } from './service-client.ts';
import type { ServiceObject } from './service-object.ts';

type ExportOptions = TargetOptions & {
  from?: Day;
  to?: Day;
  groupBy: Grouping;
  group?: string;
  integration?: string;
};

type ExportQuery = UsageQuery & { from: Day; to: Day };
type UsageRecord = (string | number)[];

const PAGE = 1_000;
const COLUMNS = [
  'user_group_id',
  'date',
  'resolves',
  'introspections',
  'forward_authentications',
  'embed_tokens',
  'embed_tokens_by_integration',
];

export function usageCommand(): Command {
  return new Command('usage')
    .summary('export how often the tokens of user groups were used')
    .addCommand(exportCommand());
}

function exportCommand(): Command {
  const command = new Command('export')
    .summary('write the usage of the user groups of a workspace as CSV')
    .description(
      'Writes the entries of GET /v1/usage as CSV, with a heading. The last column has the embed tokens of each ' +
        'integration as JSON. Can run while the service is running; uses of the last minute are not included yet, ' +
        'and days that ended more than UGS_EVENT_RETENTION_DAYS ago are deleted, also from a month that began before.' +
        '\n\nWith --url, they are read from a running service, with an API token of the permission read-only or read-write ' +
        'in UGS_API_TOKEN, which determines the workspace and environment.' +
        '\n\nA spreadsheet would take an id for a formula if =, +, - or @ is at its start or after a semicolon: in the file, ' +
        "a ' precedes this character.",
    )
    .addArgument(outputArgument());
  return addTargetOptions(command, 'workspace to export', 'environment to export')
    .option('--from <date>', 'first day, in UTC (default: 29 days before --to)', parseDay)
    .option('--to <date>', 'last day, in UTC (default: today)', parseDay)
    .addOption(
      new Option('--group-by <period>', 'length of a period; a month includes only its days within the range')
        .choices(['day', 'month'])
        .default('day'),
    )
    .option('--group <user_group_id>', 'only this user group')
    .option('--integration <id>', 'only groups and periods with embed tokens of this integration')
    .action(runExport);
}

function parseDay(text: string): Day {
  const day = dayOfDate(text);
  if (day === null || day < 0) throw new InvalidArgumentError('It must be a date such as 2026-03-05.');
  return day;
}

async function runExport(file: string | undefined, options: ExportOptions): Promise<void> {
  const { from, to, groupBy, group = null, integration = null } = options;
  const query = { ...rangeIn({ from, to }), groupBy, userGroupId: group, integration, limit: PAGE };
  const write = (records: AsyncIterable<UsageRecord>) => writeOutput(file, csvLines(records));
  const place = selectTarget(options);
  if ('url' in place) return write(serviceRecords(new ServiceClient(place.url, 'read-only'), query));
  await atPlace({ ...options, ...place }, ({ store, caller }) =>
    write(databaseRecords(store, caller, query)),
  );
}

/** Throws `UsageError`. */
function rangeIn(days: Pick<UsageQuery, 'from' | 'to'>): { from: Day; to: Day } {
  try {
    return usageRange(days, toDay(Date.now()), ['--from', '--to']);
  } catch (error) {
    throw error instanceof Problem ? new UsageError(error.message) : error;
  }
}

async function* serviceRecords(
  client: ServiceClient,
  { from, to, groupBy, userGroupId, integration }: ExportQuery,
): AsyncGenerator<UsageRecord> {
  const filter = {
    from: dayDate(from),
    to: dayDate(to),
    group_by: groupBy,
    ...(userGroupId !== null && { user_group_id: userGroupId }),
    ...(integration !== null && { integration }),
  };
  for await (const page of client.pages('/v1/usage', 'usage', filter))
    yield* page.map((entry) => usageRecord(usageEntryIn(entry)));
}

function usageEntryIn(listed: ServiceObject): UsageEntry {
  const embedTokens = listed.object('embed_tokens');
  return {
    userGroupId: listed.string('user_group_id'),
    date: listed.string('date'),
    resolves: listed.number('resolves'),
    introspections: listed.number('introspections'),
    forward_authentications: listed.number('forward_authentications'),
    embedTokens: new Map(embedTokens.names.map((id) => [id, embedTokens.number(id)])),
  };
}

async function* databaseRecords(
  store: BatchingStore,
  caller: Caller,
  query: ExportQuery,
): AsyncGenerator<UsageRecord> {
  const pages = pagesOfList((next) => listUsage({ store, clock: Date.now }, caller, { ...query, ...next }));
  for await (const { entries } of pages) yield* entries.map(usageRecord);
}

function usageRecord(entry: UsageEntry): UsageRecord {
  const { userGroupId, date, resolves, introspections, forward_authentications, embedTokens } = entry;
  const minted = [...embedTokens.values()].reduce((sum, count) => sum + count, 0);
  const byIntegration = JSON.stringify(Object.fromEntries(embedTokens));
  return [userGroupId, date, resolves, introspections, forward_authentications, minted, byIntegration];
}

async function* csvLines(records: AsyncIterable<UsageRecord>): AsyncGenerator<Buffer> {
  const { stringify } = await import('csv-stringify');
  const csv = stringify({ header: true, columns: COLUMNS, cast: { string: csvCell } });
  // If the records fail, the lines end with the same error.
  pipeline(records, csv).catch(() => {});
  yield* csv;
}

/** Returns JSON in the last column, and text in the others. */
function csvCell(text: string, { index }: CastingContext): string {
  return index === COLUMNS.length - 1 ? jsonCell(text) : withoutFormulas(text);
}
