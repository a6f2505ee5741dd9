// argv -> rig -> exit code.

import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../src/commands/exit-code.ts';
import { printJson } from '../src/commands/output.ts';
import { progressBar } from '../src/commands/progress.ts';
import { postgres, sqlite } from '../test/database.ts';
import { startPostgres } from '../test/postgres/server.ts';
import { crash } from './crash.ts';
import { Random } from './random.ts';

interface RigFlags {
  seed: number;
  json?: true;
}

const program = new Command('npm run rig:')
  .description('Breaks what is under the service and holds it to its promises; see rig/README.md.')
  .addCommand(
    rig('crash', 'kills the service under load and starts it again')
      .option('--kills <kills>', 'how often', positive, 20)
      .addOption(
        new Option('--database <database>', 'what is served')
          .choices(['sqlite', 'postgres'])
          .default('sqlite'),
      )
      .action(async ({ kills, database, seed, json }: RigFlags & CrashFlags) => {
        await using _server = database === 'postgres' ? await providePostgres() : null;
        const kind = { sqlite, postgres }[database];
        const bar = progressBar('kills', kills);
        const processes = database === 'sqlite' ? 1 : 2;
        const figures = await crash({ kind, kills, processes, seed, onKill: (done) => bar.show(done) });
        bar.end();
        show({ rig: 'crash', database, processes, seed, ...figures }, json);
      }),
  );

interface CrashFlags {
  kills: number;
  database: 'sqlite' | 'postgres';
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(error);
  process.exitCode = exitCodes.failed;
}

function rig(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .option('--seed <seed>', 'repeats the choices of a run', wholeNumber, Random.newSeed())
    .option('--json', 'print the figures as JSON')
    .hook('preAction', (command) => console.error(`seed ${command.opts().seed}`));
}

/** A server of our own, unless TEST_DATABASE_URL names one. */
async function providePostgres(): Promise<AsyncDisposable | null> {
  if (process.env.TEST_DATABASE_URL) return null;
  const server = await startPostgres();
  process.env.TEST_DATABASE_URL = server.url;
  return { [Symbol.asyncDispose]: () => server.stop() };
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
