import { open } from 'node:fs/promises';
import { Command, Option } from 'commander';
import type { Config } from '../config.ts';
import { type CommandDatabase, MAX_BATCH } from '../database.ts';
import { limits } from '../domain/field.ts';
import { type Line, linesOf } from '../domain/lines.ts';
import { redact } from '../domain/secret.ts';
import { IdLease } from '../operations/id-lease.ts';
import { importLine, type LineResult, previewLine, type RefusedLine } from '../operations/import.ts';
import { gatherStatistics } from '../operations/statistics.ts';
import { Turns } from '../operations/turns.ts';
import { ensureWorkspace, findWorkspace } from '../operations/workspace.ts';
import { StoreUnavailable } from '../store/store.ts';
import { loadKeyRing, registerActiveKey } from '../token-keys.ts';
import {
  type DatabaseOptions,
  databaseOption,
  withDatabase,
  withExistingDatabase,
} from './database-option.ts';
import { LinesRefused, NotFound, UsageError } from './exit-code.ts';
import { explainFile } from './file-error.ts';
import { printJson } from './output.ts';
import { type ProgressBar, progressBar } from './progress.ts';
import { environmentOption, type WorkspaceOptions, workspaceOption } from './workspace-option.ts';

type ImportOptions = DatabaseOptions & WorkspaceOptions & { update?: boolean; dryRun?: boolean };

type ImportOne = (line: Buffer) => Promise<LineResult>;

/** Of the lines that are in memory at one time. */
const BATCH = { lineBytes: limits.lineBytes, maxLines: MAX_BATCH, maxBytes: 1024 * 1024 };

export function importCommand(): Command {
  return new Command('import')
    .summary('bring user groups from elsewhere, with the tokens that they have')
    .description(
      'Creates the user groups of a file of JSON lines, one object a line: user_group_id, name and, where there are such, ' +
        'mapping, properties and token, under the rules of the API. A token of 16 to 200 visible ASCII characters is kept as ' +
        'it is, so that dashboards that are embedded with it go on working; without one a new one is made.' +
        '\n\nA group that is there already stays as it is: a line that says the same counts as unchanged, one that differs is ' +
        'refused, and with --update replaces the fields that it has. No import ever replaces a token, and none gives a ' +
        'token to a second group. Refused lines are told with their numbers; all others are imported.' +
        '\n\nRuns beside the service. Killed or cut off at any point, it is run again and finds done what is done. Ends ' +
        'with 65 where lines were refused.',
    )
    .argument('<file>', 'the file, or - for standard input')
    .addOption(workspaceOption('the workspace they go to; made where there is none of the name'))
    .addOption(environmentOption('the environment they go to'))
    .addOption(new Option('--update', 'replace the fields of groups that are there and differ'))
    .addOption(new Option('--dry-run', 'change nothing, and say what would be done with each line by itself'))
    .addOption(databaseOption())
    .addOption(new Option('--json', 'print a JSON line for each line, and a last one with the counts'))
    .action((file: string, options: ImportOptions) => runImport(file, options));
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const input = await openInput(file);
  const report = new Report(options);
  const open = options.dryRun ? withExistingDatabase : withDatabase;
  await open(options, async (database, config) => {
    const importOne = await (options.dryRun ? previewer : importer)(database, config, options);
    using bar = progressBar('bytes', input.size);
    for await (const lines of linesOf(input.chunks, BATCH)) {
      const results = await Promise.all(lines.map((line) => resultOf(line, importOne))).catch((error) =>
        interrupted(error, lines[0]!),
      );
      report.add(lines, results, bar);
      bar.show(lines.at(-1)!.end);
    }
    if (!options.dryRun) await gatherStatistics(database.store);
  });
  report.end();
}

