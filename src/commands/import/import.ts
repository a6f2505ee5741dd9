import { fstatSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { MAX_BATCH } from '../../database.ts';
import { limits } from '../../domain/field.ts';
import { redact } from '../../domain/secret.ts';
import { mapInChunks } from '../../operations/pages.ts';
import { PropertyValidator } from '../../operations/property-schema/validator/validator.ts';
import { type LineResult, type RefusedLine, refusedLine } from '../../operations/user-group/line-result.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { unfinishedFile } from '../../system/atomic-file.ts';
import { DataError, explainFileError, explainReadError, ServiceRefused, UsageError } from '../exit-code.ts';
import { isCsvName, type Line, ndjsonBatches } from '../ndjson.ts';
import { withDatabase, withExistingDatabase } from '../option/database-option.ts';
import { addTargetOptions, selectTarget, type TargetOptions } from '../option/target-option.ts';
import { createWorkspaceOption, refuseUnknownWorkspace } from '../option/workspace-option.ts';
import { counted, printJson, printResult } from '../terminal/output.ts';
import { type ProgressBar, progressBar } from '../terminal/progress.ts';
import { escapeControls, singleLine } from '../terminal/terminal-text.ts';
import type { ImportOne, ImportTarget, StartBatch } from './import-target.ts';
import {
  DEFAULT_MAX_DELETIONS,
  type DeletionPlan,
  deletePlanned,
  type MaxDeletions,
  type Pruned,
  parseMaxDeletions,
  planDeletions,
  refuseMassDeletion,
} from './prune.ts';

type ImportOptions = TargetOptions & {
  createWorkspace?: boolean;
  update?: boolean;
  dryRun?: boolean;
  format?: Format;
  prune?: boolean;
  maxDelete?: MaxDeletions;
};

const formats = ['json-lines', 'csv'] as const;
type Format = (typeof formats)[number];

/** Limits the lines that are in memory at a time. */
const BATCH = { lineBytes: limits.lineBytes, maxLines: MAX_BATCH, maxBytes: 1024 * 1024 };

export function importCommand(): Command {
  const command = new Command('import')
    .summary('import user groups, with their existing tokens, from another system')
    .description(
      'Creates user groups from a file of JSON lines, one object per line: user_group_id, name and, optionally, mapping, ' +
        'properties, suspended and token, under the rules of the API. An existing token of 16 to 200 visible ASCII characters is kept, ' +
        'so that dashboards embedded with it keep working; a group without a token gets a new one.' +
        '\n\nA CSV file has a header with the names of the fields. mapping and properties are JSON, or columns such as ' +
        'mapping.40 and properties.plan, which are texts; an empty cell is an absent field or member, ' +
        'and an object whose members are all empty is null.' +
        '\n\nA group that already exists is not changed: a line with the same content counts as unchanged, and a line that ' +
        'differs is refused, unless --update is set, which replaces the fields that the line contains. An import never ' +
        'replaces a token and never assigns a token to a second group. Refused lines are reported with their line numbers; ' +
        'all other lines are imported.' +
        '\n\nWith --update --prune the file is the list of all customers: groups that it does not have are deleted. The file ' +
        'is read twice: a plan is made and printed first, and nothing is changed if a line is refused, or if more groups ' +
        'would be deleted than --max-delete allows. Nothing is deleted if a line is refused after that. A group is kept if it ' +
        'was created, changed or renamed after the file was last modified or, if the input is a pipe, after the import began.' +
        '\n\nWith --url, the import is made through the API of a running service, with an API token of the permission ' +
        'read-write in UGS_API_TOKEN, which determines the workspace and environment. Tokens are kept, not imported: a line ' +
        'with a token that the group does not have is refused.' +
        '\n\nImport can run while the service is running. If it is interrupted, run it again: lines already imported count ' +
        'as unchanged. The exit code is 65 if lines or deletions were refused.',
    )
    .argument('<file>', 'file to import, or - for standard input');
  return addTargetOptions(
    command,
    'workspace to import into; created if it is the first of the installation',
    'environment to import into',
  )
    .addOption(createWorkspaceOption())
    .addOption(
      new Option(
        '--format <format>',
        'format of the file; csv if its name ends in .csv, otherwise json-lines',
      ).choices(formats),
    )
    .option('--update', 'replace the fields of existing groups that differ')
    .option('--prune', 'delete the groups that the file does not have; requires --update')
    .addOption(
      new Option('--max-delete <share>', 'with --prune: how many groups may be deleted, such as 100 or 5%')
        .argParser(parseMaxDeletions)
        .default(DEFAULT_MAX_DELETIONS, '5%'),
    )
    .option('--dry-run', 'report what would happen to each line, taken separately, and change nothing')
    .option(
      '--json',
      'print a JSON line for each line, with --dry-run also for each group to be deleted, and a final one with the counts',
    )
    .action((file: string, options: ImportOptions) => runImport(file, options));
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const { prune = false, update = false, dryRun = false, maxDelete = DEFAULT_MAX_DELETIONS } = options;
  if (prune && !update)
    throw new UsageError('--prune requires --update: the file is the list of all customers');
  const { format = isCsvName(file) ? 'csv' : 'json-lines' } = options;
  const source = await openSource(file, format, prune);
  await using _file = source.file;
  await withImportTarget(options, async (target) => {
    const plan = prune ? await listDeletions(target, source, options) : null;
    if (plan !== null) refuseMassDeletion(plan, maxDelete);
    if (dryRun && prune) return;
    const report = new Report(options);
    if (dryRun) {
      await readLines(source, report, target, await target.preview());
      return report.end();
    }
    const startBatch = await target.start();
    const listed: ListedIds = new Map();
    await readLines(source, report, target, startBatch, plan === null ? undefined : listed).catch((error) =>
      explainInterruption(error, report.lastLine),
    );
    // The customer of a refused line may be one of those that the plan deletes, under another id.
    if (plan !== null) {
      const { newer } = plan;
      report.pruned = report.hasRefused ? { deleted: 0, newer } : await deletePlanned(target, plan, listed);
    }
    await target.finish?.();
    report.end();
  });
}

/** Throws `UsageError` unless the options name one environment. */
async function withImportTarget(
  options: ImportOptions,
  work: (target: ImportTarget) => Promise<void>,
): Promise<void> {
  const { createWorkspace, dryRun, update = false } = options;
  const place = selectTarget(options, { '--create-workspace': createWorkspace });
  // Disposed because its threads would keep the process running.
  await using propertyValidator = PropertyValidator.forCommand();
  const settings = { propertyValidator, replaces: update };
  // Imported on demand: compiling their validators takes as long as starting any other command.
  if ('url' in place) {
    const { ServiceTarget } = await import('./service-import.ts');
    return await work(new ServiceTarget(place.url, settings));
  }
  const { DatabaseTarget } = await import('./database-import.ts');
  const open = dryRun ? withExistingDatabase : withDatabase;
  await open(options, async (database) => {
    await refuseUnknownWorkspace(database.store, { ...options, ...place });
    await work(new DatabaseTarget(database, place, settings));
  });
}

/** Reports what the import would do to each line, and returns which groups it would delete. Throws `DataError`. */
async function listDeletions(
  target: ImportTarget,
  source: Source,
  options: ImportOptions,
): Promise<DeletionPlan> {
  const listed: ListedIds = new Map();
  // Without --dry-run, the import itself reports each line.
  const report = new Report({ ...options, dryRun: true }, options.dryRun === true);
  await readLines(source, report, target, await target.preview(), listed);
  const plan = await planDeletions(target, listed, source.writtenAt);
  if (options.json && options.dryRun)
    for (const { id } of plan.deletions) printJson({ result: 'deleted', user_group_id: id });
  report.pruned = { deleted: plan.deletions.length, newer: plan.newer };
  report.end();
  return plan;
}

/** Line numbers by the id of the user group. */
type ListedIds = Map<string, number>;

/**
 * Imports the lines, or previews them. Adds the ids of lines that are not refused to `listed`, and refuses a
 * line whose id is already there.
 */
async function readLines(
  source: Source,
  report: Report,
  { concurrency }: ImportTarget,
  startBatch: StartBatch,
  listed?: ListedIds,
): Promise<void> {
  using bar = progressBar('bytes', source.size);
  for await (const lines of await batchesOf(source)) {
    const importOne = await startBatch();
    const results = await mapInChunks(lines, concurrency, (line) => importLine(line, importOne));
    if (listed !== undefined) list(listed, lines, results);
    report.add(lines, results, bar);
    bar.show(lines.at(-1)!.end);
  }
}

function list(listed: ListedIds, lines: readonly Line[], results: LineResult[]): void {
  for (const [index, { number, bytes }] of lines.entries()) {
    if (results[index]!.result === 'refused') continue;
    const id = idIn(bytes!);
    const first = listed.get(id);
    if (first === undefined) listed.set(id, number);
    else results[index] = refusedLine('duplicate_id', `has the same id as line ${first}`, '/user_group_id');
  }
}

/** A line that is not refused is a valid object with an id. */
function idIn(line: Buffer): string {
  return (JSON.parse(line.toString()) as { user_group_id: string }).user_group_id;
}

async function importLine({ bytes }: Line, importOne: ImportOne): Promise<LineResult> {
  if (bytes !== null) return importOne(bytes);
  return refusedLine('line_too_long', `must be at most ${limits.lineBytes} bytes long`, '');
}

/** `lastLine`: the last line that is imported, or 0. */
function explainInterruption(error: unknown, lastLine: number): never {
  if (lastLine === 0) throw error;
  const imported = `the lines before ${lastLine + 1} are imported: run the same import again to continue`;
  for (const Kind of [StoreUnavailable, ServiceRefused, UsageError, DataError])
    if (error instanceof Kind) throw new Kind(`${error.message}; ${imported}`, { cause: error });
  throw error;
}

interface Source {
  name: string;
  format: Format;
  /** null for standard input. */
  file: FileHandle | null;
  /** null if it is unknown, as for standard input: then the input can be read only once. */
  size: number | null;
  /** When the input was written: it may lack the groups created or renamed since. Milliseconds since 1970. */
  writtenAt: number;
}

/**
 * Opens the input before the database is opened, so that a failure does not create one. If it is read twice and is not a
 * file, it is copied to a temporary one.
 */
async function openSource(name: string, format: Format, isReadAgain: boolean): Promise<Source> {
  const file = name === '-' ? null : await openFile(name);
  const stats = file === null ? fstatSync(process.stdin.fd) : await file.stat();
  // A pipe is written by a process that started at the same time. The clock that dated a file may be ahead.
  const writtenAt = stats.isFile() ? Math.min(stats.mtimeMs, Date.now()) : performance.timeOrigin;
  const size = file !== null && stats.isFile() ? stats.size : null;
  const source = { name, format, file, size, writtenAt };
  if (size !== null || !isReadAgain) return source;
  await using _copied = file;
  const copy = await copyInput(chunksOf(source));
  return { ...source, file: copy, size: (await copy.stat()).size };
}

async function batchesOf(source: Source): Promise<AsyncIterable<Line[]>> {
  if (source.format === 'json-lines') return ndjsonBatches(chunksOf(source), BATCH);
  // Loaded only for the files that need it.
  const { csvBatches } = await import('./csv.ts');
  return csvBatches(chunksOf(source), BATCH);
}

async function* chunksOf({ name, file, size }: Source): AsyncGenerator<Buffer> {
  const start = size === null ? {} : { start: 0 };
  try {
    yield* file?.createReadStream({ ...start, autoClose: false }) ?? process.stdin;
  } catch (error) {
    explainReadError(error, name);
  }
}

async function openFile(name: string): Promise<FileHandle> {
  const file = await open(name).catch((error) => explainReadError(error, name));
  if (!(await file.stat()).isDirectory()) return file;
  await file.close();
  throw new UsageError(`${name} is a directory`);
}

/** Returns an unlinked copy: lines may have tokens, and a killed process leaves nothing. */
async function copyInput(chunks: AsyncIterable<Buffer>): Promise<FileHandle> {
  const path = join(tmpdir(), 'user-group-service-import');
  try {
    using unfinished = unfinishedFile(path);
    const copy = await open(unfinished.path, 'r+');
    rmSync(unfinished.path);
    // A stream would hold the file open.
    await copy.writeFile(chunks);
    return copy;
  } catch (error) {
    return explainFileError(
      error,
      (message) => new UsageError(`cannot copy the input to ${path}: ${message}`),
    );
  }
}

/** Prints the results: with --json those of all lines, otherwise the refused lines. */
class Report {
  readonly #json: boolean;
  readonly #isDryRun: boolean;
  readonly #listsAll: boolean;
  readonly #counts = { created: 0, updated: 0, unchanged: 0, refused: 0 };
  /** Number of the last line that was reported, or 0. */
  lastLine = 0;
  /** With --prune. */
  pruned: Pruned | null = null;

  /** `listsAll`: whether --json lists the lines that are not refused too. */
  constructor({ json = false, dryRun = false }: ImportOptions, listsAll = true) {
    this.#json = json;
    this.#isDryRun = dryRun;
    this.#listsAll = listsAll;
  }

  add(lines: readonly Line[], results: readonly LineResult[], bar: ProgressBar): void {
    const output: string[] = [];
    this.lastLine = lines.at(-1)!.number;
    for (const [index, { number }] of lines.entries()) {
      const result = results[index]!;
      this.#counts[result.result]++;
      const isRefused = result.result === 'refused';
      if (this.#json && (this.#listsAll || isRefused))
        output.push(`${JSON.stringify({ line: number, ...result })}\n`);
      if (!this.#json && isRefused) bar.note(singleLine(redact(`line ${number}: ${formatErrors(result)}`)));
    }
    // An error may quote a key of the line, and that may be a misplaced token.
    if (this.#json) process.stdout.write(escapeControls(redact(output.join(''))));
  }

  get hasRefused(): boolean {
    return this.#counts.refused > 0;
  }

  /** Prints the counts. Throws `DataError` if lines were refused. */
  end(): void {
    const { created, updated, unchanged, refused } = this.#counts;
    const lines = created + updated + unchanged + refused;
    const isDryRun = this.#isDryRun;
    const { pruned } = this;
    const counts = `${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused`;
    const deletions = pruned === null ? '' : formatDeletions(pruned, isDryRun);
    const start = isDryRun ? (pruned === null ? 'Dry run, nothing was changed. ' : 'Plan: ') : '';
    const text = `${start}${counted(lines, 'line')}: ${counts}.${deletions}`;
    printResult({ json: this.#json }, { lines, ...this.#counts, ...pruned, dry_run: isDryRun }, text);
    if (this.hasRefused) {
      const what = `${counted(refused, 'line was', 'lines were')} refused`;
      const kept = pruned === null || isDryRun ? '' : ', and no user group was deleted';
      throw new DataError(
        `${what}${kept}; correct ${refused === 1 ? 'it' : 'them'} and run the same import again`,
      );
    }
  }
}

function formatDeletions({ deleted, newer }: Pruned, isDryRun: boolean): string {
  const kept = newer === 0 ? '' : `; kept, because they are newer than the file: ${newer}`;
  return ` User groups not in the file, ${isDryRun ? 'to be deleted' : 'deleted'}: ${deleted}${kept}.`;
}

function formatErrors({ errors }: RefusedLine): string {
  return errors
    .map(({ pointer, detail }) => `${pointer === '' ? 'the line' : pointer.slice(1)} ${detail}`)
    .join('; ');
}
