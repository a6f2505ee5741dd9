// The disk fails while the service starts: on a database that is to be made, and on one that was left by a kill. It
// ends with a clear word or starts all the same; either way nothing is lost, and the next start finds no trace.

import { cpSync } from 'node:fs';
import { createApiToken, Folder, run, Service, serve } from '../test/process.ts';
import { Conversation } from './conversation.ts';
import { type Count, countOf, type Fault, injectionArguments, nameOf, SYNC } from './injection.ts';
import { type Entry, Journal, readRounds } from './journal.ts';
import { Ledger, PromiseBroken, type Round } from './ledger.ts';
import { Load } from './load.ts';
import { writeScript } from './program.ts';
import type { Random } from './random.ts';
import { reopen } from './reopening.ts';

export const START_CALLS = [
  ...['mkdir', 'openat', 'pread64', 'write', 'pwrite64', SYNC, 'ftruncate', 'link', 'unlink'],
];

const ROUNDS = 60;
const DATABASE = 'data/user-groups.db';
const ENDS = ['', '.lock', '-wal', '-shm', '-journal'];
/** All that a start touches, and the directory above. */
const FILES = [
  ...['', 'data', 'data/token-keys', 'data/token-keys.$$.new'],
  ...ENDS.map((end) => DATABASE + end),
];
/** The database cannot be had, or the key file cannot. */
const CLEAR_EXITS: (number | null)[] = [69, 78];
const ONE_LINE = /^user-group-service: [^\n]+\n$/;

/** What an earlier life has left. */
export interface Remains {
  folder: Folder;
  apiToken: string | null;
  rounds: readonly Round[];
}

export function noRemains(): Remains {
  return { folder: new Folder(), apiToken: null, rounds: [] };
}

/** A database in the middle of its life: it was killed, so its log is neither copied back nor closed. */
export async function remainsOfKill(random: Random): Promise<Remains> {
  const folder = new Folder();
  using tools = new Folder();
  const { token: apiToken } = await createApiToken(folder);
  await using service = await serve(folder);
  await using journal = await Journal.create(tools.join('journal'));
  const remember = (entry: Entry) => journal.append(entry);
  const conversation = new Conversation({ ledger: new Ledger(), remember, apiToken, url: () => service.url });
  let left = ROUNDS;
  await new Load({ conversation, random, groups: 20, callers: 4 }).run(() => left-- > 0);
  await service.kill();
  return { folder, apiToken, rounds: await readRounds(tools.join('journal')) };
}

/** One start, in which the fault strikes. Throws `PromiseBroken`. */
export async function startUnder(fault: Fault, remains: Remains, random: Random): Promise<Count> {
  using tools = new Folder();
  using folder = new Folder();
  cpSync(remains.folder.path, folder.path, { recursive: true });
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
    await assertAlone(folder, path);
    service.signal('SIGTERM');
  }
  const { code, stderr } = await service.exit();
  const isClear = listens ? code === 0 : CLEAR_EXITS.includes(code) && ONE_LINE.test(stderr);
  if (!isClear)
    throw new PromiseBroken(
      `${nameOf(fault)}: it ${listens ? 'listened, and ' : ''}ended with ${code}: ${stderr}`,
    );
  await reopen({ path, ledger: Ledger.from(remains.rounds), apiToken: remains.apiToken, random });
  return countOf(target.output);
}

/** Whatever failed, it has the lock. */
async function assertAlone(folder: Folder, path: string): Promise<void> {
  const { code } = await run(folder, ['serve', '--database-url', `sqlite:${path}`]);
  if (code !== 75) throw new PromiseBroken(`a second process serves the file, and ends with ${code}`);
}