async function importer(
  { store }: CommandDatabase,
  config: Config,
  { workspace: name, environment, update = false }: ImportOptions,
): Promise<ImportOne> {
  const keyRing = await loadKeyRing(config, store);
  await registerActiveKey(keyRing, store, Date.now());
  const { workspace, created } = await ensureWorkspace(store, name, Date.now());
  if (created) console.error(`Made the workspace ${name}.`);
  const teamIds = new IdLease(store, 'team_id');
  const context = { store, keyRing, teamIds, turns: new Turns(), clock: Date.now };
  const importing = { context, workspaceId: workspace.workspaceId, environment, replaces: update };
  return (line) => importLine(importing, line);
}

async function previewer(
  { store }: CommandDatabase,
  _config: Config,
  { workspace: name, environment, update = false }: ImportOptions,
): Promise<ImportOne> {
  const workspaceId = (await findWorkspace(store, name))?.workspaceId ?? null;
  const importing = { context: { store }, workspaceId, environment, replaces: update };
  return (line) => previewLine(importing, line);
}

async function resultOf({ bytes }: Line, importOne: ImportOne): Promise<LineResult> {
  if (bytes !== null) return importOne(bytes);
  const detail = `must have at most ${limits.lineBytes} bytes`;
  return { result: 'refused', code: 'line_too_long', errors: [{ pointer: '', detail }] };
}

function interrupted(error: unknown, { number }: Line): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new StoreUnavailable(
    `${error.message}; the lines before ${number} are done: run the same import again`,
    { cause: error },
  );
}

/** The size of standard input is null. */
async function openInput(file: string): Promise<{ chunks: AsyncIterable<Buffer>; size: number | null }> {
  if (file === '-') return { chunks: process.stdin, size: null };
  try {
    const handle = await open(file);
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new UsageError(`${file} is a directory`);
    const chunks = readable(handle.createReadStream(), file);
    return { chunks, size: stat.isFile() ? stat.size : null };
  } catch (error) {
    return explainReading(error, file);
  }
}

async function* readable(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    explainReading(error, file);
  }
}

function explainReading(error: unknown, file: string): never {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new NotFound(`there is no file ${file}`);
  explainFile(error, (message) => new UsageError(`${file} cannot be read: ${message}`));
}

/** What has become of the lines: as JSON all of them, for people those that were refused. */
class Report {
  readonly #json: boolean;
  readonly #isDryRun: boolean;
  readonly #counts = { created: 0, updated: 0, unchanged: 0, refused: 0 };

  constructor({ json = false, dryRun = false }: ImportOptions) {
    this.#json = json;
    this.#isDryRun = dryRun;
  }

  add(lines: readonly Line[], results: readonly LineResult[], bar: ProgressBar): void {
    const told: string[] = [];
    for (const [index, { number }] of lines.entries()) {
      const result = results[index]!;
      this.#counts[result.result]++;
      if (this.#json) told.push(`${JSON.stringify({ line: number, ...result })}\n`);
      else if (result.result === 'refused') bar.note(redact(`line ${number}: ${wordsOf(result)}`));
    }
    // What is wrong with a line may name a key of it, and somebody may have put a token there.
    if (this.#json) process.stdout.write(redact(told.join('')));
  }

  /** Throws `LinesRefused`. */
  end(): void {
    const { created, updated, unchanged, refused } = this.#counts;
    const lines = created + updated + unchanged + refused;
    const isDryRun = this.#isDryRun;
    if (this.#json) printJson({ lines, ...this.#counts, dry_run: isDryRun });
    else {
      const counts = `${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused`;
      console.log(`${isDryRun ? 'A dry run, nothing was changed. ' : ''}${lines} lines: ${counts}.`);
    }
    if (refused > 0) {
      const what = refused === 1 ? 'line was' : 'lines were';
      throw new LinesRefused(`${refused} ${what} refused; mend them and run the same import again`);
    }
  }
}

function wordsOf({ errors }: RefusedLine): string {
  return errors
    .map(({ pointer, detail }) => `${pointer === '' ? 'the line' : pointer.slice(1)} ${detail}`)
    .join('; ');
}
