import { open } from 'node:fs/promises';
import { Command, Option } from 'commander';
import type { Config } from '../config.ts';
import { type CommandDatabase, MAX_BATCH } from '../database.ts';
import { operator } from '../domain/api-token.ts';
import { limits } from '../domain/field.ts';
import { redact } from '../domain/secret.ts';
import { loadKeyRing, registerActiveKey } from '../key-ring-source.ts';
import { createContext } from '../operations/context.ts';
import { gatherStatistics } from '../operations/database/gather-statistics.ts';
import { atCurrentConfig } from '../operations/document/environment-config.ts';
import type { LineResult, RefusedLine } from '../operations/user-group/import.ts';
import { ensureWorkspace, findWorkspace } from '../operations/workspace/workspace.ts';
import { StoreUnavailable } from '../store/port.ts';
import {
  type DatabaseOptions,
  databaseOption,
  withDatabase,
  withExistingDatabase,
} from './database-option.ts';
import { LinesRefused, NotFound, UsageError } from './exit-code.ts';
import { explainFileError } from './explain-file-error.ts';
import { type Line, linesOf } from './ndjson.ts';
import { printJson } from './output.ts';
import { type ProgressBar, progressBar } from './progress.ts';
import {
  createWorkspaceOption,
  environmentOption,
  type NewWorkspaceOptions,
  refuseUnknownWorkspace,
  workspaceOption,
} from './workspace-option.ts';

type ImportOptions = DatabaseOptions & NewWorkspaceOptions & { update?: boolean; dryRun?: boolean };

type ImportOne = (line: Buffer) => Promise<LineResult>;
type StartBatch = () => Promise<ImportOne>;

/** Limits the lines that are in memory at a time. */
const BATCH = { lineBytes: limits.lineBytes, maxLines: MAX_BATCH, maxBytes: 1024 * 1024 };

export function importCommand(): Command {
  return new Command('import')
    .summary('import user groups, with their existing tokens, from another system')
    .description(
      'Creates user groups from a file of JSON lines, one object per line: user_group_id, name and, optionally, mapping, ' +
        'properties and token, under the rules of the API. An existing token of 16 to 200 visible ASCII characters is kept, ' +
        'so that dashboards embedded with it keep working; a group without a token gets a new one.' +
        '\n\nA group that already exists is not changed: a line with the same content counts as unchanged, and a line that ' +
        'differs is refused, unless --update is set, which replaces the fields that the line contains. An import never ' +
        'replaces a token and never assigns a token to a second group. Refused lines are reported with their line numbers; ' +
        'all other lines are imported.' +
        '\n\nImport can run while the service is running. If it is interrupted, run it again: lines already imported count ' +
        'as unchanged. The exit code is 65 if lines were refused.',
    )
    .argument('<file>', 'file to import, or - for standard input')
    .addOption(workspaceOption('workspace to import into; created if it is the first of the installation'))
    .addOption(createWorkspaceOption())
    .addOption(environmentOption('environment to import into'))
    .addOption(new Option('--update', 'replace the fields of existing groups that differ'))
    .addOption(
      new Option('--dry-run', 'report what would happen to each line, taken separately, and change nothing'),
    )
    .addOption(databaseOption())
    .addOption(new Option('--json', 'print a JSON line for each line, and a final one with the counts'))
    .action((file: string, options: ImportOptions) => runImport(file, options));
}

