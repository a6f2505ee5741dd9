// Makes the disk fail while the service starts, on a new database and on one that a kill has left. The
// service must exit with a clear error or start anyway; in both cases no data may be lost, and the next start
// must succeed.

import { cpSync } from 'node:fs';
import { createApiToken, Folder, run, Service, serve } from '../../test/support/process.ts';
import { type Fault, failuresIn, injectionArguments, nameOf, SYNC } from '../support/injection.ts';
import { type Entry, Journal, readRounds } from '../support/journal.ts';
import { Ledger, PromiseBroken, type Round } from '../support/ledger.ts';
import { Load } from '../support/load.ts';
import { writeScript } from '../support/program.ts';
import type { Random } from '../support/random.ts';
import { reopen } from '../support/reopening.ts';
import { Workload } from '../support/workload.ts';

/** System calls of every start. */
export const START_CALLS = ['openat', 'pread64', 'pwrite64', SYNC, 'ftruncate', 'unlink'];
/** System calls that create the folder and the key file. */
export const FIRST_START_CALLS = ['mkdir', 'write', 'link'];

const ROUNDS = 60;
const DATABASE = 'data/user-groups.db';
const SUFFIXES = ['', '.lock', '-wal', '-shm', '-journal'];
/** Files used during a start, and their parent directory. */
const FILES = [
  ...['', 'data', 'data/token-keys', 'data/token-keys.$$.new'],
  ...SUFFIXES.map((suffix) => DATABASE + suffix),
];
/** Exit codes that mean that the database or the key file cannot be used. */
const CLEAR_EXITS: (number | null)[] = [69, 78];
const ONE_LINE = /^user-group-service: [^\n]+\n$/;

/** State that an earlier process has left. */
export interface ServiceState {
  folder: Folder;
  apiToken: string | null;
  rounds: readonly Round[];
}

export function emptyState(): ServiceState {
  return { folder: new Folder(), apiToken: null, rounds: [] };
}

/** Returns a database with data after a kill: its log has not been checkpointed or closed. */
export async function stateAfterKill(random: Random): Promise<ServiceState> {
  const folder = new Folder();
  using tools = new Folder();
  const { token: apiToken } = await createApiToken(folder);
  await using service = await serve(folder);
  await using journal = await Journal.create(tools.join('journal'));
  const persist = (entry: Entry) => journal.append(entry);
  const workload = new Workload({ ledger: new Ledger(), persist, apiToken, url: () => service.url });
  let left = ROUNDS;
  await new Load({ workload, random, groups: 20, callers: 4 }).run(() => left-- > 0);
  await service.kill();
  return { folder, apiToken, rounds: await readRounds(tools.join('journal')) };
}

/** Starts the service once with the fault. Returns the number of failed calls. Throws `PromiseBroken`. */
export async function startUnder(fault: Fault, state: ServiceState, random: Random): Promise<number> {
  using tools = new Folder();
  using folder = new Folder();
  cpSync(state.folder.path, folder.path, { recursive: true });
  const path = folder.join(DATABASE);
  const target = { paths: FILES.map((name) => folder.join(name)), output: tools.join('calls') };
  const strace = ['strace', '-D', '--seccomp-bpf', ...injectionArguments(target, [fault])];
  const command = writeScript(tools.join('serve'), strace);
  await using service = new Service(folder, ['serve', '--database-url', `sqlite:${path}`], { command });
  const listens = await service.says(/"url":"http/).then(
    () => true,
    () => false,
  );
  if (listens) {
    await assertExclusive(folder, path);
    service.signal('SIGTERM');
  }
  const { code, stderr } = await service.exit();
  const isClear = listens ? code === 0 : CLEAR_EXITS.includes(code) && ONE_LINE.test(stderr);
  if (!isClear)
    throw new PromiseBroken(
      `${nameOf(fault)}: the service ${listens ? 'listened, and ' : ''}exited with ${code}: ${stderr}`,
    );
  await reopen({ path, ledger: Ledger.from(state.rounds), apiToken: state.apiToken, random });
  return failuresIn(target.output);
}

/** Checks that the service holds the lock despite the fault. */
async function assertExclusive(folder: Folder, path: string): Promise<void> {
  const { code } = await run(folder, ['serve', '--database-url', `sqlite:${path}`]);
  if (code !== 75) throw new PromiseBroken(`a second process is serving the file; it exited with ${code}`);
}