async function runImport(file: string, options: ImportOptions): Promise<void> {
  const input = await openInput(file);
  const report = new Report(options);
  const open = options.dryRun ? withExistingDatabase : withDatabase;
  await open(options, async (database, config) => {
    await refuseUnknownWorkspace(database.store, options);
    const startBatch = await (options.dryRun ? previewer : importer)(database, config, options);
    using bar = progressBar('bytes', input.size);
    for await (const lines of linesOf(input.chunks, BATCH)) {
      const results = await startBatch()
        .then((importOne) => Promise.all(lines.map((line) => resultOf(line, importOne))))
        .catch((error) => explainInterruption(error, lines[0]!));
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
): Promise<StartBatch> {
  const keyRing = await loadKeyRing(config, store);
  await registerActiveKey(keyRing, store, Date.now());
  const { workspace, created } = await ensureWorkspace(store, name, Date.now());
  if (created) console.error(`Created workspace ${name}.`);
  const context = createContext({
    store,
    keyRing,
    keepsEvents: config.eventRetentionDays > 0,
    via: 'command_line',
  });
  const caller = operator(workspace.workspaceId, environment);
  // Imported on demand: compiling its validators takes as long as starting any other command.
  const { importLine } = await import('../operations/user-group/import.ts');
  return async () => {
    const job = { context, caller: await atCurrentConfig(store, caller), replaces: update };
    return (line) => importLine(job, line);
  };
}

async function previewer(
  { store }: CommandDatabase,
  _config: Config,
  { workspace: name, environment, update = false }: ImportOptions,
): Promise<StartBatch> {
  const workspaceId = (await findWorkspace(store, name))?.workspaceId ?? null;
  const job = { context: { store }, workspaceId, environment, replaces: update };
  const { previewLine } = await import('../operations/user-group/import.ts');
  return async () => (line) => previewLine(job, line);
}

async function resultOf({ bytes }: Line, importOne: ImportOne): Promise<LineResult> {
  if (bytes !== null) return importOne(bytes);
  const detail = `must be at most ${limits.lineBytes} bytes long`;
  return { result: 'refused', code: 'line_too_long', errors: [{ pointer: '', detail }] };
}

function explainInterruption(error: unknown, { number }: Line): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new StoreUnavailable(
    `${error.message}; the lines before ${number} are imported: run the same import again to continue`,
    { cause: error },
  );
}

/** `size` is null if it is unknown, as for standard input. */
async function openInput(file: string): Promise<{ chunks: AsyncIterable<Buffer>; size: number | null }> {
  if (file === '-') return { chunks: process.stdin, size: null };
  try {
    const handle = await open(file);
    const stat = await handle.stat();
    if (stat.isDirectory()) throw new UsageError(`${file} is a directory`);
    const chunks = readChunks(handle.createReadStream(), file);
    return { chunks, size: stat.isFile() ? stat.size : null };
  } catch (error) {
    return explainReadError(error, file);
  }
}

async function* readChunks(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    explainReadError(error, file);
  }
}

function explainReadError(error: unknown, file: string): never {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new NotFound(`file ${file} does not exist`);
  explainFileError(error, (message) => new UsageError(`cannot read ${file}: ${message}`));
}

/** Prints the results: with --json those of all lines, otherwise the refused lines. */
class Report {
  readonly #json: boolean;
  readonly #isDryRun: boolean;
  readonly #counts = { created: 0, updated: 0, unchanged: 0, refused: 0 };

  constructor({ json = false, dryRun = false }: ImportOptions) {
    this.#json = json;
    this.#isDryRun = dryRun;
  }

  add(lines: readonly Line[], results: readonly LineResult[], bar: ProgressBar): void {
    const output: string[] = [];
    for (const [index, { number }] of lines.entries()) {
      const result = results[index]!;
      this.#counts[result.result]++;
      if (this.#json) output.push(`${JSON.stringify({ line: number, ...result })}\n`);
      else if (result.result === 'refused') bar.note(redact(`line ${number}: ${formatErrors(result)}`));
    }
    // An error may quote a key of the line, and that may be a misplaced token.
    if (this.#json) process.stdout.write(redact(output.join('')));
  }

  /** Prints the counts. Throws `LinesRefused` if lines were refused. */
  end(): void {
    const { created, updated, unchanged, refused } = this.#counts;
    const lines = created + updated + unchanged + refused;
    const isDryRun = this.#isDryRun;
    if (this.#json) printJson({ lines, ...this.#counts, dry_run: isDryRun });
    else {
      const counts = `${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused`;
      console.log(`${isDryRun ? 'Dry run, nothing was changed. ' : ''}${lines} lines: ${counts}.`);
    }
    if (refused > 0) {
      const what = refused === 1 ? 'line was' : 'lines were';
      throw new LinesRefused(`${refused} ${what} refused; correct them and run the same import again`);
    }
  }
}

function formatErrors({ errors }: RefusedLine): string {
  return errors
    .map(({ pointer, detail }) => `${pointer === '' ? 'the line' : pointer.slice(1)} ${detail}`)
    .join('; ');
}
